import Foundation
import LoadingKit
import LoadingKitPrimitives
import TestSupport

/// A delegate of every kind of task that records what it is told, as text.
class TransferRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    /// Of what has more to it, that is recorded before: who waits for an event finds it.
    let events = Recorder<String>()
    /// The contents of the downloaded files when the delegate got them.
    let files = Recorder<Data>()
    let locations = Recorder<URL>()
    let errors = Recorder<URLError>()
    let written = Recorder<[Int64]>()
    let streamTasks = Recorder<URLSessionStreamTask>()
    let metrics = Recorder<URLSessionTaskMetrics>()
    let disposition: URLSession.ResponseDisposition
    let streams: Guarded<[@Sendable () -> InputStream?]>
    let delayed: URLSession.DelayedRequestDisposition
    let other: URLRequest?

    init(
        disposition: URLSession.ResponseDisposition = .allow, streams: [@Sendable () -> InputStream?] = [],
        delayed: URLSession.DelayedRequestDisposition = .continueLoading, _ other: URLRequest? = nil
    ) {
        self.disposition = disposition
        self.streams = Guarded(streams)
        self.delayed = delayed
        self.other = other
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        events.append("delayed \(request.url?.path ?? "")")
        completionHandler(delayed, other)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        events.append("informational \(response.statusCode) \(response.value(forHTTPHeaderField: "Link") ?? "")")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events.append("response")
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        files.append(data)
        events.append("data")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        events.append("become \(dataTask.taskIdentifier == downloadTask.taskIdentifier)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        streamTasks.append(streamTask)
        events.append("become stream \(dataTask.taskIdentifier == streamTask.taskIdentifier)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        events.append("stream")
        let next = streams.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        completionHandler(next?())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        events.append("sent \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        locations.append(location)
        files.append((try? Data(contentsOf: location)) ?? Data("unreadable".utf8))
        events.append("file")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        written.append([bytesWritten, totalBytesWritten, totalBytesExpectedToWrite])
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        events.append("resumed at \(fileOffset) of \(expectedTotalBytes)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.append(metrics)
        events.append("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error = error as? URLError { errors.append(error) }
        events.append("complete \(((error as? URLError)?.code.rawValue).map { "\($0)" } ?? "ok")")
    }

    /// The record of the task after its end.
    func all() async -> [String] { await events.contents { $0.last?.hasPrefix("complete") == true } }
}
