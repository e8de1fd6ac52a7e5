import Foundation

/// A load whose request, response and redirects pass through one or more adapters.
///
/// It runs the load of the adapted request, and stands between this load and its receiver. Everything but the heads
/// passes through unchanged.
final class AdaptedLoad: LoopHandler, @unchecked Sendable {  // confined to the session's event loop
    /// An adapter, and the request that it was given.
    struct Step {
        let adapter: any LoadAdapter
        let request: URLRequest
    }

    private enum State {
        case new
        case loading(any LoadReceiver)
        case over
    }

    /// The innermost step first.
    private var steps: [Step]
    private let inner: any LoopHandler
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private var state = State.new
    /// The redirects about which the receiver decides, as the inner load and as the receiver know them.
    @exclusivity(unchecked) private var redirects: [(response: URLResponse, head: URLResponse)] = []
    /// The head of a redirect that the receiver is declining. It is then the response, unless an interceptor gives another
    /// one later.
    @exclusivity(unchecked) private var declined: URLResponse?

    private init(_ step: Step, _ inner: any LoopHandler) {
        steps = [step]
        self.inner = inner
    }

    /// - Parameter load: the load of the request that the step's adapter returned; it has not started.
    static func make(_ step: Step, around load: any LoopHandler) -> AdaptedLoad {
        guard let adapted = load as? AdaptedLoad else { return AdaptedLoad(step, load) }
        adapted.steps.append(step)
        return adapted
    }

    // MARK: From the receiver

    func begin(_ receiver: any LoadReceiver) {
        state = .loading(receiver)
        inner.begin(self)
    }

    func end() {
        guard receiver != nil else { return }
        // Stopped while there is a receiver, so that the load is part of the task's metrics.
        inner.end()
        state = .over
    }

    func receiverDidBlock() { if receiver != nil { inner.receiverDidBlock() } }

    func receiverDidBecomeReady() { if receiver != nil { inner.receiverDidBecomeReady() } }

    var stall: String? { inner.stall }

    func answerAtDeadline() -> Bool { receiver != nil && inner.answerAtDeadline() }

    func takeConnection() throws -> TakenConnection? { receiver == nil ? nil : try inner.takeConnection() }

    // MARK: Events that adapters change

    var receiver: (any LoadReceiver)? {
        if case .loading(let receiver) = state { receiver } else { nil }
    }

    private func adapted(_ response: URLResponse) throws -> URLResponse {
        try steps.reduce(response) { try $1.adapter.adapt($0, to: $1.request) }
    }

    /// An error thrown by an adapter ends the load.
    private func fail(ofAdapter error: any Error) {
        guard let receiver else { return }
        end()
        receiver.fail(HandlerError(error: error))
    }
}

extension AdaptedLoad: ForwardingReceiver {
    func receive(_ response: URLResponse) -> Flow {
        guard let receiver else { return .wait }
        do {
            return receiver.receive(try declined.take() ?? adapted(response))
        } catch {
            fail(ofAdapter: error)
            return .wait
        }
    }

    /// Where a server may not redirect to its own target, it may not redirect to the target that adapters make of it.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        guard let receiver else { return }
        do {
            let target = try steps.reduce(request) {
                try $1.adapter.adapt(redirection: $0, of: $1.request)
            }
            let head = try adapted(response)
            redirects.append((response, head))
            receiver.redirect(to: target, refusal: refusal, response: head) { [weak self] follows in
                self?.redirects.removeAll { $0.response === response }
                self?.declined = follows ? nil : head
                decide(follows)
                self?.declined = nil
            }
        } catch {
            fail(ofAdapter: error)
        }
    }

    func withdraw(_ question: AnyObject) {
        let place = redirects.firstIndex { $0.response === question }
        let known: AnyObject = if let place { redirects.remove(at: place).head } else { question }
        receiver?.withdraw(known)
    }

    func finish() { receiver?.finish() }

    func fail(_ error: any Error) { receiver?.fail(error) }
}
