import Foundation
import LoadingKit

/// Gives a task's metrics when they come, which may be a moment after the task's result.
final class MetricsCollector: NSObject, URLSessionTaskDelegate {
    private let stream: AsyncStream<URLSessionTaskMetrics>
    private let continuation: AsyncStream<URLSessionTaskMetrics>.Continuation

    override init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        continuation.yield(metrics)
        continuation.finish()
    }

    /// Nil when the task collected none.
    func metrics() async -> URLSessionTaskMetrics? {
        for await metrics in stream { return metrics }
        return nil
    }
}
