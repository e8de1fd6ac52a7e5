import Foundation
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

/// How the links are made.
///
/// The data connection goes to the machine that the control connection goes to, whatever address the server names: a server, or
/// who speaks in its place, cannot make the client connect to others.
extension FTPConnection {
    typealias Completion = (Result<ByteStream, any Error>) -> Void

    // MARK: Control

    /// - Parameter limit: nanoseconds, where there is another way to the server; else the settings' own.
    func connect(limit: UInt64?) {
        attempt {
            if key.server.security != .none { tls = try makeTLS() }
            let first = key.server.security == .implicit ? tls : nil
            control = .making(
                try makeStream(to: key.server.port, limit: limit) { [weak self] in
                    self?.controlDidConnect($0, securing: first)
                })
        }
    }

    func startTLS(_ stream: ByteStream, _ tls: TLSDemand) {
        control = .making(secure(stream, tls) { [weak self] in self?.controlDidConnect($0, securing: nil) })
    }

    private func controlDidConnect(_ result: Result<ByteStream, any Error>, securing tls: TLSDemand?) {
        switch result {
        case .success(let stream):
            if let tls { return startTLS(stream, tls) }
            session.proxies.proxyDidConnect(key.proxy)
            didOpen(stream)
        case .failure(let error):
            if case .making(let attempt as ConnectAttempt) = control, load?.timings.connection == nil {
                load?.timings.connection = ConnectionMetrics(failed: attempt.timingsSoFar)
            }
            fail(error)
        }
    }

    /// Makes a connection to a port of the server.
    private func makeStream(
        to port: UInt16, limit: UInt64?, _ completion: @escaping Completion
    ) throws -> any PendingConnection {
        // The machine that the control connection goes to, once there is one. A proxy looks for it itself.
        let host = key.proxy == nil ? control.stream?.info.remote.address : nil
        return try ProxyTunnel.connect(
            to: host ?? key.server.host, port: port, through: key.proxy, NSURLProtectionSpaceFTPProxy, over: key.use,
            session.connector, session.settings, asking: self, limit: limit,
            requester: { [weak self] in self?.load?.tunnelRequester }, completion: completion)
    }

    // MARK: Data

    func openData(_ port: UInt16) {
        do {
            data = .making(try makeStream(to: port, limit: nil) { [weak self] in self?.dataDidConnect($0) })
        } catch {
            dataDidConnect(.failure(error))
        }
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
        guard let tls else { return dataDidBecomeReady(stream) }
        data = .making(
            secure(stream, tls) { [weak self] result in
                switch result {
                case .success(let stream): self?.dataDidBecomeReady(stream)
                case .failure(let error):
                    self?.data = .closed(nil)
                    self?.load?.fail(error)
                }
            })
    }

    private func dataDidBecomeReady(_ stream: ByteStream) {
        data = .open(stream)
        stream.handler = self
        load?.noteActivity()
        load?.moveData()
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
    private func makeTLS() throws(TransportError) -> TLSDemand {
        let server = key.server
        let challenger = TLSChallenger(
            TLSSite(server.host, Int(server.port)), session.settings.credentialStorage, family: TLSFamily(),
            asking: self)
        return TLSDemand(try session.tlsContext(for: server.host), server.host, asking: challenger)
    }

    /// The endpoint is always the control connection's, whose TLS session is resumed.
    private func secure(
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
