import Foundation

/// Is told what happens to a session. The session holds its delegate until it is invalidated.
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    /// The session was invalidated, and all of its tasks are over. The delegate is let go after this.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A server asks for credentials that concern a connection: NTLM, Negotiate, a client's certificate, or trust in its
    /// own. Other challenges go to tasks' delegates alone. By default these do, too.
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Leaves the challenge to the task's delegate; without one, to default handling.
    public func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let passOn = challenge.passOn else { return completionHandler(.performDefaultHandling, nil) }
        passOn(completionHandler)
    }
}
