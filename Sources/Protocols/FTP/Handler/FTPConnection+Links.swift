import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitTransport

/// The state of a connection to the server's host: the control connection, or the data connection of a transfer.
enum FTPLink {
    /// No connection has been made.
    case none
    /// The connection is being made, or its TLS handshake is in progress.
    case making(any PendingConnection)
    /// The connection is made. Its TLS handshake follows when it is used.
    case connected(ByteStream)
    case open(ByteStream)
    /// The connection is closed. The error is the reason if it could not be made.
    case closed((any Error)?)

    /// The stream that can be used; nil if there is none yet, or no more.
    var stream: ByteStream? { if case .open(let stream) = self { stream } else { nil } }

    /// - Parameter resets: whether the server must not take the connection's end for that of a file.
    mutating func close(resets: Bool = false) {
        switch self {
        case .none, .closed: return
        case .making(let pending): pending.cancel()
        case .connected(let stream), .open(let stream): resets ? stream.abort() : stream.close()
        }
        self = .closed(nil)
    }

    /// Closes an open connection as soon as the server has all bytes and has ended its side, if that happens in time.
    mutating func closeWhenSent() {
        guard case .open(let stream) = self else { return }
        stream.closeWhenSent()
        self = .closed(nil)
    }
}

/// Makes connections to the server's host. The data connection goes to the host of the control connection, and the
/// address in the server's reply is ignored. Otherwise a server, or an attacker in its place, could make the client
/// connect to other hosts.
extension FTPConnection {
    typealias Completion = (Result<ByteStream, any Error>) -> Void

    /// Makes a connection to a port of the server.
    func makeStream(
        to port: UInt16, _ tls: TLSDemand? = nil, in time: ConnectTime, _ completion: @escaping Completion
    ) throws -> any PendingConnection {
        // The control connection's remote address, once it is connected. A proxy resolves the host itself.
        let host = key.proxy == nil ? control.stream?.info.remote.address : nil
        return try ProxyTunnel.connect(
            to: host ?? key.server.host, port: port, through: key.proxy, NSURLProtectionSpaceFTPProxy, over: key.use,
            tls: tls, session.connector, session.settings, asking: self, time: time,
            requester: { [weak self] in self?.load?.tunnelRequester }, completion: completion)
    }

    /// The load's time for each step of connecting, in nanoseconds; nil for no limit.
    private var connectTimeout: UInt64? {
        load.map { session.settings.connectTimeout(of: $0.urlRequest) } ?? session.settings.connectTimeout
    }

    func openData(_ port: UInt16) {
        attempt {
            let time = ConnectTime(connectTimeout, ofRoute: nil)
            data = .making(try makeStream(to: port, in: time) { [weak self] in self?.dataDidConnect($0) })
        }
    }

    private func dataDidConnect(_ result: Result<ByteStream, any Error>) {
        switch result {
        case .success(let stream):
            data = .connected(stream)
            run { $0.dataDidOpen() }
        case .failure(let error):
            if case .making(let pending) = data { load?.note(.connectionFailed, connection: pending.number) }
            data = .closed(error)
            run { $0.dataDidFail() }
        }
    }

    /// Starts TLS on the data connection, if the control connection uses TLS. The server has the transfer's command,
    /// and therefore begins its handshake.
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
            if case .making(let pending) = data { load?.note(.connectionFailed, connection: pending.number) }
            data = .closed(nil)
            load?.fail(error)
        }
    }

    /// Whether the server may send another reply about a transfer that has failed. Some servers also report on the
    /// control connection that the data connection's TLS handshake failed. This reply would be taken for that of the
    /// next command.
    var mayHearMore: Bool { if case .none = data { false } else { tls != nil } }

    /// The error of a refusal. If the data connection could not be made, this is the connection's own error.
    func failure(of refusal: FTPRefusal) -> any Error {
        let failure = LoadFailure(refusal)
        guard case .closed(let reason?) = data, failure.code == .cannotConnectToHost else { return failure }
        return reason
    }
}

/// The load for which a control connection is made forwards the challenges of its TLS handshake, and of its proxy, to
/// the program. Decisions about the control connection also apply to the load's data connections.
extension FTPConnection: TLSAsker {
    /// Performs a TLS handshake. The endpoint is always that of the control connection, whose TLS session is resumed.
    func secure(
        _ stream: ByteStream, _ tls: TLSDemand, _ completion: @escaping Completion
    ) -> any PendingConnection {
        session.connector.secure(
            stream, endpoint: .tcp(host: key.server.host, port: key.server.port), tls: tls,
            timeout: connectTimeout
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

extension FTPConnection {
    /// The control connection, to which the data connections belong; nil where there is none.
    var state: ConnectionState? {
        switch control {
        case .none, .closed: return nil
        case .making(let pending): return ConnectionState(opening: pending.number)
        case .connected(let stream), .open(let stream):
            var state = ConnectionState(stream.info, .ftp, load == nil ? .idle : .active)
            state.requestCount = requestCount
            return state
        }
    }
}
