import Foundation
import LoadingKit
import TestSupport

/// Records the order of a delegate's calls by name. Calls of one name that follow each other, such as a body's pieces, count
/// once. It is no delegate itself: those below are, each by one form of the methods that ask.
class OrderRecorder: NSObject, @unchecked Sendable {  // constants
    /// The delegate's answers.
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

    fileprivate func answer(_ challenge: URLAuthenticationChallenge) -> ChallengeNotes.Answer {
        guard answers.grantsTrust, let trust = challenge.protectionSpace.serverTrust else {
            return (.performDefaultHandling, nil)
        }
        note("trust")
        return (.useCredential, URLCredential(trust: trust))
    }

    fileprivate func answerChallenge(of task: URLSessionTask) -> ChallengeNotes.Answer {
        note("challenge", task)
        return (answers.credential == nil ? .performDefaultHandling : .useCredential, answers.credential)
    }

    fileprivate func answerDelay(of task: URLSessionTask) -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        note("delayed", task)
        return (.continueLoading, nil)
    }

    fileprivate func answerRedirect(of task: URLSessionTask, to request: URLRequest) -> URLRequest? {
        note("redirect", task)
        return answers.followsRedirects ? request : nil
    }

    fileprivate func bodyStream(of task: URLSessionTask) -> InputStream? {
        note("stream", task)
        return answers.streamBody.map { InputStream(data: Data($0.utf8)) }
    }

    fileprivate func disposition(of task: URLSessionTask) -> URLSession.ResponseDisposition {
        note("response", task)
        return answers.disposition
    }

    fileprivate func stored(_ response: CachedURLResponse, of task: URLSessionTask) -> CachedURLResponse? {
        note("cache", task)
        return response
    }

    /// All that was told once this was, which begins so.
    func events(upTo last: String) async -> [String] {
        await events.contents { $0.contains { $0.hasPrefix(last) } }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { note("invalid") }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created", task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) { note("informational", task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { noteOnce("sent", task) }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        noteOnce("data", dataTask)
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

/// A delegate of every method, in the form with a completion handler.
final class CompletionOrderRecorder: OrderRecorder, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionStreamDelegate, @unchecked Sendable
{
    // As its superclass.

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = answer(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let (disposition, credential) = answerChallenge(of: task)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        let (disposition, request) = answerDelay(of: task)
        completionHandler(disposition, request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(answerRedirect(of: task, to: request)) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(bodyStream(of: task)) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(disposition(of: dataTask)) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { completionHandler(stored(proposedResponse, of: dataTask)) }
}

/// A delegate of every method, in the asynchronous form. It answers some time after it has noted that it was asked; but for
/// what is to be stored, which the task's end does not wait for.
final class AsynchronousOrderRecorder: OrderRecorder, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionStreamDelegate, @unchecked Sendable
{
    // As its superclass.

    private func later<Answer>(_ answer: Answer) async -> Answer {
        for _ in 0..<10 { await Task.yield() }
        return answer
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { await later(answer(challenge)) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { await later(answerChallenge(of: task)) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) { await later(answerDelay(of: task)) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? { await later(answerRedirect(of: task, to: request)) }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        await later(bodyStream(of: task))
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition { await later(disposition(of: dataTask)) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? { stored(proposedResponse, of: dataTask) }
}
