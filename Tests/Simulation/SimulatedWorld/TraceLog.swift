import CSimulatedSystem
import Logging

/// Writes what a session logs into the trace.
struct TraceLog: LogHandler {
    let client: Int
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(client: Int) { self.client = client }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = event.metadata.map { $0.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } } ?? []
        sim_trace("client \(client): \(event.message) \(values.joined(separator: " "))")
    }
}
