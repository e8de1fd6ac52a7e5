import Logging

/// Writes what the daemon's stores and sessions log, such as that a damaged journal was put aside, to the daemon's log.
struct DaemonLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning
    private let log: DaemonLog

    init(_ log: DaemonLog) { self.log = log }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { log.write("\(event.level): \(event.message)") }
}
