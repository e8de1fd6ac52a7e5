import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The coded form of a task's metrics, for the journal of background sessions and for other processes.
package struct TransferMetrics: Codable, Sendable {
    package var transactions: [TransferTransaction]
    package var start: Date
    package var end: Date
    package var redirectCount: Int

    package init(_ metrics: URLSessionTaskMetrics) {
        transactions = metrics.transactionMetrics.compactMap { TransferTransaction($0) }
        start = metrics.taskInterval.start
        end = metrics.taskInterval.end
        redirectCount = metrics.redirectCount
    }

    /// Adds the transactions of another attempt, and extends the interval to it.
    package mutating func append(_ later: TransferMetrics) {
        transactions += later.transactions
        (start, end) = (min(start, later.start), max(end, later.end))
        redirectCount &+= later.redirectCount
    }

    /// The metrics of a task that was created at a time, which may be long before its first attempt.
    func metrics(created: Date) -> URLSessionTaskMetrics {
        let start = min(start, end, created)
        return URLSessionTaskMetrics(
            transactionMetrics: transactions.compactMap(\.metrics),
            taskInterval: DateInterval(start: start, end: max(end, start)), redirectCount: redirectCount)
    }
}

/// The coded form of a transaction's metrics.
package struct TransferTransaction: Codable, Sendable {
    private static let pointCount = 11

    var request: TransferRequest
    var response: TransferResponse?
    /// The times of the transaction's points, in order; nil for a point that was not reached.
    var dates: [Date?]
    var counts: [Int64]
    var protocolName: String?
    var local: [String]?
    var remote: [String]?
    var tls: [UInt16]?
    var isReused: Bool
    var isProxied: Bool
    var isMultipath: Bool
    var fetchType: Int
    var resolutionProtocol: Int

    init?(_ metrics: URLSessionTaskTransactionMetrics) {
        // Metrics do not contain bodies.
        guard var request = TransferRequest(metrics.request) else { return nil }
        request.body = nil
        self.request = request
        response = metrics.response.flatMap { TransferResponse($0) }
        dates = [
            metrics.fetchStartDate, metrics.domainLookupStartDate, metrics.domainLookupEndDate,
            metrics.connectStartDate, metrics.secureConnectionStartDate, metrics.secureConnectionEndDate,
            metrics.connectEndDate, metrics.requestStartDate, metrics.requestEndDate, metrics.responseStartDate,
            metrics.responseEndDate,
        ]
        counts = [
            metrics.countOfRequestHeaderBytesSent, metrics.countOfRequestBodyBytesSent,
            metrics.countOfRequestBodyBytesBeforeEncoding, metrics.countOfResponseHeaderBytesReceived,
            metrics.countOfResponseBodyBytesReceived, metrics.countOfResponseBodyBytesAfterDecoding,
        ]
        protocolName = metrics.networkProtocolName
        local = metrics.localAddress.map { [$0] + (metrics.localPort.map { [$0] } ?? []) }
        remote = metrics.remoteAddress.map { [$0] + (metrics.remotePort.map { [$0] } ?? []) }
        tls = metrics.negotiatedTLSProtocolVersion.map {
            [$0.rawValue, metrics.negotiatedTLSCipherSuite?.rawValue ?? 0]
        }
        isReused = metrics.isReusedConnection
        isProxied = metrics.isProxyConnection
        isMultipath = metrics.isMultipath
        fetchType = metrics.resourceFetchType.rawValue
        resolutionProtocol = metrics.domainResolutionProtocol.rawValue
    }

    /// Nil where the value is not valid.
    var metrics: URLSessionTaskTransactionMetrics? {
        guard let request = request.request, dates.count == Self.pointCount, counts.count == 6 else { return nil }
        let first = dates.compactMap { $0 }.min() ?? Date(timeIntervalSinceReferenceDate: 0)
        let anchor = WallClockAnchor(date: first, monotonicTime: MonotonicTime(nanoseconds: 0))
        let times = dates.map { $0.map(anchor.time(of:)) }
        var connecting = ConnectTimings()
        (connecting.resolveStart, connecting.resolveEnd) = (times[1], times[2])
        (connecting.connectStart, connecting.connectEnd) = (times[3], times[6])
        (connecting.tlsStart, connecting.tlsEnd) = (times[4], times[5])
        var timings = TransactionTimings(fetchStart: times[0])
        (timings.requestStart, timings.requestEnd) = (times[7], times[8])
        (timings.responseStart, timings.responseEnd) = (times[9], times[10])
        (timings.requestHeaderBytesSent, timings.requestBodyBytesSent) = (counts[0], counts[1])
        (timings.requestBodyBytesBeforeEncoding, timings.responseHeaderBytesReceived) = (counts[2], counts[3])
        (timings.responseBodyBytesReceived, timings.responseBodyBytesAfterDecoding) = (counts[4], counts[5])
        timings.isReusedConnection = isReused
        if protocolName != nil || remote != nil || connecting.connectStart != nil {
            timings.connection = ConnectionMetrics(
                connecting, local: Self.endpoint(local), remote: Self.endpoint(remote), protocolName: protocolName,
                isProxied: isProxied,
                tls: tls.flatMap { $0.count == 2 ? TLSInfo(protocolVersion: $0[0], cipherSuite: $0[1]) : nil },
                isMultipath: isMultipath)
        }
        timings.resourceFetchType = URLSessionTaskMetrics.ResourceFetchType(rawValue: fetchType) ?? .unknown
        timings.domainResolutionProtocol =
            URLSessionTaskMetrics.DomainResolutionProtocol(rawValue: resolutionProtocol) ?? .unknown
        return URLSessionTaskTransactionMetrics(
            request: request, response: response?.response, timings: timings, anchor: anchor)
    }

    private static func endpoint(_ parts: [String]?) -> LoadMetrics.Endpoint? {
        guard let parts, let address = parts.first else { return nil }
        return LoadMetrics.Endpoint(address: address, port: parts.dropFirst().first.flatMap { UInt16($0) })
    }
}
