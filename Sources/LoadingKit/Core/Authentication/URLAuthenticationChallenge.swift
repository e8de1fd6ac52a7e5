import Foundation

/// A server's or a proxy's demand for a credential, or a decision about a server's certificate.
///
/// Follows Apple's `URLAuthenticationChallenge`. Instances do not change after they are made.
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {  // only `let`s of types that do not change
    /// The part of a server or proxy that requires the credential.
    public let protectionSpace: URLProtectionSpace

    /// The credential that will be tried unless the program gives another, or nil.
    public let proposedCredential: URLCredential?

    /// How often answers for this protection space failed before.
    public let previousFailureCount: Int

    /// The response to the last try, which failed; or nil.
    public let failureResponse: URLResponse?

    /// The error that the last try ended with, or nil.
    public let error: (any Error)?

    /// The object that receives the answer; nil when a completion handler does.
    public let sender: (any URLAuthenticationChallengeSender)?

    /// Gives the challenge to the task's delegate instead; nil unless the session's delegate received it first.
    let passOn: (@Sendable (@escaping URLSession.ChallengeAnswer) -> Void)?

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
        passOn = nil
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
        passOn = nil
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
        passOn = nil
    }

    /// The same challenge for a session's delegate, which may pass it on.
    init(
        _ challenge: URLAuthenticationChallenge,
        passOn: @escaping @Sendable (@escaping URLSession.ChallengeAnswer) -> Void
    ) {
        protectionSpace = challenge.protectionSpace
        proposedCredential = challenge.proposedCredential
        previousFailureCount = challenge.previousFailureCount
        failureResponse = challenge.failureResponse
        error = challenge.error
        sender = challenge.sender
        self.passOn = passOn
    }
}
