import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The recorded times of one transaction (one request and its response), as plain values that cost nothing to set.
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
    /// The part of the body's received bytes that frames its content.
    package var responseFramingBytesReceived: Int64 = 0
    package var responseBodyBytesAfterDecoding: Int64 = 0

    /// Nil without a connection, for example for a response from the cache.
    package var connection: ConnectionMetrics?
    package var isReusedConnection = false

    package var resourceFetchType = URLSessionTaskMetrics.ResourceFetchType.unknown
    package var domainResolutionProtocol = URLSessionTaskMetrics.DomainResolutionProtocol.unknown

    package init(fetchStart: MonotonicTime? = nil, connection: ConnectionMetrics? = nil) {
        self.fetchStart = fetchStart
        self.connection = connection
    }

    /// The request is about to be sent. The recorded times of a failed connection are discarded.
    ///
    /// - Parameter time: the time of the loop's turn, which may be before the connection was ready.
    package mutating func beginRequest(on connection: ConnectionMetrics, isReused: Bool, at time: MonotonicTime) {
        self = TransactionTimings(fetchStart: fetchStart, connection: connection)
        isReusedConnection = isReused
        requestStart = isReused ? time : max(time, connection.timings.readyTime ?? time)
    }

    /// The request's last byte was sent.
    package mutating func endRequest(at time: MonotonicTime) { requestEnd = max(time, requestStart ?? time) }

    /// A part of the response has arrived: the first one counts.
    package mutating func beginResponse(at time: MonotonicTime) {
        if responseStart == nil { responseStart = max(time, requestStart ?? time) }
    }

    /// The response's last byte has arrived.
    package mutating func endResponse(at time: MonotonicTime) {
        responseEnd = max(time, responseStart ?? requestStart ?? time)
    }
}

/// The properties of a connection in the metrics of its transactions, which share this object.
package final class ConnectionMetrics: Sendable {
    /// The times of the connection's establishment, which only the first transaction has.
    let timings: ConnectTimings
    let local: LoadMetrics.Endpoint?
    let remote: LoadMetrics.Endpoint?
    /// The ALPN identifier of the protocol (`http/1.1`, `h2`), or nil when no protocol was used.
    let protocolName: String?
    let isProxied: Bool
    /// Nil without TLS.
    let tls: TLSInfo?
    let isMultipath: Bool

    /// Metrics of a connection that a handler reports, or whose metrics were stored.
    init(
        _ timings: ConnectTimings, local: LoadMetrics.Endpoint? = nil, remote: LoadMetrics.Endpoint? = nil,
        protocolName: String? = nil, isProxied: Bool = false, tls: TLSInfo? = nil, isMultipath: Bool = false
    ) {
        self.timings = timings
        self.local = local
        self.remote = remote
        self.protocolName = protocolName
        self.isProxied = isProxied
        self.tls = tls
        self.isMultipath = isMultipath
    }

    package convenience init(_ info: ConnectionInfo, protocolName: String, isProxied: Bool) {
        self.init(
            info.timings, local: LoadMetrics.Endpoint(info.local), remote: LoadMetrics.Endpoint(info.remote),
            protocolName: protocolName, isProxied: isProxied, tls: info.tls, isMultipath: info.isMultipath)
    }

    /// Metrics of a connection that failed after these timings.
    ///
    /// - Parameter earlier: the metrics of the connection without TLS, where its TLS handshake has failed.
    package convenience init(failed timings: ConnectTimings, after earlier: ConnectionMetrics? = nil) {
        self.init(
            timings, local: earlier?.local, remote: earlier?.remote, protocolName: earlier?.protocolName,
            isProxied: earlier?.isProxied ?? false, isMultipath: earlier?.isMultipath ?? false)
    }
}

extension LoadMetrics.Endpoint {
    fileprivate init(_ address: SocketAddress) { self.init(address: address.address, port: address.port) }
}

extension ConnectTimings {
    /// The time at which the connection was ready, including the TLS handshake.
    var readyTime: MonotonicTime? { tlsStart == nil ? connectEnd : tlsEnd }
}

/// One moment on both clocks, by which points of the monotonic clock are converted to dates.
///
/// Times are taken only from the monotonic clock, which is cheap and never jumps; dates are computed on request.
package struct WallClockAnchor: Sendable {
    package let date: Date
    package let monotonicTime: MonotonicTime

    package init(date: Date, monotonicTime: MonotonicTime) {
        self.date = date
        self.monotonicTime = monotonicTime
    }

    /// The current moment, by the clock of a loop. The loop's ``EventLoop/now`` may be long ago: the dates of loads that
    /// end in different turns would not be comparable. On the loop only.
    package init(_ loop: EventLoop) { self.init(date: Date(), monotonicTime: loop.currentTime) }

    /// The date of a point on the monotonic clock, before or after the anchor.
    package func date(of time: MonotonicTime) -> Date {
        time < monotonicTime
            ? date.addingTimeInterval(-monotonicTime.seconds(since: time))
            : date.addingTimeInterval(time.seconds(since: monotonicTime))
    }

    /// The point on the monotonic clock for a date; the clock's beginning for an earlier date.
    package func time(of date: Date) -> MonotonicTime {
        let nanoseconds = date.timeIntervalSince(self.date) * 1_000_000_000
        let distance = UInt64(exactly: abs(nanoseconds).rounded()) ?? .max
        return nanoseconds < 0
            ? MonotonicTime(nanoseconds: monotonicTime.nanoseconds - min(distance, monotonicTime.nanoseconds))
            : monotonicTime.advanced(byNanoseconds: distance)
    }
}

package struct TransactionRecord: Sendable {
    package let timings: TransactionTimings
    package let request: URLRequest
    package let response: URLResponse?
    /// The lines of the request's head as it was sent, where the task keeps it.
    package let sentLines: (@Sendable () -> [String])?

    package init(
        timings: TransactionTimings, request: URLRequest, response: URLResponse?,
        sentLines: (@Sendable () -> [String])? = nil
    ) {
        self.timings = timings
        self.request = request
        self.response = response
        self.sentLines = sentLines
    }

    /// - Parameter anchor: a moment on both clocks.
    package func metrics(_ anchor: WallClockAnchor) -> URLSessionTaskTransactionMetrics {
        URLSessionTaskTransactionMetrics(request: request, response: response, timings: timings, anchor: anchor)
    }
}
