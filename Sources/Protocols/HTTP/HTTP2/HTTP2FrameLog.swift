import LoadingKitHTTP2
import Logging

/// Describes a connection's frames for the session's logger, if its level includes traces.
struct HTTP2FrameLog {
    private var sent = HTTP2FrameTrace(isOfClient: true)
    private var received = HTTP2FrameTrace(isOfClient: false)

    /// Nil if the logger's level excludes traces.
    init?(_ logger: Logger) {
        guard logger.logLevel <= .trace else { return nil }
    }

    mutating func describe(sent bytes: UnsafeRawBufferPointer) -> [String] {
        sent.describe(bytes).map { "HTTP/2 > \($0)" }
    }

    mutating func describe(received bytes: UnsafeRawBufferPointer) -> [String] {
        received.describe(bytes).map { "HTTP/2 < \($0)" }
    }
}
