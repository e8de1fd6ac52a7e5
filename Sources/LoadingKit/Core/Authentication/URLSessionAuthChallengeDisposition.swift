/// The action for an authentication challenge: Apple's `URLSession.AuthChallengeDisposition`.
public enum URLSessionAuthChallengeDisposition: Int, Sendable {
    /// Use the given credential. Nil: continue without one, so that the server's 401 or 407 is the response.
    case useCredential
    /// Act as without a delegate: use the proposed credential, unless it was refused.
    case performDefaultHandling
    /// End the task with `URLError.cancelled`; for the login to an ftp server, with `userCancelledAuthentication`.
    case cancelAuthenticationChallenge
    /// Refuse this protection space, and try the next one that the server offers, if there is one.
    case rejectProtectionSpace
}

/// Receives the answer to a challenge.
package typealias ChallengeAnswer = @Sendable (URLSessionAuthChallengeDisposition, URLCredential?) -> Void

extension URLSessionAuthChallengeDisposition {
    /// The answer to a challenge, as an event.
    var outcome: ChallengeOutcome {
        switch self {
        case .useCredential: .credential
        case .performDefaultHandling: .defaultHandling
        case .cancelAuthenticationChallenge: .cancelled
        case .rejectProtectionSpace: .rejected
        }
    }
}
