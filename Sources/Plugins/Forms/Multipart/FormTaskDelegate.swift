import Foundation
import LoadingKit

/// Supplies a form's body again where it has to be sent again. All other calls go to the program's delegate for the
/// load, or otherwise to the session's.
final class FormTaskDelegate: NSObject, URLSessionTaskDelegate {
    private let body: MultipartBody
    private let failure: FormFailure
    private let own: (any URLSessionTaskDelegate)?

    /// - Parameter own: the program's delegate for the load. Methods that it lacks are called on the session's.
    init(_ body: MultipartBody, _ failure: FormFailure, next own: (any URLSessionTaskDelegate)?) {
        (self.body, self.failure, self.own) = (body, failure, own)
    }

    private func next(_ session: URLSession) -> (any URLSessionTaskDelegate)? {
        own ?? (session.delegate as? any URLSessionTaskDelegate)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(body.makeStream(failure)) }

    // MARK: Forwarded calls

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        next(session)?.urlSession(session, didCreateTask: task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard let next = next(session) else { return completionHandler(.continueLoading, nil) }
        next.urlSession(session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        next(session)?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        next(session)?.urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let next = next(session) else { return completionHandler(request) }
        next.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let next = next(session) else { return completionHandler(.performDefaultHandling, nil) }
        next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        next(session)?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        next(session)?.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        next(session)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}
