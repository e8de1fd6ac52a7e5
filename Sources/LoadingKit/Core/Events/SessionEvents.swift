import LoadingKitPrimitives
import LoadingKitTransport
import Logging

/// Follows the events of sessions. Called on a session's event loop.
package protocol SessionEventObserver: AnyObject, Sendable {
    /// - Parameter detail: what the event does not have, in plain words: names and reasons, and no secrets.
    func session(_ session: SessionIdentity, did event: SessionEventRecord, detail: String)
}

/// Keeps a session's last events, and passes events to those who follow them: the session's logger, its statistics, and the
/// inspector. Confined to the session's event loop.
package final class SessionEvents {
    let identity: SessionIdentity
    private let loop: EventLoop
    private let time: UnsafePointer<MonotonicTime>
    private let areKept: Bool
    /// Nil where the session's logger takes no events.
    let log: EventLog?
    // Exclusive access is not checked: no function that changes them calls other objects.
    @exclusivity(unchecked) private var ring = EventRing()
    /// Empty for most sessions.
    @exclusivity(unchecked) private var observers: [any SessionEventObserver] = []
    @exclusivity(unchecked) private var isFollowed: Bool
    private var lastConnection: UInt32 = 0
    @exclusivity(unchecked) private(set) var counts = SessionCounts()

    /// - Parameter logger: the session's own; nil where it has none.
    init(_ identity: SessionIdentity, _ loop: EventLoop, keepsEvents: Bool, logger: Logger?) {
        self.identity = identity
        self.loop = loop
        time = loop.nowPointer
        areKept = keepsEvents
        log = logger.flatMap { EventLog($0, identity) }
        isFollowed = log != nil
    }

    /// - Parameters:
    ///   - task: the task's identifier; 0 for none.
    ///   - connection: the connection's number; 0 for none.
    ///   - detail: evaluated where somebody reads it.
    @inline(__always)
    package func note(
        _ event: SessionEvent, task: Int = 0, connection: UInt32 = 0, _ detail: @autoclosure () -> String = ""
    ) {
        counts.count(event)
        // It runs for each event of each load: most sessions need these few instructions alone.
        guard !isFollowed, let slot = ring.freeSlot else { return noteWithCare(event, task, connection, detail) }
        slot.initialize(to: record(event, task, connection))
        ring.didFillSlot()
    }

    @inline(__always)
    private func record(_ event: SessionEvent, _ task: Int, _ connection: UInt32) -> SessionEventRecord {
        SessionEventRecord(
            time: time.pointee, task: Int32(truncatingIfNeeded: task), connection: connection, event: event)
    }

    /// Makes room for the event, and tells those who follow events.
    @inline(never)
    private func noteWithCare(_ event: SessionEvent, _ task: Int, _ connection: UInt32, _ detail: () -> String) {
        let record = record(event, task, connection)
        if areKept { ring.append(record) }
        let isLogged = log?.takes(event) ?? false
        guard isLogged || !observers.isEmpty else { return }
        let detail = detail()
        if isLogged { log?.write(record, detail) }
        for observer in observers { observer.session(identity, did: record, detail: detail) }
    }

    /// A request and its response have left the connection.
    package func transactionDidEnd(_ traffic: Traffic) { counts.count(traffic) }

    func add(_ observer: any SessionEventObserver) {
        observers.append(observer)
        isFollowed = true
    }

    func remove(_ observer: any SessionEventObserver) {
        observers.removeAll { $0 === observer }
        isFollowed = log != nil || !observers.isEmpty
    }

    /// The session's last events, the oldest first.
    var records: [SessionEventRecord] { ring.records }

    var now: MonotonicTime { loop.now }

    /// The bytes that the kept events occupy.
    var size: Int { ring.capacity * MemoryLayout<SessionEventRecord>.stride }
}

extension SessionEvents: ConnectObserver {
    package func makeConnectionNumber() -> UInt32 {
        lastConnection &+= 1
        return lastConnection
    }

    package func connection(_ number: UInt32, did step: ConnectStep) {
        counts.time(step, of: number, at: loop.currentTime)
        note(.connect(step), connection: number)
    }
}
