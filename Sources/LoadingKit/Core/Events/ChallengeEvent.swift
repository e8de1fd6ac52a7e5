import Foundation

/// What a challenge asks for.
package enum ChallengeKind: UInt8, BitwiseCopyable, Sendable {
    case serverTrust, clientCertificate, basic, digest, ntlm, negotiate, proxy, other
}

/// How a program or the session has answered a challenge.
package enum ChallengeOutcome: UInt8, BitwiseCopyable, Sendable {
    case credential, defaultHandling, cancelled, rejected
}

extension ChallengeKind {
    init(_ space: URLProtectionSpace) {
        self =
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust: .serverTrust
            case NSURLAuthenticationMethodClientCertificate: .clientCertificate
            case _ where space.isProxy(): .proxy
            case NSURLAuthenticationMethodHTTPBasic: .basic
            case NSURLAuthenticationMethodHTTPDigest: .digest
            case NSURLAuthenticationMethodNTLM: .ntlm
            case NSURLAuthenticationMethodNegotiate: .negotiate
            default: .other
            }
    }
}

extension ChallengeOutcome {
    init(_ disposition: URLSession.AuthChallengeDisposition) {
        self =
            switch disposition {
            case .useCredential: .credential
            case .performDefaultHandling: .defaultHandling
            case .cancelAuthenticationChallenge: .cancelled
            case .rejectProtectionSpace: .rejected
            }
    }
}
