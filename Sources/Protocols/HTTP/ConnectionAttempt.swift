import LoadingKitCore
import LoadingKitTransport

/// A connection that is being made for those that wait in an origin's pool. Confined to the pool's loop.
final class ConnectionAttempt: TunnelOwner {
    /// What the program is asked about the TLS handshake.
    struct Question {
        let challenge: URLAuthenticationChallenge
        let answer: ChallengeDecision
    }

    private(set) weak var pool: OriginPool?
    private let route: Route
    /// Whether the server may choose HTTP/2 in the TLS handshake.
    let offersHTTP2: Bool
    let storage: URLCredentialStorage?
    var handle: (any PendingConnection)?
    /// In whose name a challenge was put to the program.
    private(set) weak var asked: HTTPExchange?
    /// The program is asked: nobody's time runs.
    private(set) var isHeld = false
    var question: Question?

    init(_ pool: OriginPool, offersHTTP2: Bool, storage: URLCredentialStorage?) {
        self.pool = pool
        route = pool.route
        self.offersHTTP2 = offersHTTP2
        self.storage = storage
    }

    /// How far it came, once it is over; nil for one through a proxy, which is made of several.
    private(set) var timings: ConnectTimings?

    var origin: Origin { route.origin }
    var partition: ObjectIdentifier? { route.decidingDelegate.map { ObjectIdentifier($0) } }

    var asker: HTTPExchange? {
        if let asked, pool?.isWaiting(asked) == true { return asked }
        return pool?.exchangeToAsk
    }

    func isHeld(_ isHeld: Bool) {
        self.isHeld = isHeld
        if isHeld { asked = asker }
        pool?.heldAttemptsChanged()
    }

    /// The connection was made, or is not to be made: nothing is asked any more.
    func end() {
        if let question { asked?.receiver?.withdraw(question.challenge) }
        question = nil
        timings = (handle as? ConnectAttempt)?.timingsSoFar
        // It asks this one, and so holds it.
        handle = nil
    }
}
