import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives
import LoadingKitTransport

/// Shows the traffic of all sessions of the program on a page, which a server on the loopback interface serves, until it
/// is stopped.
package final class Inspector: Sendable {
    /// The bodies up to this size are shown, in bytes.
    private static let bodyLimit = 1 << 20

    /// The page's address, with the secret without which nobody gets it.
    package let address: String
    private let server: InspectorServer
    private let recorders: [any LoadRecorder]
    private let inbox: TrafficInbox
    private let follower = Guarded<Int?>(nil)
    /// Set before the sessions are left: one that is followed at the same time may not be among them.
    private let isStopped = Guarded(false)

    /// - Parameters:
    ///   - port: the port; 0 for one that is free.
    ///   - allowsChanges: whether requests and responses can be held and changed from the page.
    ///   - redacts: whether secrets are left out.
    ///   - follows: the sessions that are followed.
    package init(
        port: UInt16, allowsChanges: Bool, redacts: Bool,
        follows: @escaping @Sendable (SessionCore) -> Bool = { _ in true }
    ) throws(SystemCallFailure) {
        let loop = EventLoop(name: "LoadingKit-inspector")
        let listener: LocalListener
        do {
            listener = try LocalListener.listen(at: .ip(.loopback4, port: port), on: loop).get()
        } catch {
            loop.stop()
            throw error
        }
        let access = InspectorAccess(port: listener.address?.port ?? port)
        address = access.address
        let rules = HARRules(.network, redacts ? .standard : .none, bodyLimit: Self.bodyLimit)
        let inbox = TrafficInbox()
        let recording = LoadRecording(rules, on: OrderedWork()) { moment, notes in
            if moment != .responded || inbox.isWatched { inbox.add(.load(LoadSnapshot(notes))) }
        }
        let holds = allowsChanges ? HoldRecorder(rules.redactor, inbox) : nil
        server = InspectorServer(listener, access, loop, rules, redacts: redacts, inbox, holds)
        recorders = [recording] + (holds.map { [$0] } ?? [])
        self.inbox = inbox
        loop.execute { [server] in server.start() }
        let number = LiveSessions.follow { [self] session in
            guard let core = session as? SessionCore, follows(core) else { return }
            inbox.add(TrafficInbox.Session(identity: core.identity, name: core.kindName))
            for recorder in recorders { core.add(recorder) }
            core.follow(by: inbox)
            if isStopped.withLock({ $0 }) { leave(core) }
        }
        follower.withLock { $0 = number }
    }

    /// Stops to follow the sessions, and lets held loads go on. The page gets no further messages.
    package func stop() {
        guard let number = follower.withLock({ $0.take() }) else { return }
        isStopped.withLock { $0 = true }
        LiveSessions.unfollow(number)
        for case let core as SessionCore in LiveSessions.all { leave(core) }
        server.loop.execute { [server] in
            server.stop()
            server.loop.stop()
        }
    }

    private func leave(_ core: SessionCore) {
        for recorder in recorders { core.remove(recorder) }
        core.unfollow(by: inbox)
    }
}
