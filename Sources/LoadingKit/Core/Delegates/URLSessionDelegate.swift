import Foundation

/// Is told what happens to a session. The session holds its delegate until it is invalidated.
///
/// A method with a completion handler may be implemented in its asynchronous form instead, here and in the protocols that
/// refine this one. Where both are implemented the one with the completion handler is called. The asynchronous form is
/// called in a Swift task of its own, which is not cancelled when the session's task ends; what it returns then has no
/// effect.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session was invalidated, and all of its tasks are over. The delegate is let go after this.
    ///
    /// - Parameter error: Nil where the program has invalidated the session. A background session that cannot go on ends by
    ///   itself, with `URLError.backgroundSessionInUseByAnotherProcess` where its identifier is in use, by another session of
    ///   this process or of another, and `URLError.backgroundSessionWasDisconnected` where what performs its transfers cannot be
    ///   had.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A background session's delegate was told all that had happened while the program did not run, or had no session of that
    /// identifier. Called once, when the delegate has returned from the last of it; not where nothing had happened.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// A server asks for credentials that concern a connection: NTLM, Negotiate, a client's certificate, or trust in its
    /// own. Other challenges go to tasks' delegates alone. By default these do, too.
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

    /// Asks by the asynchronous form. Without that, leaves the challenge to the task's delegate; without one, to default
    /// handling.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        @Sendable func passOn() {
            guard let passOn = challenge.passOn else { return completionHandler(.performDefaultHandling, nil) }
            passOn(completionHandler)
        }
        guard AsynchronousForm.mayExist(.sessionChallenge, of: self) else { return passOn() }
        requestAnswer(
            .sessionChallenge, session, { await self.urlSession(session, didReceive: challenge) },
            answer: { completionHandler($0.0, $0.1) }, otherwise: passOn)
    }

    /// Answers as ``urlSession(_:didReceive:completionHandler:)`` does.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await AsynchronousForm.byDefault(
            .sessionChallenge, of: self, placeholder: (.cancelAuthenticationChallenge, nil)
        ) { answer in
            urlSession(session, didReceive: challenge) { answer(($0, $1)) }
        }
    }

    /// Calls the asynchronous form of a method; where there is none, goes on on the delegate queue.
    func requestAnswer<Answer>(
        _ method: TwoFormMethod, _ session: URLSession, _ form: @escaping @Sendable () async -> Answer,
        answer: @escaping @Sendable (Answer) -> Void, otherwise passOn: @escaping @Sendable () -> Void
    ) {
        AsynchronousForm.call(
            method, of: self, form, answer: answer, later: { session.core.mailbox.post($0) }, otherwise: passOn)
    }
}
