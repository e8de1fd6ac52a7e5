import Foundation

/// A forwarded load's response goes to the receiver as it comes.
extension CustomLoad {
    /// A redirect is put to the receiver first.
    func pass(_ response: PassedResponse, to receiver: any LoadReceiver) {
        guard let redirection = response.redirection else { return passNow(response) }
        isBlocked = true
        receiver.redirect(to: redirection.request, refusal: redirection.refusal, response: response.head) {
            [weak self] follows in
            if follows { return response.load.stop() }
            self?.passNow(response)
        }
    }

    private func passNow(_ response: PassedResponse) {
        guard let receiver else { return }
        passed = response
        isBlocked = receiver.receive(response.head) == .wait
        if passed === response { response.load.pass(response) }
    }

    /// Hands something of the forwarded load to the receiver.
    @discardableResult
    func pass(_ body: (any LoadReceiver) -> Flow) -> Flow {
        guard let receiver else { return .wait }
        let flow = body(receiver)
        isBlocked = flow == .wait
        return flow
    }

    func passedBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { receiver?.bodyBuffer(atMost: count) }

    /// The handler's own events come now.
    func passingDidEnd(_ response: PassedResponse) {
        guard passed === response else { return }
        passed = nil
        drain()
    }
}
