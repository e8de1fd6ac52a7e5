import CLoadingKitShims
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
    /// - Parameter records: all events, the oldest first. Those of other tasks cost next to nothing: many loads may fail
    ///   at once.
    init?(of task: Int32, in records: [SessionEventRecord]) {
        let own = records.places(ofTask: task)
        guard let begin = own.first else { return nil }
        start = records[begin].time
        var used = Set(own.map { records[$0].connection })
        used.remove(0)
        if Self.awaitsConnection(own.reversed().map { records[$0].event }) {
            used.formUnion(Self.openingConnections(records.places(ofTask: 0).map { records[$0] }))
        }
        var places = own.filter { !records[$0].event.isEnd }
        var pasts: [UInt32: ConnectionPast] = [:]
        for connection in used {
            let all = records.places(ofConnection: connection)
            let before = all.filter { $0 < begin }.map { records[$0] }
            pasts[connection] = Self.past(before)
            // The earlier steps of a connection that was open are told by its past.
            let wasOpen = before.contains { $0.event.isOpening }
            places += all.filter { records[$0].task == 0 && ($0 >= begin || !wasOpen) }
        }
        self.pasts = pasts
        let steps = places.sorted().map { records[$0] }
        let isLong = steps.count > Self.firstCount + Self.lastCount
        leftOut = isLong ? steps.count - Self.firstCount - Self.lastCount : 0
        first = isLong ? steps.prefix(Self.firstCount) : steps[...]
        last = isLong ? steps.suffix(Self.lastCount) : []
    }

    /// Whether the task's last event is followed by no event on a connection: it may wait for one.
    ///
    /// - Parameter events: those of the task, the last one first.
    private static func awaitsConnection(_ events: [SessionEvent]) -> Bool {
        for event in events {
            switch event {
            case .loadBegan, .queued, .retried: return true
            case .requestBegan, .connectionFailed, .redirected, .responded, .taskBegan: return false
            case _: continue
            }
        }
        return false
    }

    /// The session's connections that are being opened.
    ///
    /// - Parameter records: the events that are of no task.
    private static func openingConnections(_ records: [SessionEventRecord]) -> Set<UInt32> {
        var opening: Set<UInt32> = []
        for record in records {
            switch record.event {
            case .connect(.failed), .connect(.cancelled), .connectionOpened, .connectionClosed:
                opening.remove(record.connection)
            case .connect: opening.insert(record.connection)
            case _: break
            }
        }
        return opening
    }

    /// Nil where nothing is known.
    private static func past(_ records: [SessionEventRecord]) -> ConnectionPast? {
        var past: ConnectionPast?
        for record in records {
            switch record.event {
            case .connectionOpened: past = ConnectionPast(opened: record.time, requestCount: past?.requestCount ?? 0)
            case .requestBegan: past = ConnectionPast(opened: past?.opened, requestCount: (past?.requestCount ?? 0) + 1)
            case _: break
            }
        }
        return past
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

extension Array<SessionEventRecord> {
    /// The places of a task's events.
    fileprivate func places(ofTask task: Int32) -> [Int] {
        places(of: task, at: MemoryLayout<SessionEventRecord>.offset(of: \.task))
    }

    /// The places of a connection's events.
    fileprivate func places(ofConnection connection: UInt32) -> [Int] {
        places(
            of: Int32(bitPattern: connection), at: MemoryLayout<SessionEventRecord>.offset(of: \.connection))
    }

    private func places(of number: Int32, at offset: Int?) -> [Int] {
        guard let offset, !isEmpty else { return [] }
        let places = [UInt32](unsafeUninitializedCapacity: count) { places, placeCount in
            placeCount = withUnsafeBytes { bytes in
                lk_matching_places(
                    bytes.baseAddress.map { $0 + offset }, count, MemoryLayout<SessionEventRecord>.stride, number,
                    places.baseAddress)
            }
        }
        return places.map { Int($0) }
    }
}
