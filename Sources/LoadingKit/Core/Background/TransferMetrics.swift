import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A task's metrics as they are kept in the journal of background sessions, and sent to another process.
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

    /// Of a task that was begun several times: the transactions of all attempts, over the time from the first to the last.
    package mutating func append(_ later: TransferMetrics) {
        transactions += later.transactions
        (start, end) = (min(start, later.start), max(end, later.end))
        redirectCount += later.redirectCount
    }

    package var metrics: URLSessionTaskMetrics {
        URLSessionTaskMetrics(
            transactionMetrics: transactions.compactMap(\.metrics),
            taskInterval: DateInterval(start: min(start, end), end: end), redirectCount: redirectCount)
    }
}

/// One transaction's metrics: its dates as seconds after the first of them.
package struct TransferTransaction: Codable, Sendable {
    var request: TransferRequest
    var response: TransferResponse?
    var firstDate: Date
    /// By the names of ``Point``.
    var seconds: [String: TimeInterval]
    var counts: [Int64]
    var protocolName: String?
    var local: [String]?
    var remote: [String]?
    var tls: [UInt16]?
    var isReused: Bool
    var isProxied: Bool
    /// Nil: false.
    var isMultipath: Bool?
    var fetchType: Int
    var resolutionProtocol: Int

    private enum Point: String, CaseIterable {
        case fetchStart, resolveStart, resolveEnd, connectStart, tlsStart, tlsEnd, connectEnd
        case requestStart, requestEnd, responseStart, responseEnd
    }

    init?(_ metrics: URLSessionTaskTransactionMetrics) {
        // Bodies have no place in metrics.
        guard var request = TransferRequest(metrics.request) else { return nil }
        request.body = nil
        self.request = request
        response = metrics.response.flatMap { TransferResponse($0) }
        let dates = Point.allCases.map { ($0, Self.date($0, of: metrics)) }
        let first = dates.compactMap(\.1).min() ?? Date(timeIntervalSinceReferenceDate: 0)
        firstDate = first
        seconds = [:]
        for (point, date) in dates { seconds[point.rawValue] = date?.timeIntervalSince(first) }
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
        isMultipath = metrics.isMultipath ? true : nil
        fetchType = metrics.resourceFetchType.rawValue
        resolutionProtocol = metrics.domainResolutionProtocol.rawValue
    }

    private static func date(_ point: Point, of metrics: URLSessionTaskTransactionMetrics) -> Date? {
        switch point {
        case .fetchStart: metrics.fetchStartDate
        case .resolveStart: metrics.domainLookupStartDate
        case .resolveEnd: metrics.domainLookupEndDate
        case .connectStart: metrics.connectStartDate
        case .tlsStart: metrics.secureConnectionStartDate
        case .tlsEnd: metrics.secureConnectionEndDate
        case .connectEnd: metrics.connectEndDate
        case .requestStart: metrics.requestStartDate
        case .requestEnd: metrics.requestEndDate
        case .responseStart: metrics.responseStartDate
        case .responseEnd: metrics.responseEndDate
        }
    }

    var metrics: URLSessionTaskTransactionMetrics? {
        guard let request = request.request else { return nil }
        let anchor = WallClockAnchor(date: firstDate, monotonicTime: MonotonicTime(nanoseconds: 0))
        func time(_ point: Point) -> MonotonicTime? {
            guard let seconds = seconds[point.rawValue], seconds.isFinite, seconds >= 0, seconds < 1e9 else {
                return nil
            }
            return anchor.monotonicTime.advanced(bySeconds: seconds)
        }
        var connecting = ConnectTimings()
        (connecting.resolveStart, connecting.resolveEnd) = (time(.resolveStart), time(.resolveEnd))
        (connecting.connectStart, connecting.connectEnd) = (time(.connectStart), time(.connectEnd))
        (connecting.tlsStart, connecting.tlsEnd) = (time(.tlsStart), time(.tlsEnd))
        var timings = TransactionTimings(fetchStart: time(.fetchStart))
        (timings.requestStart, timings.requestEnd) = (time(.requestStart), time(.requestEnd))
        (timings.responseStart, timings.responseEnd) = (time(.responseStart), time(.responseEnd))
        timings.isReusedConnection = isReused
        if protocolName != nil || remote != nil || connecting.connectStart != nil {
            timings.connection = ConnectionMetrics(
                connecting, local: Self.endpoint(local), remote: Self.endpoint(remote), protocolName: protocolName,
                isProxied: isProxied, tls: Self.tlsInfo(tls), isMultipath: isMultipath ?? false)
        }
        if counts.count == 6 {
            (timings.requestHeaderBytesSent, timings.requestBodyBytesSent) = (counts[0], counts[1])
            (timings.requestBodyBytesBeforeEncoding, timings.responseHeaderBytesReceived) = (counts[2], counts[3])
            (timings.responseBodyBytesReceived, timings.responseBodyBytesAfterDecoding) = (counts[4], counts[5])
        }
        timings.resourceFetchType = URLSessionTaskMetrics.ResourceFetchType(rawValue: fetchType) ?? .unknown
        timings.domainResolutionProtocol =
            URLSessionTaskMetrics.DomainResolutionProtocol(rawValue: resolutionProtocol) ?? .unknown
        return URLSessionTaskTransactionMetrics(
            request: request, response: response?.response, timings: timings, anchor: anchor)
    }

    private static func tlsInfo(_ numbers: [UInt16]?) -> TLSInfo? {
        guard let numbers, numbers.count == 2 else { return nil }
        return TLSInfo(protocolVersion: numbers[0], cipherSuite: numbers[1])
    }

    private static func endpoint(_ parts: [String]?) -> LoadMetrics.Endpoint? {
        guard let parts, let address = parts.first else { return nil }
        return LoadMetrics.Endpoint(address: address, port: parts.dropFirst().first.flatMap { UInt16($0) })
    }
}
