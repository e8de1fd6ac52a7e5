import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitProxies
import LoadingKitTransport

/// How the load comes by a control connection that its user is logged in on.
extension FTPLoad {
    func didFindWays(_ found: Result<[Proxy?], any Error>) {
        guard case .findingWays(let request) = state else { return }
        attempt { submit(Plan(request: request, login: FTPLogin(request, session), ways: ProxyWays(try found.get()))) }
    }

    var tunnelRequester: TunnelRequester? { receiver.map { TunnelRequester(urlRequest, resources, $0) } }

    /// - Parameter needsFresh: whether the connection may not be one that was used before.
    private func submit(_ plan: Plan, needsFresh: Bool = false) {
        state = .waiting(plan)
        // The task's own delegate decides about TLS, and answers the proxy.
        let isDecided = plan.request.server.security != .none || plan.ways.current != nil
        let key = FTPConnectionKey(
            server: plan.request.server, user: plan.login.user, password: plan.login.password,
            proxy: plan.ways.current, use: session.use.narrowed(by: urlRequest),
            decider: isDecided ? receiver?.challengeDelegate.map { ObjectIdentifier($0) } : nil)
        session.submit(self, key, needsFresh: needsFresh)
    }

    /// The pool has a connection for the load: one on which its user is logged in, or one that is to be made.
    func use(_ connection: FTPConnection) {
        guard case .waiting(let plan) = state else { return connection.close() }
        connection.load = self
        if connection.isReady { return beginTransfer(plan, connection, isReused: true) }
        state = .connecting(plan, connection)
        connection.connect(limit: plan.ways.limit(of: session.settings.connectTimeout))
    }

    /// The connection has ended, which may be the server's doing.
    func connectionDidFail(_ error: any Error) {
        switch state {
        case .connecting(var plan, let connection) where connection.metrics == nil:
            session.proxies.proxyDidFail(plan.ways.current, error)
            if plan.ways.takeNext(after: error) { return submit(plan) }
            fail(plan.ways.failure(error))
        // The server has given up a connection that nothing was asked on for a while (RFC 959 §4.2.2, 421).
        case .transferring(let transfer) where timings.isReusedConnection && !transfer.hasBegun:
            transfer.stop()
            submit(transfer.plan, needsFresh: true)
        case .connecting, .transferring: fail(error)
        case .new, .findingWays, .waiting, .asking, .over: break
        }
    }

    // MARK: Logging in

    func loginDidFail(_ refusal: FTPRefusal?, _ plan: Plan, _ connection: FTPConnection) {
        guard let receiver else { return }
        connection.close()
        var plan = plan
        session.serverDidRefuse(plan.login, plan.request.server)
        let challenge = plan.login.challenge(after: refusal, plan.request.server)
        state = .asking(plan)
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, case .asking(var plan) = state else { return }
            attempt {
                try plan.login.settle(disposition, credential, after: refusal)
                submit(plan)
            }
        }
    }
}
