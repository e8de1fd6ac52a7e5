import Foundation
import LoadingKitTransport

/// A server or a proxy about whose TLS connection the program decides.
package struct TLSSite: Sendable {
    package let host: String
    package let port: Int
    /// The kind of requests that a proxy serves; nil for a server.
    package let proxyType: String?

    package init(_ host: String, _ port: Int, proxyType: String? = nil) {
        (self.host, self.port, self.proxyType) = (host, port, proxyType)
    }
}

/// A connection that is being made, which passes the challenges of its TLS handshakes to the program.
package protocol TLSAsker: AnyObject {
    /// Passes a challenge to the program. Where the program has no code for it, the answer is the default handling.
    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision)

    /// Called before the client presents an identity to a server or a proxy.
    func willAuthenticate(to site: TLSSite, as identity: TLSIdentity)
}

extension TLSAsker {
    package func willAuthenticate(to site: TLSSite, as identity: TLSIdentity) {}
}

/// Decides in the TLS handshake with a server or a proxy, for every connection of the library. The program decides
/// first. Where it does not, the result of the verification applies, and the server gets the identity of the credential
/// storage.
package final class TLSChallenger: TLSDecider {
    private let site: TLSSite
    private let storage: URLCredentialStorage?
    package let partition: String
    package let family: TLSFamily?
    /// Weak: the asker holds the handshake, and the handshake holds this object.
    private weak var asker: (any TLSAsker)?

    /// - Parameters:
    ///   - partition: connections with the same partition may resume each other's TLS sessions.
    ///   - family: the connections for which one decision applies.
    package init(
        _ site: TLSSite, _ storage: URLCredentialStorage?, partition: String = "", family: TLSFamily? = nil,
        asking asker: any TLSAsker
    ) {
        self.site = site
        self.storage = storage
        self.partition = partition
        self.family = family
        self.asker = asker
    }

    package func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let trust = ServerTrust(evaluation)
        let space = URLProtectionSpace(
            tlsHost: site.host, port: site.port, proxyType: site.proxyType, serverTrust: trust)
        ask(space, proposing: nil) { answer(TrustDecision($0, $1, about: trust)) }
    }

    package func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        let space = URLProtectionSpace(
            tlsHost: site.host, port: site.port, proxyType: site.proxyType,
            distinguishedNames: authorities.map { Data($0) })
        let proposed = storage?.defaultIdentity(for: space)
        ask(space, proposing: proposed) { [weak asker, site] disposition, credential in
            let decision = IdentityDecision(disposition, credential, proposed: proposed)
            if case .send(let identity) = decision { asker?.willAuthenticate(to: site, as: identity) }
            answer(decision)
        }
    }

    private func ask(
        _ space: URLProtectionSpace, proposing credential: URLCredential?, _ answer: @escaping ChallengeDecision
    ) {
        // The connection is not needed any more.
        guard let asker else { return answer(.cancelAuthenticationChallenge, nil) }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        asker.ask(challenge, answer)
    }
}
