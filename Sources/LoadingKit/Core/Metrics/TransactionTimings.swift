import LoadingKitPrimitives

/// What one transaction (one request and its response) noted of itself, as plain values that cost nothing to fill.
///
/// A point that was not reached, or that does not apply (no lookup on a reused connection), is nil.
package struct TransactionTimings: Sendable {
    package var fetchStart: MonotonicTime?
    package var domainLookupStart: MonotonicTime?
    package var domainLookupEnd: MonotonicTime?
    package var connectStart: MonotonicTime?
    package var connectEnd: MonotonicTime?
    package var secureConnectionStart: MonotonicTime?
    package var secureConnectionEnd: MonotonicTime?
    package var requestStart: MonotonicTime?
    package var requestEnd: MonotonicTime?
    package var responseStart: MonotonicTime?
    package var responseEnd: MonotonicTime?

    package var requestHeaderBytesSent: Int64 = 0
    package var requestBodyBytesSent: Int64 = 0
    package var requestBodyBytesBeforeEncoding: Int64 = 0
    package var responseHeaderBytesReceived: Int64 = 0
    package var responseBodyBytesReceived: Int64 = 0
    package var responseBodyBytesAfterDecoding: Int64 = 0

    /// The ALPN identifier of the protocol (`http/1.1`, `h2`), or nil when none was spoken.
    package var networkProtocolName: String?
    package var localAddress: String?
    package var localPort: UInt16?
    package var remoteAddress: String?
    package var remotePort: UInt16?
    /// The protocol version's number on the wire, or nil without TLS.
    package var tlsProtocolVersion: UInt16?
    /// The cipher suite's number on the wire, or nil without TLS.
    package var tlsCipherSuite: UInt16?

    package var resourceFetchType = URLSessionTaskMetrics.ResourceFetchType.unknown
    package var domainResolutionProtocol = URLSessionTaskMetrics.DomainResolutionProtocol.unknown
    package var isReusedConnection = false
    package var isProxyConnection = false

    package init() {}
}
