import Foundation

/// Takes the answer to an authentication challenge.
///
/// Sessions answer challenges through their completion handlers; this is for subclasses of `URLProtocol` that make
/// challenges of their own. Each challenge is answered once, with one of these methods.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Tries the credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)

    /// Goes on without a credential; the response to the unauthenticated request is what the task gets.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)

    /// Gives up: the load fails with `URLError.userCancelledAuthentication`.
    func cancel(_ challenge: URLAuthenticationChallenge)

    /// Does what would be done if the program did not handle challenges.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)

    /// Refuses this protection space and asks about the next one that the server offered.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}
