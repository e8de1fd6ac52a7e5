import Foundation
import LoadingKit
import TestSupport

/// A question that a delegate answers by a method of two forms. The answers here differ from what becomes of it without one.
enum FormQuestion: String, CaseIterable, Sendable {
    case sessionChallenge, taskChallenge, delayedRequest, redirection, newBodyStream, response, caching
}

/// Notes which form of which delegate is called. No delegate itself: what a subclass adds would not be found.
class FormNotes: NSObject, @unchecked Sendable {  // constants
    static let credential = URLCredential(user: "user", password: "pass", persistence: .none)

    let name: String
    let question: FormQuestion
    let calls: Recorder<String>
    let ends: Recorder<URLError.Code?>

    init(
        _ name: String, _ question: FormQuestion, _ calls: Recorder<String>,
        _ ends: Recorder<URLError.Code?> = Recorder()
    ) {
        self.name = name
        self.question = question
        self.calls = calls
        self.ends = ends
    }

    /// Whether this is the question that the test is about; the others are answered as if nobody had been asked.
    func isAsked(_ asked: FormQuestion, _ form: String) -> Bool {
        if asked == question { calls.append("\(name) \(form)") }
        return asked == question
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.append((error as? URLError)?.code)
    }
}

/// The methods in the form with a completion handler.
class CompletionForms: FormNotes, @unchecked Sendable {  // as its superclass
    private func isAsked(_ asked: FormQuestion, _ session: URLSession) -> Bool {
        isAsked(asked, OperationQueue.current === session.delegateQueue ? "completion" : "off the queue")
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(
            isAsked(.sessionChallenge, session) ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.serverTrust == nil, isAsked(.taskChallenge, session) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        completionHandler(.useCredential, Self.credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) { completionHandler(isAsked(.delayedRequest, session) ? .cancel : .continueLoading, nil) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(isAsked(.redirection, session) ? nil : request) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(isAsked(.newBodyStream, session) ? InputStream(data: Data("given".utf8)) : nil) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(isAsked(.response, session) ? .cancel : .allow) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { completionHandler(isAsked(.caching, session) ? nil : proposedResponse) }
}

/// The methods in the asynchronous form.
class AsynchronousForms: FormNotes, @unchecked Sendable {  // as its superclass
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await Task.yield()
        return (isAsked(.sessionChallenge, "async") ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard challenge.protectionSpace.serverTrust == nil, isAsked(.taskChallenge, "async") else {
            return (.performDefaultHandling, nil)
        }
        return (.useCredential, Self.credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        (isAsked(.delayedRequest, "async") ? .cancel : .continueLoading, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await Task.yield()
        return isAsked(.redirection, "async") ? nil : request
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        isAsked(.newBodyStream, "async") ? InputStream(data: Data("given".utf8)) : nil
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition { isAsked(.response, "async") ? .cancel : .allow }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? { isAsked(.caching, "async") ? nil : proposedResponse }
}

final class NeitherDelegate: FormNotes, URLSessionDataDelegate, @unchecked Sendable {}  // as its superclass

final class CompletionDelegate: CompletionForms, URLSessionDataDelegate, @unchecked Sendable {}  // as its superclass

final class AsynchronousDelegate: AsynchronousForms, URLSessionDataDelegate, @unchecked Sendable {}  // the same

final class BothDelegate: CompletionForms, URLSessionDataDelegate, @unchecked Sendable {  // as its superclass
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        _ = isAsked(.sessionChallenge, "async")
        return (.performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        _ = isAsked(.taskChallenge, "async")
        return (.performDefaultHandling, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        _ = isAsked(.delayedRequest, "async")
        return (.continueLoading, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        _ = isAsked(.redirection, "async")
        return request
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        _ = isAsked(.newBodyStream, "async")
        return nil
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        _ = isAsked(.response, "async")
        return .allow
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        _ = isAsked(.caching, "async")
        return proposedResponse
    }
}
