import Foundation

/// The duration of a task, and its transactions: one for each request, including redirects.
///
/// Follows Apple's `URLSessionTaskMetrics`.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {  // set before they are shared
    /// The source of a resource.
    public enum ResourceFetchType: Int, Sendable {
        /// The source is not known.
        case unknown
        /// It was loaded over the network.
        case networkLoad
        /// The server pushed it.
        case serverPush
        /// The cache had the resource.
        case localCache
    }

    /// The protocol by which a host's name was resolved.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// The protocol is not known, or there was nothing to resolve.
        case unknown
        /// Plain DNS over UDP.
        case udp
        /// Plain DNS over TCP.
        case tcp
        /// DNS over TLS (RFC 7858).
        case tls
        /// DNS over HTTPS (RFC 8484).
        case https
    }

    /// The transactions, in the order in which they started.
    public private(set) var transactionMetrics: [URLSessionTaskTransactionMetrics] = []

    /// From the task's creation to its completion.
    public private(set) var taskInterval = DateInterval()

    /// The number of redirects that were followed.
    public private(set) var redirectCount = 0

    /// Metrics of no transaction and no time, for tests of delegates.
    public override init() { super.init() }

    /// Not a designated initializer: a program's subclass could not override it, and would then not inherit the other.
    package convenience init(
        transactionMetrics: [URLSessionTaskTransactionMetrics], taskInterval: DateInterval, redirectCount: Int
    ) {
        self.init()
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }

    /// The metrics of a task that was created at a time, and ends now.
    static func withoutTransactions(_ created: Date) -> URLSessionTaskMetrics {
        let now = Date()
        return URLSessionTaskMetrics(
            transactionMetrics: [], taskInterval: DateInterval(start: min(created, now), end: now), redirectCount: 0)
    }

    /// The totals on one line, and the phases of each transaction as bars on a common scale, as `loadkit --timing` draws them.
    /// URLs are without passwords.
    open override var description: String {
        "<URLSessionTaskMetrics> (Task Interval) \(taskInterval.duration) s, (Redirect Count) \(redirectCount), "
            + "(Transactions) \(transactionMetrics.count)\n"
            + (transactionMetrics.isEmpty ? "" : Waterfall(Timeline.all(self, nil), width: 100).text)
    }
}
