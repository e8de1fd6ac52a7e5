import Foundation
import LoadingKit
import TestSupport

/// A delegate that records what it is told, as text, and lets a test answer.
final class EventRecorder: NSObject, URLSessionDataDelegate {
    let events = Recorder<String>()
    let disposition: @Sendable (URLSession) -> URLSession.ResponseDisposition
    let onResponse = Signal()
    let metrics = Recorder<URLSessionTaskMetrics>()

    init(disposition: @escaping @Sendable (URLSession) -> URLSession.ResponseDisposition = { _ in .allow }) {
        self.disposition = disposition
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { events.append("created") }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events.append("response")
        onResponse.fire()
        completionHandler(disposition(session))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        events.append("data \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        events.append("sent \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        events.append("metrics")
        self.metrics.append(metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.append("complete \(((error as? URLError)?.code.rawValue).map { "\($0)" } ?? "ok")")
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { events.append("invalid") }

    /// What was recorded once the last event is this one.
    func events(upTo last: String) async -> [String] {
        let events = await events.contents { $0.contains(last) }
        return events.firstIndex(of: last).map { Array(events[...$0]) } ?? events
    }
}
