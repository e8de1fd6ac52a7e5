import LoadingKitLoopbackServer
import Logging

/// A log of which a test reads all lines.
struct KeptLog: LogHandler {
    struct Line: Sendable, CustomStringConvertible {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]

        var description: String { "\(level): \(message) \(metadata)" }
    }

    let lines: Recorder<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(_ lines: Recorder<Line>, _ level: Logger.Level) { (self.lines, logLevel) = (lines, level) }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        lines.append(Line(level: event.level, message: "\(event.message)", metadata: all.mapValues { "\($0)" }))
    }

    static func logger(_ lines: Recorder<Line>, _ level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in KeptLog(lines, level) }
    }
}
