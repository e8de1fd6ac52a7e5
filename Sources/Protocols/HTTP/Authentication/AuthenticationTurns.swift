/// Has one handshake at a time ask about a proxy, through which all of a session's requests may want to go at once: what
/// the first one learns, the others need not ask. Confined to the session's loop.
final class AuthenticationTurns {
    private struct Queue {
        let holder: ObjectIdentifier
        var waiting: [(handshake: ObjectIdentifier, proceed: () -> Void)] = []
    }

    private var queues: [AuthenticationSite: Queue] = [:]

    /// Whether the handshake may ask now. Else `proceed` is called when it may, unless it has left by then.
    func take(_ handshake: AuthenticationHandshake, at site: AuthenticationSite, _ proceed: @escaping () -> Void)
        -> Bool
    {
        let identifier = ObjectIdentifier(handshake)
        guard let queue = queues[site], queue.holder != identifier else {
            if queues[site] == nil { queues[site] = Queue(holder: identifier) }
            return true
        }
        queues[site]?.waiting.append((identifier, proceed))
        return false
    }

    /// The handshake has learnt what it wanted to, or has given up.
    func leave(_ handshake: AuthenticationHandshake, at site: AuthenticationSite) {
        let identifier = ObjectIdentifier(handshake)
        guard var queue = queues[site] else { return }
        guard queue.holder == identifier else {
            queues[site]?.waiting.removeAll { $0.handshake == identifier }
            return
        }
        guard !queue.waiting.isEmpty else {
            queues[site] = nil
            return
        }
        let next = queue.waiting.removeFirst()
        queues[site] = Queue(holder: next.handshake, waiting: queue.waiting)
        next.proceed()
    }
}
