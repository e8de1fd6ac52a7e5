import Foundation
import LoadingKitPrimitives

/// What a task notes of a load, whose handler may say nothing of it for the metrics: one of a scheme without a network.
final class LoadNotes {
    private let request: URLRequest
    private let transactionCount: Int
    private var response: URLResponse?
    var timings = TransactionTimings()

    init(_ request: URLRequest, _ now: MonotonicTime, transactionCount: Int) {
        self.request = request
        self.transactionCount = transactionCount
        timings.fetchStart = now
    }

    func note(_ response: URLResponse, _ now: MonotonicTime) {
        self.response = response
        if timings.responseStart == nil { timings.responseStart = now }
    }

    /// The load's transaction; nil where its handler has told of one itself.
    func record(transactionCount: Int) -> TransactionRecord? {
        guard transactionCount == self.transactionCount else { return nil }
        return TransactionRecord(timings: timings, request: request, response: response)
    }
}
