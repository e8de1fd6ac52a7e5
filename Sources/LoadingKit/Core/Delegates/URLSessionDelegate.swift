import Foundation

/// Receives the events of a session. The session holds its delegate until it is invalidated.
///
/// A method with a completion handler may be implemented in its asynchronous form instead, here and in the protocols
/// that refine this one. Where both are implemented, the form with the completion handler is called. The asynchronous
/// form is called in a separate Swift task, which is not cancelled when the session's task ends; its result then has no
/// effect.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session was invalidated, and all of its tasks have ended. The session releases the delegate after this call.
    ///
    /// - Parameter error: Nil where the program has invalidated the session. A background session that cannot continue
    ///   ends by itself. The error is then `URLError.backgroundSessionInUseByAnotherProcess` where another session, of
    ///   this process or of another, uses its identifier, and `URLError.backgroundSessionWasDisconnected` where the
    ///   service that performs its transfers is not available.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A background session's delegate has received all events that occurred while the program did not run, or had no
    /// session with this identifier. Called once, after the delegate has returned from the last of them; not called
    /// where there were no such events.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// A server requires credentials that concern a connection: NTLM, Negotiate, a client's certificate, or trust in
    /// its own certificate. Other challenges go only to the tasks' delegates. By default these challenges go there,
    /// too.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The asynchronous form of ``urlSession(_:didReceive:completionHandler:)``.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}

    /// Calls the asynchronous form. Without it, passes the challenge to the task's delegate; without that method, uses
    /// default handling.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        @Sendable func passOn() {
            guard let passOn = challenge.fallback else {
                return completionHandler(.performDefaultHandling, nil)
            }
            passOn(completionHandler)
        }
        guard AsynchronousForm.mayExist(.sessionChallenge, of: self) else { return passOn() }
        requestAnswer(
            .sessionChallenge, session, { await self.urlSession(session, didReceive: challenge) },
            answer: { completionHandler($0.0, $0.1) }, otherwise: passOn)
    }

    /// Gives the same answer as ``urlSession(_:didReceive:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await AsynchronousForm.byDefault(
            .sessionChallenge, of: self, placeholder: (.cancelAuthenticationChallenge, nil)
        ) { answer in
            urlSession(session, didReceive: challenge) { answer(($0, $1)) }
        }
    }

    /// Calls the asynchronous form of a method. Where there is none, continues on the delegate queue.
    func requestAnswer<Answer>(
        _ method: AsyncDelegateMethod, _ session: URLSession, _ form: @escaping @Sendable () async -> Answer,
        answer: @escaping @Sendable (Answer) -> Void, otherwise passOn: @escaping @Sendable () -> Void
    ) {
        AsynchronousForm.call(
            method, of: self, form, answer: answer, later: { session.core.mailbox.post($0) }, otherwise: passOn)
    }
}
