import Foundation

/// How long a task took, and the transactions that it was made of: one for each request on the way, redirects included.
///
/// Follows Apple's `URLSessionTaskMetrics`.
public final class URLSessionTaskMetrics: NSObject, Sendable {
    /// Where a resource came from.
    public enum ResourceFetchType: Int, Sendable {
        /// It is not known.
        case unknown
        /// It was loaded over the network.
        case networkLoad
        /// The server pushed it.
        case serverPush
        /// The cache had it.
        case localCache
    }

    /// How a host's name was resolved.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// It is not known, or there was nothing to resolve.
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
    public let transactionMetrics: [URLSessionTaskTransactionMetrics]

    /// From the task's creation to its completion.
    public let taskInterval: DateInterval

    /// The number of redirects that were followed.
    public let redirectCount: Int

    package init(
        transactionMetrics: [URLSessionTaskTransactionMetrics], taskInterval: DateInterval, redirectCount: Int
    ) {
        self.transactionMetrics = transactionMetrics
        self.taskInterval = taskInterval
        self.redirectCount = redirectCount
    }

    /// The totals in a line.
    public override var description: String {
        "<URLSessionTaskMetrics> (Task Interval) \(taskInterval.duration) s, (Redirect Count) \(redirectCount), "
            + "(Transactions) \(transactionMetrics.count)"
    }
}
