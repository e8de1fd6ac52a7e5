import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitTransport

/// A connection to the server's machine: the control connection, or that of a transfer's data.
enum FTPLink {
    /// There has been none.
    case none
    /// It is made, or TLS is put on it.
    case making(any PendingConnection)
    /// TLS is to be put on it when it is used.
    case connected(ByteStream)
    case open(ByteStream)
    /// With the reason where none could be made.
    case closed((any Error)?)

    /// What can be used; nil where there is nothing, or not yet.
    var stream: ByteStream? { if case .open(let stream) = self { stream } else { nil } }

    mutating func close() {
        switch self {
        case .none, .closed: return
        case .making(let pending): pending.cancel()
        case .connected(let stream), .open(let stream): stream.close()
        }
        self = .closed(nil)
    }
}

/// The data connection goes to the machine that the control connection goes to, whatever address the server names: a server, or
/// who speaks in its place, cannot make the client connect to others.
extension FTPConnection {
    typealias Completion = (Result<ByteStream, any Error>) -> Void

    /// Makes a connection to a port of the server.
    func makeStream(
        to port: UInt16, _ tls: TLSDemand? = nil, limit: UInt64?, _ completion: @escaping Completion
    ) throws -> any PendingConnection {
        // The machine that the control connection goes to, once there is one. A proxy looks for it itself.
        let host = key.proxy == nil ? control.stream?.info.remote.address : nil
        return try ProxyTunnel.connect(
            to: host ?? key.server.host, port: port, through: key.proxy, NSURLProtectionSpaceFTPProxy, over: key.use,
            tls: tls, session.connector, session.settings, asking: self, limit: limit,
            requester: { [weak self] in self?.load?.tunnelRequester }, completion: completion)
    }

    func openData(_ port: UInt16) {
        attempt { data = .making(try makeStream(to: port, limit: nil) { [weak self] in self?.dataDidConnect($0) }) }
    }

    private func dataDidConnect(_ result: Result<ByteStream, any Error>) {
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
        guard let tls else { return dataDidOpen(.success(stream)) }
        data = .making(secure(stream, tls) { [weak self] in self?.dataDidOpen($0) })
    }

    private func dataDidOpen(_ result: Result<ByteStream, any Error>) {
        switch result {
        case .success(let stream):
            data = .open(stream)
            stream.handler = self
            load?.noteActivity()
            load?.moveData()
        case .failure(let error):
            data = .closed(nil)
            load?.fail(error)
        }
    }

    /// Whether the server may yet say more of a transfer that has failed: some say on the control connection, too,
    /// that TLS of the data connection came to nothing. The next command would take that for its answer.
    var mayHearMore: Bool { if case .none = data { false } else { tls != nil } }

    /// That no data connection came about is said by the server's refusal, or by the reason for which none could be made.
    func failure(of refusal: FTPRefusal) -> any Error {
        let failure = LoadFailure(refusal)
        guard case .closed(let reason?) = data, failure.code == .cannotConnectToHost else { return failure }
        return reason
    }
}

/// The load that a control connection is made for puts the questions of its TLS handshake, and of those with its proxy, to the
/// program. Its data connections belong to it: what is decided about one holds for all.
extension FTPConnection: TLSAsker {
    /// The endpoint is always the control connection's, whose TLS session is resumed.
    func secure(
        _ stream: ByteStream, _ tls: TLSDemand, _ completion: @escaping Completion
    ) -> any PendingConnection {
        session.connector.secure(
            stream, endpoint: .tcp(host: key.server.host, port: key.server.port), tls: tls,
            timeout: session.settings.connectTimeout
        ) { completion($0.mapError { $0 as any Error }) }
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision) {
        guard let receiver = load?.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
        question = challenge
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, question === challenge else { return }
            question = nil
            answer(disposition, credential)
        }
    }
}
