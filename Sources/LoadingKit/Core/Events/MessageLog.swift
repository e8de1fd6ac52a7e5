import Logging

/// Passes the messages of a logger to a function.
package struct MessageLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let write: @Sendable (LogEvent) -> Void

    package init(_ level: Logger.Level, _ write: @escaping @Sendable (LogEvent) -> Void) {
        logLevel = level
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) { write(event) }
}
