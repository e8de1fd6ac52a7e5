import Foundation
import LoadingKitTransport
import Synchronization

/// The delegates to which a task reports: its own, then the session's. Their protocols are determined once: the tasks
/// without a delegate of their own share one such object.
///
/// A method that the task's own delegate does not implement is called on the session's delegate: the protocols' default
/// implementations pass the call on (see `URLSession.delegate(after:)`).
final class TaskDelegates: Sendable {
    /// The delegate that is called first.
    let first: any URLSessionDelegate
    private let own: (any URLSessionTaskDelegate)?
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    private let download: (any URLSessionDownloadDelegate)?
    let stream: (any URLSessionStreamDelegate)?

    convenience init(own: any URLSessionTaskDelegate, shared: (any URLSessionDelegate)?) {
        self.init(first: own, own: own, shared: shared)
    }

    convenience init(shared: any URLSessionDelegate) { self.init(first: shared, own: nil, shared: shared) }

    private init(
        first: any URLSessionDelegate, own: (any URLSessionTaskDelegate)?, shared: (any URLSessionDelegate)?
    ) {
        self.first = first
        self.own = own
        self.task = own ?? (shared as? any URLSessionTaskDelegate)
        data = own as? any URLSessionDataDelegate ?? (shared as? any URLSessionDataDelegate)
        download = own as? any URLSessionDownloadDelegate ?? (shared as? any URLSessionDownloadDelegate)
        stream = own as? any URLSessionStreamDelegate ?? (shared as? any URLSessionStreamDelegate)
    }

    /// The task's own delegate, where it may get a challenge that concerns a connection. Nil where the session's
    /// delegate is known to answer such challenges, or the task's own delegate not to implement the method.
    func ownChallenged(_ core: SessionCore) -> (any URLSessionTaskDelegate)? {
        guard let own, !core.delegateAnswersChallenges.load(ordering: .relaxed) else { return nil }
        return AsynchronousForm.isKnownMissing(.taskChallenge, of: own) ? nil : own
    }

    /// Whether one of the delegates may receive the body of a data task.
    var takeData: Bool { data != nil }

    /// Whether a delegate may refuse the storage of a response: false only if all are known to lack the method.
    func mayRefuseCaching(in session: URLSession) -> Bool {
        [data, session.delegate as? any URLSessionDataDelegate].contains {
            $0.map { !AsynchronousForm.isKnownMissing(.caching, of: $0) } ?? false
        }
    }

    func willBegin(
        _ request: URLRequest, _ session: URLSession, _ task: URLSessionTask,
        _ decide: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard let delegate = self.task else { return decide(.continueLoading, nil) }
        delegate.urlSession(session, task: task, willBeginDelayedRequest: request, completionHandler: decide)
    }

    func didReceive(
        _ response: URLResponse, _ session: URLSession, _ task: URLSessionDataTask,
        _ decide: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let data else { return decide(.allow) }
        data.urlSession(session, dataTask: task, didReceive: response, completionHandler: decide)
    }

    func didReceive(_ piece: Data, _ session: URLSession, _ task: URLSessionDataTask) {
        data?.urlSession(session, dataTask: task, didReceive: piece)
    }

    func didWrite(
        _ count: Int64, _ session: URLSession, _ task: URLSessionDownloadTask, total: Int64, expected: Int64
    ) {
        download?.urlSession(
            session, downloadTask: task, didWriteData: count, totalBytesWritten: total,
            totalBytesExpectedToWrite: expected)
    }

    func didResume(_ session: URLSession, _ task: URLSessionDownloadTask, at offset: Int64, expected: Int64) {
        download?.urlSession(session, downloadTask: task, didResumeAtOffset: offset, expectedTotalBytes: expected)
    }

    func didFinish(_ session: URLSession, _ task: URLSessionDownloadTask, at location: URL) {
        download?.urlSession(session, downloadTask: task, didFinishDownloadingTo: location)
    }

    func willCache(
        _ response: CachedURLResponse, _ session: URLSession, _ task: URLSessionDataTask,
        _ decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let data else { return decide(response) }
        data.urlSession(session, dataTask: task, willCacheResponse: response, completionHandler: decide)
    }

