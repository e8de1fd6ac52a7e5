import Foundation

/// Forwards requests to the handlers after this one, and passes a forwarded load's response to the receiver as it arrives.
extension HandlerLoad: ForwardingLoad {
    func makeLoad(_ request: URLRequest) throws -> (any LoopHandler)? {
        guard let resources else { return nil }
        return try resources.core.makeLoad(
            request, task: resources.task, isOwnRequest: false, from: resources.next)
    }

    var session: (any SessionChallengeAnswerer)? { resources?.task.session }

    /// The receiver waits for a connection while all forwarded loads do. It is told nothing during this load's end, as
    /// another load may take this one's place.
    func forwardedQueueStateDidChange() {
        let isQueued = !forwarded.isEmpty && forwarded.allSatisfy(\.isQueued)
        guard isQueued != isInQueue, ending == nil else { return }
        isInQueue = isQueued
        receiver?.queueStateDidChange(isQueued: isQueued)
    }

    var currentURL: URL? { resources?.task.currentRequest?.url }

    /// Passes a response to the receiver. For a redirect the receiver decides first.
    func pass(_ response: PassedResponse, to receiver: any LoadReceiver) {
        guard let redirection = response.redirection else { return passNow(response) }
        isBlocked = true
        receiver.redirect(to: redirection.request, refusal: redirection.refusal, response: response.head) {
            [weak self] follows in
            if follows { return response.load.stop() }
            // Where the receiver has the head, it is not given again, and nothing else would end the wait.
            self?.isBlocked = false
            self?.passNow(response)
        }
    }

    private func passNow(_ response: PassedResponse) {
        guard let receiver else { return }
        passed = response
        // The handler may have given the head, and a part of the body, by itself.
        if lastHead !== response.head { isBlocked = receiver.receive(response.head) == .wait }
        if passed === response { response.load.pass(response) }
    }

    @discardableResult
    func pass(_ body: (any LoadReceiver) -> Flow) -> Flow {
        guard let receiver else { return .wait }
        let flow = body(receiver)
        isBlocked = flow == .wait
        return flow
    }

    /// The forwarded response has ended: the handler's own events follow.
    func passingDidEnd(_ response: PassedResponse) {
        guard passed === response else { return }
        passed = nil
        drain()
    }
}
