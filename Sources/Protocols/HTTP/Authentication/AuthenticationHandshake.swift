import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Authenticates the client to a server or a proxy, for one exchange or tunnel (RFC 9110 §11). It uses the credential
/// that the session remembers, answers challenges, requests credentials from the program, and remembers those that were
/// accepted.
final class AuthenticationHandshake {
    /// What to do with a response that has a challenge.
    enum Decision {
        /// The response is final.
        case deliver
        /// The request is sent again. Its body is left out where the server will send another challenge.
        case sendAgain(withBody: Bool)
        /// The program cancelled the challenge.
        case cancel
    }

    /// A credential in use.
    private struct CredentialInUse {
        let offer: AuthenticationOffer
        let credential: URLCredential
        var scheme: any HTTPAuthenticationScheme
        /// Whether it is sent because it was accepted before, without a challenge in this handshake.
        var isRemembered: Bool
        var value: String?
        /// How often the credential was sent.
        var sendings = 0
    }

    /// How often a credential is sent while the server requires another step, or refuses the nonce as too old.
    private static let maximumSendings = 10

    private let context: AuthenticationContext
    private var inUse: CredentialInUse?
    private var rejected: Set<URLProtectionSpace> = []
    private var failures: [URLProtectionSpace: (count: Int, last: URLCredential)] = [:]
    /// The number of the challenge that the program has to answer. An answer to another challenge has no effect.
    private var challengeNumber = 0

    private init(_ context: AuthenticationContext, _ inUse: CredentialInUse? = nil) {
        self.context = context
        self.inUse = inUse
    }

    convenience init(_ context: AuthenticationContext) { self.init(context, nil) }

    /// Nil where nothing is remembered for the request.
    convenience init?(remembering context: AuthenticationContext) {
        guard let (offer, credential) = context.memory.credential(forTarget: context.request.target, at: context.site),
            context.mayUse(credential)
        else { return nil }
        self.init(
            context, CredentialInUse(offer: offer, credential: credential, scheme: offer.scheme, isRemembered: true))
    }

    /// With the credential that a proxy gets before its first challenge, if there is one.
    convenience init(preemptive context: AuthenticationContext) {
        let known =
            context.memory.credential(forTarget: context.request.target, at: context.site)
            ?? context.preemptiveCredential
        self.init(
            context,
            known.map {
                CredentialInUse(offer: $0.offer, credential: $0.credential, scheme: $0.offer.scheme, isRemembered: true)
            }
        )
    }

    var site: AuthenticationSite { context.site }

    /// No challenge follows. The next handshake has its turn.
    func end() {
        challengeNumber += 1
        context.turns.leave(self, at: context.site)
    }

    // MARK: Requests

    /// The value of `Authorization`, or `Proxy-Authorization`, for the request that is about to be sent; nil for none.
    func authorization(on connection: ConnectionInfo) -> String? {
        guard var inUse else { return nil }
        inUse.sendings += 1
        if bindsToConnection { context.memory.willAuthenticateConnection(to: context.site, as: inUse.credential) }
        if inUse.isRemembered,
            let known = context.memory.authorization(
                for: context.request, with: inUse.credential, in: inUse.offer.space, at: context.site)
        {
            (inUse.value, inUse.scheme) = (known.value, known.scheme)
        } else {
            var request = context.request
            if bindsToConnection {
                request.channelBinding = connection.tls?.peerCertificates.first?.endPointHash.map { Data($0) }
            }
            inUse.value = inUse.scheme.authorization(for: request, with: inUse.credential)
        }
        self.inUse = inUse
        return inUse.value
    }

    /// The user and the password for the connection that is about to be made; nil for none.
    func credential(on connection: ConnectionInfo) -> URLCredential? {
        authorization(on: connection) == nil ? nil : inUse?.credential
    }

    /// The credential in use, and the name of its scheme; nil where there is none, or the last was refused.
    var current: (scheme: String, credential: URLCredential)? {
        inUse.map { (type(of: $0.scheme).name, $0.credential) }
    }

    /// Whether the server is expected to accept the request, so that its body is sent with it.
    var isLastStep: Bool { inUse?.scheme.isLastStep ?? true }

    var bindsToConnection: Bool { inUse.map { type(of: $0.scheme).bindsToConnection } ?? false }

    /// The credential that authenticated the connection, where that is for all of its requests.
    var boundCredential: URLCredential? { bindsToConnection ? inUse?.credential : nil }

    /// The request will be sent on another connection. A scheme that is bound to a connection begins anew.
    func connectionWillChange() {
        guard bindsToConnection, let offer = inUse?.offer else { return }
        inUse?.scheme = offer.scheme
    }

    // MARK: Responses

    /// The server has accepted the request. Throws where the server has to prove that it knows the password, and its
    /// proof is wrong. Returns the check of the proof where that covers the response's body.
    @discardableResult
    func serverDidAccept(_ fields: HTTPFields, status: Int) throws(LoadFailure) -> DigestBodyCheck? {
        defer { context.turns.leave(self, at: context.site) }
        guard var inUse, inUse.value != nil else { return nil }
        let parameters = information(fields)
        let check = (inUse.scheme as? DigestScheme)?.bodyCheck(parameters ?? [:])
        let acceptance = parameters.map { inUse.scheme.serverDidAccept($0) } ?? .unchanged
        if case .refused = acceptance { throw .unproven }
        remember(inUse, acceptance, status: status)
        return check
    }

