import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A copy of a session's last events.
struct FlightRecord: Sendable {
    private let session: SessionIdentity
    private let now: MonotonicTime
    private let records: [SessionEventRecord]

    /// On the session's loop.
    init(_ events: SessionEvents) {
        session = events.identity
        now = events.now
        records = events.records
    }

    var text: String {
        let lines = records.indices.map { index in
            EventLine.text(
                records[index], since: now, begin: EventLine.begin(of: index, in: records[...]), namesTask: true)
        }
        return (["session \(session.number): \(records.count) events"] + lines).joined(separator: "\n")
    }
}

/// Writes the last events of all sessions to standard error whenever the process gets the signal that the environment names.
enum FlightRecordSignal {
    private static let variable = "LOADKIT_FLIGHT_RECORD"
    /// The time for which a session is waited for: its event loop may be busy. In seconds.
    private static let patience = 2.0

    /// Evaluated where the first session is made.
    static let isFollowed: Bool = {
        guard let name = ProcessEnvironment.secureValue(of: variable), !name.isEmpty else { return false }
        if let number = ProcessSignal.number(named: name), ProcessSignal.follow(number, write) { return true }
        write("\(variable): \(name) is no signal that can be used: SIGUSR1, SIGUSR2, SIGHUP or SIGQUIT\n")
        return false
    }()

    private static func write() {
        let sessions = LiveSessions.all.sorted { $0.identity.number < $1.identity.number }
        for session in sessions { write("\(text(of: session))\n") }
    }

    private static func text(of session: any LiveSession) -> String {
        let record = Guarded<FlightRecord?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        session.readEvents { events in
            record.withLock { $0 = FlightRecord(events) }
            isThere.signal()
        }
        _ = isThere.wait(timeout: .now() + patience)
        return record.withLock { $0 }?.text ?? "session \(session.identity.number): its event loop is busy"
    }

    private static func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
