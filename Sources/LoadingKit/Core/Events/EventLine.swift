import LoadingKitPrimitives
import LoadingKitTransport

/// An event as a line of text.
enum EventLine {
    /// - Parameters:
    ///   - start: the time that is 0.
    ///   - begin: the event that has begun what this one ends.
    ///   - namesTask: whether the line begins with the task.
    static func text(
        _ record: SessionEventRecord, since start: MonotonicTime, begin: SessionEventRecord?, namesTask: Bool
    ) -> String {
        let task = namesTask && record.task != 0 ? "task \(record.task): " : ""
        let connection = record.connection == 0 ? "" : "connection \(record.connection): "
        let duration = begin.map { " (\(TimeScale.duration(record.time.seconds(since: $0.time))))" } ?? ""
        return "\(text(of: record.time, since: start))  \(task)\(connection)\(record.event.text)\(duration)"
    }

    /// Seconds with four digits behind the point.
    private static func text(of time: MonotonicTime, since start: MonotonicTime) -> String {
        let isBefore = time < start
        let parts = (isBefore ? start.nanoseconds(since: time) : time.nanoseconds(since: start)) / 100_000
        let fraction = String(parts % 10_000 + 10_000).dropFirst()
        return Columns.right("\(isBefore ? "-" : "")\(parts / 10_000).\(fraction) s", 11)
    }

    /// The event that has begun what the one at `index` ends.
    static func begin(of index: Int, in records: ArraySlice<SessionEventRecord>) -> SessionEventRecord? {
        let record = records[index]
        guard record.event.isEnd else { return nil }
        return records[..<index].last {
            $0.task == record.task && (record.connection == 0 || $0.connection == record.connection)
                && record.event.ends($0.event)
        }
    }
}

extension SessionEvent {
    /// Whether the event may be the end of what another one has begun.
    fileprivate var isEnd: Bool {
        switch self {
        case .responded, .challengeAnswered, .connect: true
        case _: false
        }
    }

    fileprivate func ends(_ other: SessionEvent) -> Bool {
        switch (self, other) {
        case (.responded, .requestBegan), (.challengeAnswered, .challenged): true
        case (.connect(let step), .connect(let earlier)): step.ends(earlier)
        case _: false
        }
    }
}

extension ConnectStep {
    fileprivate func ends(_ earlier: ConnectStep) -> Bool {
        switch (self, earlier) {
        case (.lookUpEnded, .lookUpBegan), (.failed(.lookUp), .lookUpBegan): true
        case (.handshakeEnded, .handshakeBegan), (.failed(.handshake), .handshakeBegan): true
        case (.connected(let address), .connecting(let other, _)): address == other
        case (.connectFailed(let address, _), .connecting(let other, _)): address == other
        case _: false
        }
    }
}
