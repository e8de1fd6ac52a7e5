import LoadingKitHTTP2
import Logging

/// Writes a connection's frames to the session's logger, where that takes traces.
struct HTTP2FrameLog {
    private let logger: Logger
    private var sent = HTTP2FrameTrace(isOfClient: true)
    private var received = HTTP2FrameTrace(isOfClient: false)

    /// Nil where nobody would read it.
    init?(_ logger: Logger) {
        guard logger.logLevel <= .trace else { return nil }
        self.logger = logger
    }

    mutating func send(_ bytes: UnsafeRawBufferPointer) {
        for line in sent.describe(bytes) { logger.trace("HTTP/2 > \(line)") }
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        for line in received.describe(bytes) { logger.trace("HTTP/2 < \(line)") }
    }
}
