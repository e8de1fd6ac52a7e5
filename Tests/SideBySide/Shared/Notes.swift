import TestSupport

/// A delegate that writes down what it is told.
class Notes: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {  // constants
    let events = Recorder<String>()
    private let disposition: URLSession.ResponseDisposition
    private let follows: Bool
    private let credential: URLCredential?
    private let streamBody: String?
    private let notesMetrics: Bool

    init(
        _ disposition: URLSession.ResponseDisposition = .allow, follows: Bool = true, credential: URLCredential? = nil,
        streamBody: String? = nil, notesMetrics: Bool = false
    ) {
        self.disposition = disposition
        self.follows = follows
        self.credential = credential
        self.streamBody = streamBody
        self.notesMetrics = notesMetrics
    }

    func untilEnd() async -> String {
        await until { $0.hasPrefix("complete") }
    }

    func until(_ isLast: (String) -> Bool) async -> String {
        await events.contents { $0.contains(where: isLast) }.joined(separator: ", ")
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        events.append("invalid \(shown(error))")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        events.append("redirect \(response.statusCode) \(shown(request.httpMethod)) \(shown(request.url?.path))")
        completionHandler(follows ? request : nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        events.append("challenge \(challenge.previousFailureCount) \(space.authenticationMethod) \(shown(space.realm))")
        completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        events.append("stream")
        completionHandler(streamBody.map { InputStream(data: Data($0.utf8)) })
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        events.append("sent \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events.append("response \(shown((response as? HTTPURLResponse)?.statusCode))")
        completionHandler(disposition)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        events.append("data \(shown(data))")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        events.append("download")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        events.append("file \(shown(try? Data(contentsOf: location)))")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        events.append("wrote \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        if notesMetrics { events.append("metrics") }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.append("complete \(shown(error))")
    }
}

/// A delegate with a method in its asynchronous form.
final class AsynchronousNotes: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // constants
    private let events = Recorder<String>()
    private let end = Signal()

    func untilEnd() async -> String {
        await end.wait()
        return events.snapshot.joined(separator: ", ")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        events.append("redirect \(response.statusCode)")
        return nil
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.append(shown((task.response as? HTTPURLResponse)?.statusCode))
        end.fire()
    }
}
