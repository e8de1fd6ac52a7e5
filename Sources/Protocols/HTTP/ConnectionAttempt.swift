/// A connection that is being made for those that wait in an origin's pool. Confined to the pool's loop.
final class ConnectionAttempt: TunnelOwner {
    private weak var pool: OriginPool?
    var handle: (any PendingConnection)?
    /// In whose name a proxy's challenge was put to the program.
    private(set) weak var asked: HTTPExchange?
    /// The program is asked: nobody's time runs.
    private(set) var isHeld = false

    init(_ pool: OriginPool) { self.pool = pool }

    var asker: HTTPExchange? {
        if let asked, pool?.isWaiting(asked) == true { return asked }
        return pool?.exchangeToAsk
    }

    func isHeld(_ isHeld: Bool) {
        self.isHeld = isHeld
        if isHeld { asked = asker }
        pool?.heldAttemptsChanged()
    }
}
