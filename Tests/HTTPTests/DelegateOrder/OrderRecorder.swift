import Foundation
import LoadingKit
import TestSupport

/// A delegate of every method, which records their order by name. Calls of one name that follow each other, such as a
/// body's pieces, count once.
final class OrderRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, URLSessionStreamDelegate,
    @unchecked Sendable
{
    // Constants.

    /// What it says when it is asked.
    struct Answers: Sendable {
        var disposition = URLSession.ResponseDisposition.allow
        var followsRedirects = true
        var credential: URLCredential?
        /// Whether trust in a server is an event, and granted here.
        var grantsTrust = false
        var streamBody: String?
        /// Done when something is told, before it returns.
        var onEvent: (@Sendable (String, URLSessionTask) -> Void)?
    }

    let events = Recorder<String>()
    private let answers: Answers

    init(_ answers: Answers) { self.answers = answers }

    private func note(_ event: String, _ task: URLSessionTask? = nil) {
        events.append(event)
        if let task { answers.onEvent?(event, task) }
    }

    /// All that was told once this was, which begins so.
    func events(upTo last: String) async -> [String] {
        await events.contents { $0.contains { $0.hasPrefix(last) } }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { note("invalid") }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created", task) }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard answers.grantsTrust, let trust = challenge.protectionSpace.serverTrust else {
            return completionHandler(.performDefaultHandling, nil)
        }
        note("trust")
        completionHandler(.useCredential, URLCredential(trust: trust))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge", task)
        completionHandler(answers.credential == nil ? .performDefaultHandling : .useCredential, answers.credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        note("delayed", task)
        completionHandler(.continueLoading, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) { note("informational", task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect", task)
        completionHandler(answers.followsRedirects ? request : nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("stream", task)
        completionHandler(answers.streamBody.map { InputStream(data: Data($0.utf8)) })
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { noteOnce("sent", task) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response", dataTask)
        completionHandler(answers.disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        noteOnce("data", dataTask)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("cache", dataTask)
        completionHandler(proposedResponse)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) { note("download", dataTask) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) { note("become stream", streamTask) }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        note("read closed", streamTask)
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        note("write closed", streamTask)
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note("resumed", downloadTask) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { noteOnce("wrote", downloadTask) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { note("file", downloadTask) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("metrics", task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("complete \(((error as? URLError)?.code.rawValue).map { "\($0)" } ?? "ok")", task)
    }

    private func noteOnce(_ event: String, _ task: URLSessionTask) {
        if events.last == event { answers.onEvent?(event, task) } else { note(event, task) }
    }
}
