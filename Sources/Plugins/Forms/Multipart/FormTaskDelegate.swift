import Foundation
import LoadingKit

/// Supplies a form's body again where it has to be sent again. The protocol's default methods pass all other calls on
/// to the session's delegate.
///
/// It has no method for challenges: otherwise each form would have a connection of its own over https.
final class FormBodyDelegate: NSObject, URLSessionTaskDelegate {
    private let body: MultipartBody
    private let failure: FormFailure

    init(_ body: MultipartBody, _ failure: FormFailure) { (self.body, self.failure) = (body, failure) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(body.makeStream(failure)) }
}

/// Supplies a form's body again where it has to be sent again. All other calls go to the program's delegate for the
/// load, whose default methods pass them on to the session's.
final class FormTaskDelegate: NSObject, URLSessionTaskDelegate {
    private let body: MultipartBody
    private let failure: FormFailure
    private let next: any URLSessionTaskDelegate

    /// - Parameter next: the program's delegate for the load.
    init(_ body: MultipartBody, _ failure: FormFailure, next: any URLSessionTaskDelegate) {
        (self.body, self.failure, self.next) = (body, failure, next)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(body.makeStream(failure)) }

    // MARK: Forwarded calls

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        next.urlSession(session, didCreateTask: task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        next.urlSession(session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        next.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        next.urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        next.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        next.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        next.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        next.urlSession(session, task: task, didCompleteWithError: error)
    }
}
