import Foundation

/// Takes the answer to an authentication challenge.
///
/// Subclasses of `URLProtocol` that make challenges of their own implement it. A program answers each of these
/// challenges once, with one of these methods. It answers the challenges of a session itself through a completion
/// handler.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Tries the credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)

    /// Goes on without a credential; the response to the unauthenticated request is what the task gets.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)

    /// Gives up: the load fails with `URLError.userCancelledAuthentication`.
    func cancel(_ challenge: URLAuthenticationChallenge)

    /// Handles the challenge as if the program had no delegate for it.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)

    /// Refuses this protection space. The program gets a challenge for the next one that the server offered.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}
