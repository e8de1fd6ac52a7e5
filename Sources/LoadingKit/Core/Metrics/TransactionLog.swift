import Foundation
import LoadingKitPrimitives

/// The data for a task's metrics. Without a delegate only the redirects are logged.
struct TransactionLog {
    /// A load. Its handler may have no metrics to log, for example for a scheme without a network.
    private struct Load {
        let request: URLRequest
        let start: MonotonicTime
        let firstTransaction: Int
        var response: URLResponse?
        var responseStart: MonotonicTime?
        var responseEnd: MonotonicTime?

        mutating func didReceive(_ response: URLResponse, _ now: MonotonicTime) {
            self.response = response
            if responseStart == nil { responseStart = now }
        }

        var record: TransactionRecord {
            var timings = TransactionTimings(fetchStart: start)
            (timings.responseStart, timings.responseEnd) = (responseStart, responseEnd)
            return TransactionRecord(timings: timings, request: request, response: response)
        }
    }

    private(set) var redirectCount = 0
    /// The number of redirects since the task's sink last requested another part.
    var redirectsOfPart = 0
    private var transactions: [TransactionRecord] = []
    private var load: Load?

    mutating func append(_ transaction: TransactionRecord) { transactions.append(transaction) }

    mutating func loadDidBegin(_ request: URLRequest, _ now: MonotonicTime) {
        load = Load(request: request, start: now, firstTransaction: transactions.count)
    }

    mutating func didReceive(_ response: URLResponse, _ now: MonotonicTime) { load?.didReceive(response, now) }

    mutating func didRedirect(_ response: URLResponse, _ now: MonotonicTime) {
        redirectCount += 1
        redirectsOfPart += 1
        load?.didReceive(response, now)
    }

    mutating func loadDidFinish(_ now: MonotonicTime) { load?.responseEnd = now }

    /// Adds a transaction where the handler has logged none.
    mutating func loadDidEnd() {
        guard let load = load.take(), transactions.count == load.firstTransaction else { return }
        transactions.append(load.record)
    }

    /// - Parameters:
    ///   - anchor: the present.
    ///   - created: the time at which the task was created.
    func metrics(_ anchor: WallClockAnchor, created: Date) -> URLSessionTaskMetrics {
        URLSessionTaskMetrics(
            transactionMetrics: transactions.map { $0.metrics(anchor) },
            taskInterval: DateInterval(start: min(created, anchor.date), end: anchor.date),
            redirectCount: redirectCount)
    }
}
