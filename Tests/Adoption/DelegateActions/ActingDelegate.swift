import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

/// A delegate of every method: it notes each call about the session's first task by name, and does something in one of them.
/// Calls of one name that follow each other, such as a body's pieces, count once.
final class ActingDelegate: NSObject, @unchecked Sendable {  // constants
    let calls = Recorder<String>()
    private let disposition: URLSession.ResponseDisposition
    private let notes: @Sendable (String) -> Bool
    private let willReturn: @Sendable (String, URLSession, URLSessionTask?) -> Void
    private let last = Box("")

    /// - Parameters:
    ///   - notes: whether a method is looked at.
    ///   - willReturn: called in each method, when it is noted.
    init(
        _ disposition: URLSession.ResponseDisposition, notes: @escaping @Sendable (String) -> Bool,
        willReturn: @escaping @Sendable (String, URLSession, URLSessionTask?) -> Void
    ) {
        self.disposition = disposition
        self.notes = notes
        self.willReturn = willReturn
    }

    private func note(_ call: String, _ session: URLSession, _ task: URLSessionTask? = nil, detail: String = "") {
        guard task == nil || task?.taskIdentifier == 1, notes(call), last.value != call else { return }
        last.value = call
        calls.append(call + detail)
        willReturn(call, session, task)
    }
}

extension ActingDelegate: URLSessionDataDelegate {
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { note("invalid", session) }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("trust", session)
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created", session, task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        note("delayed", session, task)
        completionHandler(.continueLoading, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) { note("informational", session, task) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect", session, task)
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge", session, task)
        completionHandler(.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        note("stream", session, task)
        completionHandler(InputStream(data: Data("body".utf8)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { note("sent", session, task) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note("metrics", session, task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("end", session, task, detail: error.map { " \(($0 as? URLError)?.code.rawValue ?? 0)" } ?? "")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response", session, dataTask)
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data", session, dataTask)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) { note("became", session, downloadTask) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        note("became", session, streamTask)
        streamTask.readData(ofMinLength: 100, maxLength: 100, timeout: 0) { _, _, _ in }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        note("cache", session, dataTask)
        completionHandler(proposedResponse)
    }
}

extension ActingDelegate: URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { note("file", session, downloadTask) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { note("wrote", session, downloadTask) }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note("resumed", session, downloadTask) }
}

extension ActingDelegate: URLSessionStreamDelegate {
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        note("read closed", session, streamTask)
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        note("write closed", session, streamTask)
    }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) { note("captured", session, streamTask) }
}

extension ActingDelegate: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) { note("opened", session, webSocketTask) }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { note("closed", session, webSocketTask) }
}
