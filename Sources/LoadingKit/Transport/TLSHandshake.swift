/// Carries a TLS handshake through. Confined to the socket's loop.
final class TLSHandshake: EventSource {
    enum Outcome {
        case success(TLSSession)
        case failure(TransportError.Cause)
    }

    private let socket: Socket
    private let session: TLSSession
    private var completion: ((Outcome) -> Void)?

    init(_ session: TLSSession, over socket: Socket, completion: @escaping (Outcome) -> Void) {
        self.session = session
        self.socket = socket
        self.completion = completion
    }

    /// Begins; `completion` may be called at once, and never after `cancel()`.
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
        guard !socket.isWritable || session.flush() else { return }
        proceed()
    }

    private func proceed() {
        switch session.handshake() {
        case .done: end(.success(session))
        case .wouldBlock: break
        case .failed(let cause):
            socket.close()
            end(.failure(cause))
        }
    }

    private func end(_ outcome: Outcome) {
        guard let completion else { return }
        self.completion = nil
        completion(outcome)
    }
}
