/// Performs a TLS handshake. Confined to the socket's loop.
final class TLSHandshake: EventSource {
    typealias Outcome = Result<TLSSession, TransportError.Cause>

    private let socket: Socket
    private let session: TLSSession
    private var completion: ((Outcome) -> Void)?
    /// Whether the handshake waits for the decider's answer.
    private(set) var isAwaitingDecision = false {
        didSet { if isAwaitingDecision != oldValue { awaitingDecisionDidChange?(isAwaitingDecision) } }
    }
    /// Called when the handshake begins or ends waiting for an answer.
    var awaitingDecisionDidChange: ((Bool) -> Void)?

    init(_ session: TLSSession, over socket: Socket, completion: @escaping (Outcome) -> Void) {
        self.session = session
        self.socket = socket
        self.completion = completion
    }

    /// Begins. `completion` may be called at once, and is never called after `cancel()`.
    func start() {
        if let failure = socket.watch(by: self) { end(.failure(TransportError.Cause(failure))) } else { proceed() }
    }

    func cancel() {
        completion = nil
        socket.close()
    }

    func handle(events: UInt32) {
        guard completion != nil else { return }
        socket.note(events)
        guard !isAwaitingDecision else { return noteWhileAwaitingDecision(events) }
        guard !socket.isWritable || session.flush() else { return }
        proceed()
    }

    private func proceed() {
        switch session.handshake() {
        case .done:
            if let failure = session.didEstablish() {
                socket.close()
                end(.failure(failure))
            } else {
                end(.success(session))
            }
        case .wouldBlock: break
        case .needsTrustDecision(let trust):
            awaitDecision {
                session.ask(trust, $0)
            } then: { [session] in
                session.decide($0)
            }
        case .needsIdentity(let authorities):
            awaitDecision {
                session.askForIdentity(authorities, $0)
            } then: { [session] in
                session.decide($0)
            }
        case .failed(let cause):
            socket.close()
            end(.failure(cause))
        }
    }

    /// Waits for the first answer, which may arrive during the call.
    private func awaitDecision<Answer>(
        _ question: (@escaping (Answer) -> Void) -> Void, then decide: @escaping (Answer) -> Void
    ) {
        isAwaitingDecision = true
        var isAnswered = false
        question { [weak self] answer in
            guard let self, completion != nil, !isAnswered else { return }
            isAnswered = true
            isAwaitingDecision = false
            decide(answer)
            proceed()
        }
    }

    private func noteWhileAwaitingDecision(_ events: UInt32) {
        guard Socket.meansHangUp(events) else { return }
        socket.close()
        end(.failure(.handshakeClosed("the peer closed the connection while the program decided about the handshake")))
    }

    private func end(_ outcome: Outcome) {
        guard let completion else { return }
        self.completion = nil
        completion(outcome)
    }
}
