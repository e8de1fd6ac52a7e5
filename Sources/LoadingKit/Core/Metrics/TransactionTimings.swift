import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// What one transaction (one request and its response) noted of itself, as plain values that cost nothing to fill.
///
/// A point that was not reached, or that does not apply, is nil.
package struct TransactionTimings: Sendable {
    package var fetchStart: MonotonicTime?
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

    /// Nil without one, as of what the cache has.
    package var connection: ConnectionMetrics?
    package var isReusedConnection = false

    package var resourceFetchType = URLSessionTaskMetrics.ResourceFetchType.unknown
    package var domainResolutionProtocol = URLSessionTaskMetrics.DomainResolutionProtocol.unknown

    package init(fetchStart: MonotonicTime? = nil, connection: ConnectionMetrics? = nil) {
        self.fetchStart = fetchStart
        self.connection = connection
    }

    /// The request is about to be sent. What was noted of a connection that came to nothing is void.
    package mutating func beginRequest(on connection: ConnectionMetrics, isReused: Bool, at time: MonotonicTime) {
        self = TransactionTimings(fetchStart: fetchStart, connection: connection)
        isReusedConnection = isReused
        requestStart = time
    }
}

/// What the metrics of a connection's transactions say of it; they all share it.
package final class ConnectionMetrics: Sendable {
    /// The two ends.
    private enum Ends {
        /// Of a connection that came to nothing.
        case unknown
        case connected(ConnectionInfo)
        /// As a handler of the program's reported them, or as they were kept.
        case reported(
            local: LoadMetrics.Endpoint?, remote: LoadMetrics.Endpoint?, tls: TLSInfo?, isMultipath: Bool)
    }

    /// How the connection was made, which is the first transaction's alone.
    let timings: ConnectTimings
    private let ends: Ends
    /// The ALPN identifier of the protocol (`http/1.1`, `h2`), or nil when none was spoken.
    let protocolName: String?
    let isProxied: Bool

    package init(_ info: ConnectionInfo, protocolName: String, isProxied: Bool) {
        timings = info.timings
        ends = .connected(info)
        self.protocolName = protocolName
        self.isProxied = isProxied
    }

    /// Of a connection that came so far.
    package init(failed timings: ConnectTimings) {
        self.timings = timings
        ends = .unknown
        protocolName = nil
        isProxied = false
    }

    /// Of a connection that a handler reports, or whose metrics were kept.
    init(
        _ timings: ConnectTimings, local: LoadMetrics.Endpoint?, remote: LoadMetrics.Endpoint?, protocolName: String?,
        isProxied: Bool, tls: TLSInfo? = nil, isMultipath: Bool = false
    ) {
        self.timings = timings
        ends = .reported(local: local, remote: remote, tls: tls, isMultipath: isMultipath)
        self.protocolName = protocolName
        self.isProxied = isProxied
    }

    var local: LoadMetrics.Endpoint? {
        switch ends {
        case .unknown: nil
        case .connected(let info): LoadMetrics.Endpoint(info.local)
        case .reported(let local, _, _, _): local
        }
    }

    var remote: LoadMetrics.Endpoint? {
        switch ends {
        case .unknown: nil
        case .connected(let info): LoadMetrics.Endpoint(info.remote)
        case .reported(_, let remote, _, _): remote
        }
    }

    /// Nil without TLS.
    var tls: TLSInfo? {
        switch ends {
        case .unknown: nil
        case .connected(let info): info.tls
        case .reported(_, _, let tls, _): tls
        }
    }

    var isMultipath: Bool {
        switch ends {
        case .unknown: false
        case .connected(let info): info.isMultipath
        case .reported(_, _, _, let isMultipath): isMultipath
        }
    }
}

extension LoadMetrics.Endpoint {
    fileprivate init(_ address: SocketAddress) { self.init(address: address.address, port: address.port) }
}

extension ConnectTimings {
    /// When the connection was ready, TLS handshake included.
    var readyTime: MonotonicTime? { tlsStart == nil ? connectEnd : tlsEnd }
}

/// One moment on both clocks, from which any point of the monotonic clock gets a date.
///
/// Times are taken from the monotonic clock alone, which is cheap and never jumps; dates are made when asked for.
package struct WallClockAnchor: Sendable {
    package let date: Date
    package let monotonicTime: MonotonicTime

    package init(date: Date, monotonicTime: MonotonicTime) {
        self.date = date
        self.monotonicTime = monotonicTime
    }

    /// The date of a point on the monotonic clock, before or after the anchor.
    package func date(of time: MonotonicTime) -> Date {
        time < monotonicTime
            ? date.addingTimeInterval(-monotonicTime.seconds(since: time))
            : date.addingTimeInterval(time.seconds(since: monotonicTime))
    }

    /// The point on the monotonic clock that has a date; the clock's beginning for a date before that.
    package func time(of date: Date) -> MonotonicTime {
        let nanoseconds = date.timeIntervalSince(self.date) * 1_000_000_000
        let distance = UInt64(exactly: abs(nanoseconds).rounded()) ?? .max
        return nanoseconds < 0
            ? MonotonicTime(nanoseconds: monotonicTime.nanoseconds - min(distance, monotonicTime.nanoseconds))
            : monotonicTime.advanced(byNanoseconds: distance)
    }
}

/// One request and its response, as the metrics show them.
package struct TransactionRecord {
    package let timings: TransactionTimings
    package let request: URLRequest
    package let response: URLResponse?

    package init(timings: TransactionTimings, request: URLRequest, response: URLResponse?) {
        self.timings = timings
        self.request = request
        self.response = response
    }
}