    func willRedirect(
        _ session: URLSession, _ task: URLSessionTask, _ response: HTTPURLResponse, _ request: URLRequest,
        _ decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let delegate = self.task else { return decide(request) }
        delegate.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request, completionHandler: decide)
    }

    /// A challenge that concerns a connection goes to the session's delegate, which may leave it to the task's
    /// delegate. All other challenges go only to the task's delegate, as on Apple's systems.
    func didReceive(
        _ challenge: URLAuthenticationChallenge, _ session: URLSession, _ task: URLSessionTask,
        _ decide: @escaping ChallengeAnswer
    ) {
        guard challenge.protectionSpace.concernsSession, let shared = session.delegate else {
            return requestAnswer(ofTasks: challenge, session, task, decide)
        }
        let course = PendingChallenge()
        // A program may keep the challenge, which must not keep the session and the task alive.
        let fallback: URLAuthenticationChallenge.Fallback = { [weak session, weak task] answer in
            course.isPassedOn.store(true, ordering: .relaxed)
            guard let session, let task else { return answer(.performDefaultHandling, nil) }
            guard let delegates = session.delegates(before: task.delegate) else {
                return answer(.performDefaultHandling, nil)
            }
            delegates.requestAnswer(ofTasks: challenge, session, task, answer)
        }
        let asked = URLAuthenticationChallenge(challenge, fallback: fallback)
        shared.urlSession(session, didReceive: asked) { [core = session.core] disposition, credential in
            if !course.isPassedOn.load(ordering: .relaxed) {
                core.delegateAnswersChallenges.store(true, ordering: .relaxed)
            }
            decide(disposition, credential)
        }
    }

    private func requestAnswer(
        ofTasks challenge: URLAuthenticationChallenge, _ session: URLSession, _ task: URLSessionTask,
        _ decide: @escaping ChallengeAnswer
    ) {
        guard let delegate = self.task else { return decide(.performDefaultHandling, nil) }
        delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: decide)
    }

    func needNewBodyStream(
        from offset: Int64?, _ session: URLSession, _ task: URLSessionTask,
        _ give: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let delegate = self.task else { return give(nil) }
        guard let offset else { return delegate.urlSession(session, task: task, needNewBodyStream: give) }
        delegate.urlSession(session, task: task, needNewBodyStreamFrom: offset, completionHandler: give)
    }

    func didSend(_ session: URLSession, _ task: URLSessionTask, _ count: Int64, total: Int64, expected: Int64) {
        self.task?.urlSession(
            session, task: task, didSendBodyData: count, totalBytesSent: total, totalBytesExpectedToSend: expected)
    }

    func didCollect(_ metrics: URLSessionTaskMetrics, _ session: URLSession, _ task: URLSessionTask) {
        self.task?.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    func didComplete(_ error: (any Error)?, _ session: URLSession, _ task: URLSessionTask) {
        self.task?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

extension URLSession: SessionChallengeAnswerer {
    package func answer(
        withoutTask challenge: URLAuthenticationChallenge, _ decide: @escaping ChallengeDecision,
        leaveToTask: @escaping () -> Void
    ) {
        let (decision, leave, loop) = (LoopTransfer(decide), LoopTransfer(leaveToTask), core.loop)
        let decide: ChallengeAnswer = { disposition, credential in
            loop.execute { decision.value(disposition, credential) }
        }
        let leaveToTask: @Sendable () -> Void = { loop.execute { leave.value() } }
        guard let delegates = delegates(before: nil) else { return decide(.performDefaultHandling, nil) }
        let mayRefuse = delegates.task.map { !AsynchronousForm.isKnownMissing(.taskChallenge, of: $0) } ?? false
        let asked = URLAuthenticationChallenge(challenge) { answer in
            if mayRefuse { leaveToTask() }
            answer(mayRefuse ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        }
        core.mailbox.post { [self] in
            delegates.first.urlSession(self, didReceive: asked, completionHandler: decide)
        }
    }
}

extension SessionCore {
    /// Whether the program has an answer of its own to challenges that concern connections: the session's delegate has
    /// given one, or `delegate`, which was asked after it, has the method.
    func isAnsweredByDelegates(_ delegate: (any URLSessionTaskDelegate)?) -> Bool {
        delegateAnswersChallenges.load(ordering: .relaxed)
            || delegate.map { !AsynchronousForm.isKnownMissing(.taskChallenge, of: $0) } ?? false
    }
}

/// The progress of a challenge that the session's delegate was given.
private final class PendingChallenge: Sendable {
    /// Whether the session's delegate left the challenge to the task's delegate.
    let isPassedOn = Atomic<Bool>(false)
}
