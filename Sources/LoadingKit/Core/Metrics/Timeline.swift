import Foundation

/// The times of one transaction: plain values, which can be drawn regardless of their source.
package struct Timeline: Sendable, Hashable {
    /// The phases of a transaction, in order.
    package enum Phase: String, CaseIterable, Sendable {
        case resolve
        case connect
        case tls = "TLS"
        case request
        case wait
        case receive
        /// The whole load: without a network, or where it failed before any phase could be distinguished.
        case load
    }

    package struct Span: Sendable, Hashable {
        package var phase: Phase
        /// Seconds since the origin, as below.
        package var start: Double
        package var end: Double

        package init(phase: Phase, start: Double, end: Double) {
            self.phase = phase
            self.start = start
            self.end = end
        }
    }

    /// The title, such as `GET https://localhost:8080/`.
    package var title: String
    /// The outcome, such as `200 OK`.
    package var outcome: String
    /// The connection, such as `http/1.1 over TLSv1.3 to 127.0.0.1:8080, new connection`; empty where there was none.
    package var connection: String
    package var spans: [Span]
    /// Seconds since the start of the load, or of the first of several.
    package var start: Double
    package var end: Double

    package init(title: String, outcome: String, connection: String, spans: [Span], start: Double, end: Double) {
        self.title = title
        self.outcome = outcome
        self.connection = connection
        self.spans = spans
        self.start = start
        self.end = end
    }
}

extension Timeline {
    /// One timeline for each transaction of a load; one for the whole load where it had none, for example without a
    /// network.
    ///
    /// - Parameters:
    ///   - request: the request of a load without transactions.
    ///   - origin: the time that is 0; by default the load's start.
    package static func all(
        _ metrics: URLSessionTaskMetrics, _ request: URLRequest?, since origin: Date? = nil
    ) -> [Timeline] {
        let origin = origin ?? metrics.taskInterval.start
        guard !metrics.transactionMetrics.isEmpty else {
            let start = max(metrics.taskInterval.start.timeIntervalSince(origin), 0)
            let end = start + metrics.taskInterval.duration
            return [
                Timeline(
                    title: request.map(title) ?? "no request", outcome: "", connection: "",
                    spans: [Span(phase: .load, start: start, end: end)], start: start, end: end)
            ]
        }
        return metrics.transactionMetrics.map { Timeline($0, since: origin, until: metrics.taskInterval.end) }
    }

    private init(_ transaction: URLSessionTaskTransactionMetrics, since origin: Date, until end: Date) {
        let seconds = { (date: Date) in max(date.timeIntervalSince(origin), 0) }
        let spans = Self.dates(transaction).compactMap { phase, start, end -> Span? in
            guard let start, let end, end >= start else { return nil }
            return Span(phase: phase, start: seconds(start), end: seconds(end))
        }
        let start = transaction.fetchStartDate.map(seconds) ?? spans.first?.start ?? 0
        let end = spans.last?.end ?? seconds(end)
        self.init(
            title: Self.title(transaction.request),
            outcome: (transaction.response as? HTTPURLResponse).map { $0.statusText } ?? "",
            connection: Self.connection(transaction),
            spans: spans.isEmpty ? [Span(phase: .load, start: start, end: end)] : spans, start: start, end: end)
    }

    private static func dates(_ transaction: URLSessionTaskTransactionMetrics) -> [(Phase, Date?, Date?)] {
        [
            (.resolve, transaction.domainLookupStartDate, transaction.domainLookupEndDate),
            (
                .connect, transaction.connectStartDate,
                transaction.secureConnectionStartDate ?? transaction.connectEndDate
            ),
            (.tls, transaction.secureConnectionStartDate, transaction.secureConnectionEndDate),
            (.request, transaction.requestStartDate, transaction.requestEndDate),
            (.wait, transaction.requestEndDate, transaction.responseStartDate),
            (.receive, transaction.responseStartDate, transaction.responseEndDate),
        ]
    }

    private static func title(_ request: URLRequest) -> String {
        "\(request.httpMethod ?? "GET") \(request.url?.withoutPassword ?? "")"
    }

    private static func connection(_ transaction: URLSessionTaskTransactionMetrics) -> String {
        guard let address = transaction.remoteAddress, let port = transaction.remotePort else { return "" }
        let host = address.contains(":") ? "[\(address)]" : address
        let secure = transaction.negotiatedTLSProtocolVersion.map { " over \($0.standardName)" } ?? ""
        let name = transaction.networkProtocolName ?? "http/1.1"
        return "\(name)\(secure) to \(host):\(port), \(transaction.isReusedConnection ? "reused" : "new") connection"
    }
}

extension HTTPURLResponse {
    /// The status with its usual phrase, such as `404 Not Found`.
    package var statusText: String { "\(statusCode) \(Self.localizedString(forStatusCode: statusCode))" }
}

extension tls_protocol_version_t {
    /// The version's name in OpenSSL and curl.
    package var standardName: String {
        switch self {
        case .TLSv10: "TLSv1.0"
        case .TLSv11: "TLSv1.1"
        case .TLSv12: "TLSv1.2"
        case .TLSv13: "TLSv1.3"
        case .DTLSv10: "DTLSv1.0"
        case .DTLSv12: "DTLSv1.2"
        }
    }
}

extension URL {
    /// The text without the password, which must not be displayed.
    package var withoutPassword: String {
        guard password(percentEncoded: true) != nil,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: false)
        else { return absoluteString }
        components.password = nil
        return components.string ?? scheme ?? ""
    }
}
