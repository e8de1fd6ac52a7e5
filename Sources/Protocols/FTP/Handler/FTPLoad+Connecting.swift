import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitProxies

/// How the load comes by a control connection that its user is logged in on.
extension FTPLoad {
    func findWays(to server: FTPServer) throws(LoadFailure) {
        state = .waiting
        let target = ProxyTarget(.ftp, host: server.host, port: server.port)
        let known = try session.proxies.findWays(to: target, for: number) { [weak self] in self?.didFindWays($0) }
        guard let known else { return }
        ways = ProxyWays(known)
        connect()
    }

    private func didFindWays(_ result: Result<[Proxy?], any Error>) {
        guard case .waiting = state, ways == nil else { return }
        switch result {
        case .success(let found):
            ways = ProxyWays(found)
            connect()
        case .failure(let error): fail(error)
        }
    }

    /// How long making the control connection may take where there is another way, in nanoseconds.
    var wayLimit: UInt64? { ways?.limit(of: session.settings.connectTimeout) }

    var tunnelRequester: TunnelRequester? { receiver.map { TunnelRequester(urlRequest, resources, $0) } }

    private func connect(needsFresh: Bool = false) {
        guard let request, let ways else { return }
        state = .waiting
        // The task's own delegate decides about TLS, and answers the proxy.
        let isDecided = request.server.security != .none || ways.current != nil
        let key = FTPConnectionKey(
            server: request.server, user: login.user, password: login.password,
            proxy: ways.current, use: session.networks(for: urlRequest),
            decider: isDecided ? receiver?.challengeDelegate.map { ObjectIdentifier($0) } : nil)
        self.needsFresh = needsFresh
        session.connect(self, key, needsFresh: needsFresh)
    }

    func didBeginWaiting() { receiver?.queueStateDidChange(isQueued: true) }

    func waitDidEnd() {
        guard case .waiting = state else { return }
        receiver?.queueStateDidChange(isQueued: false)
        connect(needsFresh: needsFresh)
    }

    func use(_ connection: FTPConnection, isReused: Bool) {
        state = .connected(connection)
        connection.load = self
        isOpen = isReused
        self.isReused = isReused
        // A connection that is being made begins with the greeting.
        if isReused { transferWillBegin(on: connection) }
    }

    func connectionDidOpen() {
        isOpen = true
        if let proxy = ways?.current { session.proxies.proxyDidConnect(proxy) }
        receiver?.noteActivity()
    }

    func connectionDidSend(_ command: FTPCommand) {
        timings.requestHeaderBytesSent += Int64(command.bytes.count)
        receiver?.noteActivity()
        switch command.name {
        case "RETR", "STOR", "APPE", "MLSD", "LIST": data?.commandWasSent()
        case _: break
        }
    }

    /// The server ended the connection, with a reply.
    func connectionDidRefuse(_ refusal: FTPRefusal) { connectionDidEnd(LoadFailure(refusal)) }

    func connectionDidFail(_ error: any Error) { connectionDidEnd(error) }

    private func connectionDidEnd(_ error: any Error) {
        guard case .connected = state else { return }
        // The server has given up a connection that nothing was asked on for a while (RFC 959 §4.2.2, 421).
        if isReused, beginning == nil, response == nil {
            stopTransfer()
            return connect(needsFresh: true)
        }
        guard !isOpen else { return fail(error) }
        if let proxy = ways?.current, (error as? ProxyError)?.isWorthAvoiding == true {
            session.proxies.proxyDidFail(proxy)
        }
        if ways?.takeNext(after: error) == true { return connect(needsFresh: needsFresh) }
        fail(ways?.failure(error) ?? error)
    }

    // MARK: What the machine wants

    func perform(_ action: FTPClientStateMachine.Action, on connection: FTPConnection) {
        guard self.connection === connection else { return }
        switch action {
        case .logIn(let refusal?): loginDidFail(refusal)
        case .logIn(nil): connection.logIn(login.user, login.password)
        case .givePassword: loginDidFail(nil)
        case .ready:
            if let credential = login.credentialOfProgram, let server {
                session.serverDidAccept(credential, server, for: resources.task)
            }
            transferWillBegin(on: connection)
        case .report(let facts): fileIsKnown(facts, connection)
        case .openData(let port):
            let data = FTPDataChannel(connection, for: self)
            self.data = data
            data.open(port: port)
        case .begin(let beginning): transferDidBegin(beginning)
        case .finish(let facts): transferDidFinish(facts, connection)
        case .fail(let refusal): transferDidFail(refusal)
        case .wait, .send, .startTLS, .close: break
        }
    }

    func release(_ connection: FTPConnection) {
        state = .waiting
        connection.load = nil
        session.release(connection)
    }

    // MARK: Logging in

    /// The connection is given up meanwhile: the program may take long to answer, and the user may be another one then.
    private func loginDidFail(_ refusal: FTPRefusal?) {
        guard let connection, let server, let receiver else { return }
        connection.load = nil
        connection.close()
        state = .waiting
        session.serverDidRefuse(login.user, login.password, server)
        guard let challenge = login.challenge(after: refusal, server) else {
            return fail(refusal.map(LoadFailure.init) ?? .passwordMissing)
        }
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, case .waiting = state else { return }
            switch login.settle(challenge, disposition, credential) {
            case .logIn: connect()
            case .cancel:
                fail(
                    LoadFailure(
                        .userCancelledAuthentication, "the program cancelled the server's authentication challenge"))
            case .giveUp: fail(refusal.map(LoadFailure.init) ?? .passwordMissing)
            }
        }
    }
}

extension LoadFailure {
    fileprivate static let passwordMissing = LoadFailure(
        .userAuthenticationRequired,
        "the server wants the user's password, and the URL, the credential storage and the "
            + "task's delegate have none")
}
