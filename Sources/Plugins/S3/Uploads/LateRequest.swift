import Foundation
@_spi(LoadingKitPlugins) import LoadingKit

/// Sends a request of a load after the load's end: with the settings of the load's session, and with the answers of its
/// delegates to challenges. It has a session of its own, because the program has not made this task, and may have
/// invalidated the load's session.
struct LateRequest: Sendable {
    private let session: URLSession
    private let task: URLSessionTask
    private let sessionDelegate: (any URLSessionDelegate)?
    private let taskDelegate: (any URLSessionTaskDelegate)?

    /// To be called while the load runs: after its end the session and the delegates are not known, and this is nil.
    init?(of load: LoadContext) {
        guard let session = load.session else { return nil }
        self.session = session
        task = load.task
        sessionDelegate = session.delegate
        taskDelegate = load.task.delegate
    }

    /// Sends the request, and ignores the answer.
    func send(_ request: URLRequest) async {
        let configuration = session.configuration
        // The session's interceptors and classes got the load's `s3` request. The load's other requests, which are
        // signed, pass none of them.
        configuration.interceptors = []
        configuration.protocolClasses = []
        let ownSession = URLSession(
            configuration: configuration,
            delegate: sessionDelegate.map { ChallengeForwarder($0, showing: task) },
            delegateQueue: session.delegateQueue)
        _ = try? await ownSession.data(
            for: request, delegate: taskDelegate.map { ChallengeForwarder($0, showing: nil) })
        ownSession.finishTasksAndInvalidate()
    }
}

/// Passes the challenges of a late request, and nothing else, to a delegate of the load.
private final class ChallengeForwarder: NSObject, URLSessionTaskDelegate {
    private let delegate: any URLSessionDelegate
    /// The task that the delegate gets in place of the late request's; nil for that one.
    private let shown: URLSessionTask?

    init(_ delegate: any URLSessionDelegate, showing shown: URLSessionTask?) {
        self.delegate = delegate
        self.shown = shown
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        delegate.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // A delegate without this method: its default implementation calls the delegate of the given session, which is
        // this object. The second call ends here.
        guard task !== shown, let delegate = delegate as? any URLSessionTaskDelegate else {
            return completionHandler(.performDefaultHandling, nil)
        }
        delegate.urlSession(session, task: shown ?? task, didReceive: challenge, completionHandler: completionHandler)
    }
}
