import LoadingKitTransport

/// Lets one handshake at a time challenge the program for a proxy's credential: all requests of a session may go
/// through the proxy, and the other handshakes use the first one's credential when the proxy has accepted it. They do
/// not wait for ever: the server behind the proxy may be slow to answer, and the program may suspend the task. Confined
/// to the session's loop.
final class AuthenticationTurns {
    private struct Waiter {
        let handshake: ObjectIdentifier
        let setAsking: (Bool) -> Void
        let proceed: () -> Void
    }

    private struct Queue {
        let holder: ObjectIdentifier
        var waiting: [Waiter] = []
        /// Nil while the holder's program is being asked.
        var timer: LoopTimer?
    }

    /// The time for the answer to the holder's credential, in seconds. Then the turn goes on.
    private static let answerTime = 5.0

    let loop: EventLoop
    private var queues: [AuthenticationSite: Queue] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    /// Returns true if the handshake may challenge the program now. Otherwise `proceed` is called when its turn comes.
    ///
    /// - Parameter setAsking: called while the handshake waits, with whether the holder's program is being asked.
    func take(
        _ handshake: AnyObject, at site: AuthenticationSite, setAsking: @escaping (Bool) -> Void,
        proceed: @escaping () -> Void
    ) -> Bool {
        let identifier = ObjectIdentifier(handshake)
        guard let queue = queues[site] else {
            queues[site] = Queue(holder: identifier)
            return true
        }
        if queue.holder == identifier {
            setTimer(nil, at: site)
            return true
        }
        queues[site]?.waiting.append(Waiter(handshake: identifier, setAsking: setAsking, proceed: proceed))
        if queue.timer != nil { setAsking(false) }
        return false
    }

    /// The handshake's request is sent with the program's credential.
    func didAsk(_ handshake: AnyObject, at site: AuthenticationSite) {
        guard queues[site]?.holder == ObjectIdentifier(handshake) else { return }
        let time = loop.now.advanced(bySeconds: Self.answerTime)
        let timer = loop.schedule(at: time) { [weak self] in self?.passOn(at: site) }
        setTimer(timer, at: site)
    }

    private func setTimer(_ timer: LoopTimer?, at site: AuthenticationSite) {
        queues[site]?.timer?.cancel()
        queues[site]?.timer = timer
        for waiter in queues[site]?.waiting ?? [] { waiter.setAsking(timer == nil) }
    }

    /// The handshake has its credential or has given up.
    func leave(_ handshake: AnyObject, at site: AuthenticationSite) {
        let identifier = ObjectIdentifier(handshake)
        guard let queue = queues[site] else { return }
        guard queue.holder == identifier else {
            queues[site]?.waiting.removeAll { $0.handshake == identifier }
            return
        }
        queue.timer?.cancel()
        passOn(at: site)
    }

    private func passOn(at site: AuthenticationSite) {
        guard var queue = queues[site], !queue.waiting.isEmpty else { return queues[site] = nil }
        let next = queue.waiting.removeFirst()
        queues[site] = Queue(holder: next.handshake, waiting: queue.waiting)
        // Not at once: this call may be inside the delivery of a response, whose bytes are in the loop's memory.
        loop.executeLater { [self] in
            if queues[site]?.holder == next.handshake { next.proceed() }
        }
    }
}
