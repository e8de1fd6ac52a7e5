import LoadingKitPrimitives
import LoadingKitTransport

/// Follows the events of sessions. Called on a session's event loop.
package protocol SessionEventObserver: AnyObject, Sendable {
    /// - Parameter detail: what the event does not have, in plain words: names and reasons, and no secrets.
    func session(_ session: SessionIdentity, did event: SessionEventRecord, detail: String)
}

/// Passes a session's events to those who follow them: its flight recorder, its statistics, and the inspector. Confined to
/// the session's event loop.
package final class SessionEvents {
    let identity: SessionIdentity
    private let loop: EventLoop
    /// Empty for most sessions.
    @exclusivity(unchecked) private var observers: [any SessionEventObserver] = []
    private var lastConnection: UInt32 = 0
    @exclusivity(unchecked) private(set) var counts = SessionCounts()

    init(_ identity: SessionIdentity, _ loop: EventLoop) {
        self.identity = identity
        self.loop = loop
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
        if !observers.isEmpty { tell(event, task, connection, detail()) }
    }

    @inline(never)
    private func tell(_ event: SessionEvent, _ task: Int, _ connection: UInt32, _ detail: String) {
        let record = SessionEventRecord(
            time: loop.now, task: Int32(truncatingIfNeeded: task), connection: connection, event: event)
        for observer in observers { observer.session(identity, did: record, detail: detail) }
    }

    /// A request and its response have left the connection.
    package func transactionDidEnd(_ traffic: Traffic) { counts.count(traffic) }

    func add(_ observer: any SessionEventObserver) { observers.append(observer) }

    func remove(_ observer: any SessionEventObserver) { observers.removeAll { $0 === observer } }
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
