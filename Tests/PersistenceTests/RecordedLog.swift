import LoadingKitCore
import LoadingKitPrimitives
import Logging

/// The lines that a store logs.
final class RecordedLog: Sendable {
    private struct Handler: LogHandler {
        let lines: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.recorded.withLock { $0.append("\(event.message)") } }
    }

    private let recorded = Guarded<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    var log: StoreLog { StoreLog(Logger(label: "test", factory: { _ in Handler(lines: self) })) }
}
