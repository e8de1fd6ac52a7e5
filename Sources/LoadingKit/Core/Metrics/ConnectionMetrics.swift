import LoadingKitPrimitives
import LoadingKitTransport

/// What the metrics of a connection's transactions say of it; they all share it.
package final class ConnectionMetrics: Sendable {
    /// How the connection was made, which is the first transaction's alone.
    let timings: ConnectTimings
    /// Nil of a connection that came to nothing.
    let info: ConnectionInfo?
    /// The ALPN identifier of the protocol (`http/1.1`, `h2`), or nil when none was spoken.
    let protocolName: String?
    let isProxied: Bool

    package init(_ info: ConnectionInfo, protocolName: String, isProxied: Bool) {
        timings = info.timings
        self.info = info
        self.protocolName = protocolName
        self.isProxied = isProxied
    }

    /// Of a connection that came so far.
    package init(failed timings: ConnectTimings) {
        self.timings = timings
        info = nil
        protocolName = nil
        isProxied = false
    }
}

extension ConnectTimings {
    /// When the connection was ready, TLS handshake included.
    var readyTime: MonotonicTime? { tlsStart == nil ? connectEnd : tlsEnd }
}
