import Foundation
import LoadingKitCore

extension HAREntry {
    /// Adds the metrics of the request's transaction. Values that the metrics lack are not changed.
    mutating func add(_ metrics: URLSessionTaskTransactionMetrics) {
        if metrics.resourceFetchType == .localCache { return comment = "From the cache." }
        if let version = metrics.networkProtocolName {
            // Browsers' names: their importers display them unchanged.
            let name = version.hasPrefix("http/") ? version.uppercased() : version
            (request.httpVersion, response.httpVersion) = (name, name)
        }
        serverIPAddress = metrics.remoteAddress ?? serverIPAddress
        connection = metrics.localPort ?? connection
        if metrics.requestStartDate != nil {
            request.headersSize = Int(clamping: metrics.countOfRequestHeaderBytesSent)
            request.bodySize = Int(clamping: metrics.countOfRequestBodyBytesBeforeEncoding)
        }
        if metrics.responseStartDate != nil {
            response.headersSize = Int(clamping: metrics.countOfResponseHeaderBytesReceived)
            response.bodySize = Int(clamping: metrics.countOfResponseBodyBytesReceived)
        }
        timings = HARTimings(metrics) ?? timings
        time = timings.total
    }
}

extension HARTimings {
    /// Nil where the transaction was not sent over a network.
    init?(_ metrics: URLSessionTaskTransactionMetrics) {
        guard let sent = metrics.requestStartDate, let answered = metrics.responseStartDate else { return nil }
        self.init()
        func milliseconds(_ start: Date?, _ end: Date?) -> Double? {
            guard let start, let end else { return nil }
            return (max(end.timeIntervalSince(start), 0) * 1_000_000).rounded() / 1_000
        }
        let firstStep = metrics.domainLookupStartDate ?? metrics.connectStartDate ?? sent
        blocked = milliseconds(metrics.fetchStartDate, firstStep) ?? -1
        dns = milliseconds(metrics.domainLookupStartDate, metrics.domainLookupEndDate) ?? -1
        connect = milliseconds(metrics.connectStartDate, metrics.connectEndDate) ?? -1
        ssl = milliseconds(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate) ?? -1
        // The response may begin before the request's end. The time that both have is the response's.
        let sendingEnd = metrics.requestEndDate.map { min($0, answered) }
        send = milliseconds(sent, sendingEnd) ?? 0
        wait = milliseconds(sendingEnd ?? sent, answered) ?? 0
        receive = milliseconds(answered, metrics.responseEndDate) ?? 0
    }
}
