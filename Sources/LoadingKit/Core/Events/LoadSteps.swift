import LoadingKitPrimitives
import LoadingKitTransport

/// The events of a task, and those of the connections that it has used or waited for.
struct LoadSteps: Sendable {
    /// The connection of a request, before the request.
    struct ConnectionPast: Equatable, Sendable {
        /// Nil where the time is no longer known.
        var opened: MonotonicTime?
        var requestCount = 0
    }

    private static let firstCount = 12
    private static let lastCount = 28

    let start: MonotonicTime
    private let first: ArraySlice<SessionEventRecord>
    private let last: ArraySlice<SessionEventRecord>
    private let leftOut: Int
    private let pasts: [UInt32: ConnectionPast]

    /// Nil where there is no event of the task.
    ///
    /// - Parameter records: all events, the oldest first.
    init?(of task: Int32, in records: [SessionEventRecord]) {
        guard let begin = records.firstIndex(where: { $0.task == task }) else { return nil }
        start = records[begin].time
        var used = Set(records[begin...].lazy.filter { $0.task == task && $0.connection != 0 }.map(\.connection))
        if Self.awaitsConnection(task, records[begin...]) { used.formUnion(Self.openingConnections(records)) }
        pasts = Self.pasts(of: used, records[..<begin])
        // The earlier steps of a connection that was open are told by its past.
        let opened = Set(records[..<begin].lazy.filter { $0.event.isOpening }.map(\.connection))
        let steps = records.enumerated().filter { index, record in
            if record.task == task { return !record.event.isEnd }
            guard record.task == 0, used.contains(record.connection) else { return false }
            return index >= begin || !opened.contains(record.connection)
        }.map(\.element)
        let isLong = steps.count > Self.firstCount + Self.lastCount
        leftOut = isLong ? steps.count - Self.firstCount - Self.lastCount : 0
        first = isLong ? steps.prefix(Self.firstCount) : steps[...]
        last = isLong ? steps.suffix(Self.lastCount) : []
    }

    /// Whether the task's last event is followed by no event on a connection: it may wait for one.
    private static func awaitsConnection(_ task: Int32, _ records: ArraySlice<SessionEventRecord>) -> Bool {
        for record in records.reversed() where record.task == task {
            switch record.event {
            case .loadBegan, .queued, .retried: return true
            case .requestBegan, .connectionFailed, .redirected, .responded, .taskBegan: return false
            case _: continue
            }
        }
        return false
    }

    /// The session's connections that are being opened.
    private static func openingConnections(_ records: [SessionEventRecord]) -> Set<UInt32> {
        var opening: Set<UInt32> = []
        for record in records where record.task == 0 {
            switch record.event {
            case .connect(.failed), .connect(.cancelled), .connectionOpened, .connectionClosed:
                opening.remove(record.connection)
            case .connect: opening.insert(record.connection)
            case _: break
            }
        }
        return opening
    }

    private static func pasts(
        of used: Set<UInt32>, _ records: ArraySlice<SessionEventRecord>
    ) -> [UInt32: ConnectionPast] {
        var pasts: [UInt32: ConnectionPast] = [:]
        for record in records where used.contains(record.connection) {
            switch record.event {
            case .connectionOpened: pasts[record.connection, default: ConnectionPast()].opened = record.time
            case .requestBegan: pasts[record.connection, default: ConnectionPast()].requestCount += 1
            case _: break
            }
        }
        return pasts
    }

    /// A line for each step.
    var text: String {
        var lines = lines(first)
        if leftOut > 0 { lines.append("… \(leftOut) steps are left out") }
        return (lines + self.lines(last)).joined(separator: "\n")
    }

    private func lines(_ steps: ArraySlice<SessionEventRecord>) -> [String] {
        steps.indices.map { index in
            EventLine.text(steps[index], since: start, begin: EventLine.begin(of: index, in: steps), namesTask: false)
                + past(of: steps[index])
        }
    }

    private func past(of record: SessionEventRecord) -> String {
        guard case .requestBegan(true) = record.event, let past = pasts[record.connection] else { return "" }
        let age = past.opened.map { "opened \(TimeScale.duration(record.time.seconds(since: $0))) earlier, " } ?? ""
        return " (\(age)\(past.requestCount) \(past.requestCount == 1 ? "request" : "requests") before this task)"
    }
}

extension SessionEvent {
    fileprivate var isOpening: Bool { if case .connectionOpened = self { true } else { false } }

    /// Whether it is the end of the task, which the error tells.
    fileprivate var isEnd: Bool {
        switch self {
        case .taskFailed, .taskSucceeded: true
        case _: false
        }
    }
}
