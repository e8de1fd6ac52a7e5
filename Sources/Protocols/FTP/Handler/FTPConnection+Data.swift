import LoadingKitCore
import LoadingKitFTP
import LoadingKitTransport

/// The data connection of a transfer.
///
/// It goes to the machine that the control connection goes to, whatever address the server names: a server, or who speaks in
/// its place, cannot make the client connect to others.
extension FTPConnection {
    enum DataState {
        /// The transfer has had none.
        case none
        case connecting(any PendingConnection)
        /// Without TLS, or before it.
        case connected(ByteStream)
        case securing((any PendingConnection)?)
        /// Bytes of the file can be sent.
        case ready(ByteStream)
        /// With the reason where none could be made.
        case closed((any Error)?)
    }

    /// The stream on which bytes of the file can be sent; nil where there is none, or not yet.
    var dataStream: ByteStream? { if case .ready(let stream) = data { stream } else { nil } }

    /// Whether the server may yet say more of a transfer that has failed: some say on the control connection, too,
    /// that TLS of the data connection came to nothing. The next command would take that for its answer.
    var mayHearMore: Bool {
        if case .none = data { false } else { key.server.security != .none }
    }

    func openData(_ port: UInt16) {
        data = .connecting(makeStream(to: port, limit: nil) { [weak self] in self?.dataDidConnect($0) })
    }

    private func dataDidConnect(_ result: Result<ByteStream, any Error>) {
        guard case .connecting = data else { return }
        switch result {
        case .success(let stream):
            data = .connected(stream)
            run { $0.dataDidOpen() }
        case .failure(let error):
            data = .closed(error)
            run { $0.dataDidFail() }
        }
    }

    /// The server knows by now what the connection is for, and begins TLS on it, if there is to be TLS.
    func secureData() {
        guard case .connected(let stream) = data else { return }
        guard key.server.security != .none else { return dataDidBecomeReady(stream) }
        let pending = secure(stream) { [weak self] result in
            guard let self, case .securing = data else { return }
            switch result {
            case .success(let stream): dataDidBecomeReady(stream)
            case .failure(let error):
                data = .closed(nil)
                load?.fail(error)
            }
        }
        data = .securing(pending)
    }

    private func dataDidBecomeReady(_ stream: ByteStream) {
        data = .ready(stream)
        stream.handler = self
        load?.noteActivity()
        load?.moveData()
    }

    func closeData() {
        switch data {
        case .none, .closed: return
        case .connecting(let pending): pending.cancel()
        case .securing(let pending): pending?.cancel()
        case .connected(let stream), .ready(let stream): stream.close()
        }
        data = .closed(nil)
    }

    /// That no data connection came about is said by the server's refusal, or by the reason for which none could be made.
    func failure(of refusal: FTPRefusal) -> any Error {
        let failure = LoadFailure(refusal)
        guard case .closed(let reason?) = data, failure.code == .cannotConnectToHost else { return failure }
        return reason
    }
}