    /// The parameters of `Authentication-Info`, or `Proxy-Authentication-Info`, in a head or in trailers.
    func information(_ fields: HTTPFields) -> [String: String]? {
        fields[context.site.informationField].map { ChallengeParser.parameters($0) }
    }

    private func remember(_ inUse: CredentialInUse, _ acceptance: HTTPAuthenticationAcceptance, status: Int) {
        // A server with an error of its own may not have checked the credential.
        guard status < 500 else { return }
        switch acceptance {
        case .unchanged where inUse.isRemembered: return
        case .unchanged, .renewed, .refused: break
        }
        let space = inUse.offer.space
        if !inUse.isRemembered { context.storage?.set(inUse.credential, for: space, task: context.task) }
        context.memory.remember(
            inUse.scheme, inUse.credential, for: context.request.target, in: space, at: context.site)
        self.inUse = inUse
    }

    /// Answers the server's challenges. Calls `decide` at once, or when the program has answered.
    func answer(
        _ challenges: [HTTPAuthenticationChallenge], _ response: HTTPURLResponse?,
        challenging receiver: any LoadReceiver,
        _ decide: @escaping (Decision) -> Void
    ) {
        let offers = context.offers(challenges)
        let settle = { [weak self] (decision: Decision) in
            if case .sendAgain = decision {} else { self?.end() }
            decide(decision)
        }
        if let last = inUse, last.value != nil {
            if continueHandshake(last, offers) { return settle(trySending()) }
            noteFailure(of: last, offers)
        }
        inUse = nil
        choose(offers, response, receiver, settle)
    }

    /// Prepares to send the same credential again, and returns true, where that may succeed: for the scheme's next
    /// step, with a newer nonce, or when the server has forgotten a remembered nonce.
    private func continueHandshake(_ last: CredentialInUse, _ offers: [AuthenticationOffer]) -> Bool {
        guard last.sendings < Self.maximumSendings, let offer = offers.first(where: { $0.isLike(last.offer) }) else {
            return false
        }
        var next = last
        if next.scheme.advance(after: offer.challenge) {
            next.isRemembered = false
        } else {
            var fresh = offer.scheme
            let value = fresh.authorization(for: context.request, with: last.credential)
            guard last.isRemembered, value != last.value else { return false }
            next = CredentialInUse(
                offer: offer, credential: last.credential, scheme: offer.scheme, isRemembered: false,
                sendings: last.sendings)
        }
        inUse = next
        return true
    }

    /// A credential that was sent before a challenge, and for another realm than the server's, has not failed.
    private func noteFailure(of last: CredentialInUse, _ offers: [AuthenticationOffer]) {
        guard let space = offers.first(where: { $0.refuses(last.offer) })?.space else { return }
        failures[space] = ((failures[space]?.count ?? 0) + 1, last.credential)
        context.memory.forget(last.credential, in: last.offer.space, at: context.site)
    }

    // MARK: Credentials

    private func choose(
        _ offers: [AuthenticationOffer], _ response: HTTPURLResponse?, _ receiver: any LoadReceiver,
        _ decide: @escaping (Decision) -> Void
    ) {
        guard let offer = offers.first(where: { !rejected.contains($0.space) }) else { return decide(.deliver) }
        let failed = failures[offer.space]
        if let known = context.memory.credential(for: offer.space, at: context.site), known != failed?.last,
            context.mayUse(known)
        {
            return decide(use(known, offer))
        }
        guard
            takeTurn(orWait: { [weak self, weak receiver] in
                guard let self, let receiver else { return }
                choose(offers, response, receiver, decide)
            })
        else { return }
        let proposed = failed?.last ?? context.proposal(for: offer.space)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: offer.space, proposedCredential: proposed, previousFailureCount: failed?.count ?? 0,
            failureResponse: response, error: nil)
        challengeNumber += 1
        receiver.challenge(challenge) { [weak self, weak receiver, challengeNumber] disposition, credential in
            guard let self, let receiver, self.challengeNumber == challengeNumber else { return }
            self.challengeNumber += 1
            switch disposition {
            case .useCredential:
                decide(use(credential, offer))
            case .performDefaultHandling:
                decide(use(failed == nil ? proposed : nil, offer))
            case .cancelAuthenticationChallenge:
                decide(.cancel)
            case .rejectProtectionSpace:
                rejected.insert(offer.space)
                choose(offers, response, receiver, decide)
            }
        }
    }

    /// Returns true if the program may get a challenge now. Else `proceed` is called when it may.
    private func takeTurn(orWait proceed: @escaping () -> Void) -> Bool {
        !context.site.isProxy || context.turns.take(self, at: context.site, proceed)
    }

    private func use(_ credential: URLCredential?, _ offer: AuthenticationOffer) -> Decision {
        guard let credential else { return .deliver }
        inUse = CredentialInUse(offer: offer, credential: credential, scheme: offer.scheme, isRemembered: false)
        return trySending()
    }

    /// A credential that the scheme cannot use counts as none.
    private func trySending() -> Decision {
        guard let inUse else { return .deliver }
        var scheme = inUse.scheme
        guard scheme.authorization(for: context.request, with: inUse.credential) != nil else {
            self.inUse = nil
            return .deliver
        }
        return .sendAgain(withBody: scheme.isLastStep)
    }
}
