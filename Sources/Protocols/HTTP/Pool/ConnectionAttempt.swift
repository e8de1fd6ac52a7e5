import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// A connection that is being opened for the requests that wait in a pool. Confined to the pool's loop.
final class ConnectionAttempt: TunnelOwner {
    /// A challenge to the program about the TLS handshake.
    struct Question {
        let challenge: URLAuthenticationChallenge
        let answer: ChallengeDecision
    }

    let id: HTTPConnectionPool.AttemptID
    private(set) weak var driver: ConnectionPoolDriver?
    private let route: Route
    let storage: URLCredentialStorage?
    var handle: (any PendingConnection)?
    /// The exchange whose program was challenged.
    private weak var challengedBefore: HTTPExchange?
    var question: Question?
    /// Whether the request for which the attempt was started has another way to the server.
    var hasAnotherWay = false

    init(_ driver: ConnectionPoolDriver, _ id: HTTPConnectionPool.AttemptID) {
        self.id = id
        self.driver = driver
        route = driver.route
        storage = driver.session.settings.credentialStorage
    }

    var origin: Origin { route.origin }
    var proxy: Proxy? { route.proxy }
    var decidingDelegate: ObjectIdentifier? { route.decidingDelegate.map { ObjectIdentifier($0) } }

    var challenged: HTTPExchange? { driver?.challenged(for: id) }

    var requester: TunnelRequester? {
        guard let exchange = challenged, let receiver = exchange.receiver else { return nil }
        return TunnelRequester(exchange.request, exchange.resources, receiver)
    }

    func challengeWillBegin() {
        challengedBefore = challenged
        driver?.attemptDidChallenge(id, for: challengedBefore)
    }

    func challengeDidEnd() { driver?.attemptChallengeDidEnd(id) }

    /// The remaining values of an attempt that is over.
    struct Ended {
        let handle: (any PendingConnection)?
        /// The times of the attempt's steps; nil for an attempt through a proxy, which consists of several.
        let timings: ConnectTimings?
        /// Whether the attempt had only a part of a request's time.
        let hasAnotherWay: Bool
    }

    /// The connection was opened, or is no longer needed. The program's answer is not awaited any more.
    func end() -> Ended {
        if let question { challengedBefore?.receiver?.withdraw(question.challenge) }
        question = nil
        // The handle has a reference to this object, which decides in its handshakes.
        defer { handle = nil }
        return Ended(handle: handle, timings: (handle as? ConnectAttempt)?.timingsSoFar, hasAnotherWay: hasAnotherWay)
    }
}
