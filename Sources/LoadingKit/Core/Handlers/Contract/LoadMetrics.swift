import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A handler's report about one transaction (a request and its response), for the task's ``URLSessionTaskMetrics``.
///
/// All values are optional: nil, or 0 bytes, means unknown or not applicable. A handler that reports nothing gets one
/// transaction with the times of its response. See ``LoadContext/report(_:request:response:)``.
public struct LoadMetrics: Sendable {
    /// One end of a connection: a host's address and its port, or the path of a Unix-domain socket.
    public struct Endpoint: Sendable, Hashable {
        /// An address such as `192.0.2.1`, `2001:db8::1` or `/run/example.sock`.
        public var address: String
        /// Nil where there are no ports.
        public var port: UInt16?

        /// Makes an endpoint with this address.
        public init(address: String, port: UInt16? = nil) {
            self.address = address
            self.port = port
        }
    }

    /// The source of the resource.
    public var resourceFetchType: URLSessionTaskMetrics.ResourceFetchType
    /// The ALPN identifier of the protocol where there is one, otherwise its usual name in lower case.
    public var networkProtocolName: String?
    /// The local end of the connection.
    public var local: Endpoint?
    /// The remote end of the connection: the server's, or a proxy's.
    public var remote: Endpoint?
    /// Whether the connection had served another request before. Then there are no lookup and connect times.
    public var isReusedConnection = false
    /// Whether the connection went through a proxy.
    public var isProxyConnection = false

    /// The time at which the handler started to fetch the resource; nil: the load's start.
    public var fetchStart: Date?
    /// The lookup of the host's name.
    public var domainLookup: DateInterval?
    /// The establishment of the connection, without TLS.
    public var connect: DateInterval?
    /// The TLS handshake.
    public var secureConnection: DateInterval?
    /// From the request's first byte to its last.
    public var request: DateInterval?
    /// From the response's first byte to its last.
    public var response: DateInterval?

    /// Bytes of the request's head that were sent.
    public var countOfRequestHeaderBytesSent: Int64 = 0
    /// Bytes of the request's body that were sent, coded and framed.
    public var countOfRequestBodyBytesSent: Int64 = 0
    /// Bytes of the request's body before any coding.
    public var countOfRequestBodyBytesBeforeEncoding: Int64 = 0
    /// Bytes of the response's head that were received.
    public var countOfResponseHeaderBytesReceived: Int64 = 0
    /// Bytes of the response's body that were received, coded and framed.
    public var countOfResponseBodyBytesReceived: Int64 = 0
    /// Bytes of the response's body after decoding.
    public var countOfResponseBodyBytesAfterDecoding: Int64 = 0

    /// Makes metrics of a transaction with this source; everything else is unknown.
    public init(_ resourceFetchType: URLSessionTaskMetrics.ResourceFetchType = .networkLoad) {
        self.resourceFetchType = resourceFetchType
    }

    /// The same times on the clock of the metrics.
    ///
    /// - Parameter fetchStart: the time at which the load started.
    func timings(_ anchor: WallClockAnchor, fetchStart began: MonotonicTime) -> TransactionTimings {
        var connecting = ConnectTimings()
        (connecting.resolveStart, connecting.resolveEnd) = anchor.times(of: domainLookup)
        (connecting.connectStart, connecting.connectEnd) = anchor.times(of: connect)
        (connecting.tlsStart, connecting.tlsEnd) = anchor.times(of: secureConnection)
        let connection = ConnectionMetrics(
            connecting, local: local, remote: remote, protocolName: networkProtocolName, isProxied: isProxyConnection)

        var timings = TransactionTimings(
            fetchStart: fetchStart.map(anchor.time(of:)) ?? began, connection: connection)
        timings.resourceFetchType = resourceFetchType
        timings.isReusedConnection = isReusedConnection
        (timings.requestStart, timings.requestEnd) = anchor.times(of: request)
        (timings.responseStart, timings.responseEnd) = anchor.times(of: response)
        timings.requestHeaderBytesSent = countOfRequestHeaderBytesSent
        timings.requestBodyBytesSent = countOfRequestBodyBytesSent
        timings.requestBodyBytesBeforeEncoding = countOfRequestBodyBytesBeforeEncoding
        timings.responseHeaderBytesReceived = countOfResponseHeaderBytesReceived
        timings.responseBodyBytesReceived = countOfResponseBodyBytesReceived
        timings.responseBodyBytesAfterDecoding = countOfResponseBodyBytesAfterDecoding
        return timings
    }
}

extension WallClockAnchor {
    fileprivate func times(of interval: DateInterval?) -> (start: MonotonicTime?, end: MonotonicTime?) {
        guard let interval else { return (nil, nil) }
        return (time(of: interval.start), time(of: interval.end))
    }
}
