import Foundation

/// A server's or a proxy's request for a credential, or for a decision about a server's certificate.
///
/// Follows Apple's `URLAuthenticationChallenge`. Instances are immutable.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {  // only `let`s of types that do not change
    /// The part of a server or proxy that requires the credential.
    public let protectionSpace: URLProtectionSpace

    /// The credential that the session tries unless the program supplies another, or nil.
    public let proposedCredential: URLCredential?

    /// The number of earlier failures for this protection space.
    public let previousFailureCount: Int

    /// The response to the last attempt, which failed; or nil.
    public let failureResponse: URLResponse?

    /// The error of the last attempt, or nil.
    public let error: (any Error)?

    /// The object that receives the answer; nil when a completion handler receives it.
    public let sender: (any URLAuthenticationChallengeSender)?

    /// Passes a challenge for the session's delegate to the task's delegate; nil for any other challenge.
    let fallback: Fallback?

    typealias Fallback = @Sendable (@escaping ChallengeAnswer) -> Void

    /// A challenge that a protocol handler makes.
    public init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        protectionSpace = space
        proposedCredential = credential
        self.previousFailureCount = previousFailureCount
        failureResponse = response
        self.error = error
        self.sender = sender
        fallback = nil
    }

    /// The same challenge with another sender.
    public init(
        authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
    ) {
        protectionSpace = challenge.protectionSpace
        proposedCredential = challenge.proposedCredential
        previousFailureCount = challenge.previousFailureCount
        failureResponse = challenge.failureResponse
        error = challenge.error
        self.sender = sender
        fallback = nil
    }

    /// A challenge whose answer comes back through a completion handler.
    package init(
        protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int,
        failureResponse: URLResponse?, error: (any Error)?
    ) {
        self.protectionSpace = protectionSpace
        self.proposedCredential = proposedCredential
        self.previousFailureCount = previousFailureCount
        self.failureResponse = failureResponse
        self.error = error
        sender = nil
        fallback = nil
    }

    init(_ challenge: URLAuthenticationChallenge, fallback: @escaping Fallback) {
        protectionSpace = challenge.protectionSpace
        proposedCredential = challenge.proposedCredential
        previousFailureCount = challenge.previousFailureCount
        failureResponse = challenge.failureResponse
        error = challenge.error
        sender = challenge.sender
        self.fallback = fallback
    }
}

/// Receives the answer to an authentication challenge.
///
/// Subclasses of `URLProtocol` that make challenges implement it. A program answers each of these challenges once, with
/// one of these methods. It answers the session's own challenges through a completion handler.
public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Tries the credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)

    /// Continues without a credential; the task gets the response to the unauthenticated request.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)

    /// Cancels the load, which fails with `URLError.userCancelledAuthentication`.
    func cancel(_ challenge: URLAuthenticationChallenge)

    /// Handles the challenge as if the program had no delegate method for it.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)

    /// Refuses this protection space. The program gets a challenge for the next space that the server offered.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}
