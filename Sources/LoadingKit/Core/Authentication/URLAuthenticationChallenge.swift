import Foundation
import LoadingKitTransport

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

extension TrustDecision {
    /// What a program's answer to a challenge means for a server's certificates.
    package init(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, about trust: ServerTrust
    ) {
        switch disposition {
        // A credential accepts the server with these certificates, not with others.
        case .useCredential: self = credential?.trust?.certificates == trust.certificates ? .trust : .verdict
        case .performDefaultHandling: self = .verdict
        case .cancelAuthenticationChallenge: self = .cancel
        case .rejectProtectionSpace: self = .refuse
        }
    }
}

extension IdentityDecision {
    /// What a program's answer to a challenge means for the certificate that is sent.
    package init(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, proposed: URLCredential?
    ) {
        switch disposition {
        case .useCredential: self.init(credential)
        case .performDefaultHandling: self.init(proposed)
        case .cancelAuthenticationChallenge: self = .cancel
        case .rejectProtectionSpace: self = .none
        }
    }

    private init(_ credential: URLCredential?) {
        guard let credential, let identity = credential.identity else {
            self = .none
            return
        }
        let chain = credential.certificates
        let isOwn = chain == identity.intermediates
        self = .send(isOwn ? identity.identity : identity.with(intermediates: chain)?.identity ?? identity.identity)
    }
}
