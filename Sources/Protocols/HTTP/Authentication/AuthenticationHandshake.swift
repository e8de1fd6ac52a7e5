import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Proves to a server or a proxy who the client is, for one exchange or tunnel: takes up what the session remembers, answers challenges, asks
/// the program for credentials, and remembers what was accepted (RFC 9110 §11).
final class AuthenticationHandshake {
    /// What becomes of a response that asks for credentials.
    enum Decision {
        /// It is the response.
        case deliver
        /// The request is sent again, with its body or, where the server will ask once more, without.
        case sendAgain(withBody: Bool)
        /// The program has given up.
        case cancel
    }

    /// A credential in use.
    private struct Login {
        let offer: AuthenticationOffer
        let credential: URLCredential
        var scheme: any HTTPAuthenticationScheme
        /// Whether it is sent because it worked before, not because the server asked.
        var isRemembered: Bool
        var value: String?
        /// How often it was sent.
        var sendings = 0
    }

    /// How often a credential is sent while the server says that this was only one step, or a nonce too old.
    private static let maximumSendings = 10

    private let context: AuthenticationContext
    private var login: Login?
    private var rejected: Set<URLProtectionSpace> = []
    private var failures: [URLProtectionSpace: (count: Int, last: URLCredential)] = [:]
    /// The number of the question that the program is to answer; an answer to another is not heeded.
    private var question = 0

    private init(_ context: AuthenticationContext, _ login: Login? = nil) {
        self.context = context
        self.login = login
    }

    convenience init(_ context: AuthenticationContext) { self.init(context, nil) }

    /// Nil where nothing is remembered for the request.
    convenience init?(remembering context: AuthenticationContext) {
        guard let (offer, credential) = context.memory.login(for: context.request.target, at: context.site),
            context.isFor(credential)
        else { return nil }
        self.init(context, Login(offer: offer, credential: credential, scheme: offer.scheme, isRemembered: true))
    }

    /// With what a proxy is told unasked, if anything.
    convenience init(opening context: AuthenticationContext) {
        let known = context.memory.login(for: context.request.target, at: context.site) ?? context.opening
        self.init(
            context,
            known.map { Login(offer: $0.offer, credential: $0.credential, scheme: $0.offer.scheme, isRemembered: true) }
        )
    }

    var site: AuthenticationSite { context.site }

    /// Nothing more will be asked: others may.
    func end() {
        question += 1
        context.turns.leave(self, at: context.site)
    }

    // MARK: Requests

    /// The value of `Authorization`, or `Proxy-Authorization`, for the request that is about to be sent; nil for none.
    func authorization(on connection: ConnectionInfo) -> String? {
        guard var login else { return nil }
        login.sendings += 1
        if bindsToConnection { context.memory.willAuthenticateConnection(to: context.site, as: login.credential) }
        if login.isRemembered,
            let known = context.memory.authorization(
                for: context.request, with: login.credential, in: login.offer.space, at: context.site)
        {
            (login.value, login.scheme) = (known.value, known.scheme)
        } else {
            var request = context.request
            if bindsToConnection {
                request.channelBinding = connection.tls?.peerCertificates.first?.endPointHash.map { Data($0) }
            }
            login.value = login.scheme.authorization(for: request, with: login.credential)
        }
        self.login = login
        return login.value
    }

    /// The user and the password for the connection that is about to be made; nil for none.
    func credential(on connection: ConnectionInfo) -> URLCredential? {
        authorization(on: connection) == nil ? nil : login?.credential
    }

    /// The credential in use, and by which scheme; nil where none is, or the last was refused.
    var current: (scheme: String, credential: URLCredential)? {
        login.map { (type(of: $0.scheme).name, $0.credential) }
    }

    /// Whether the request is expected to be let pass, so that its body is sent with it.
    var isLastStep: Bool { login?.scheme.isLastStep ?? true }

    var bindsToConnection: Bool { login.map { type(of: $0.scheme).bindsToConnection } ?? false }

    /// The credential that a connection was authenticated with, if that is for all of its requests.
    var boundCredential: URLCredential? { bindsToConnection ? login?.credential : nil }

    /// The request will go out on another connection: what is bound to one begins anew.
    func changesConnection() {
        guard bindsToConnection, let offer = login?.offer else { return }
        login?.scheme = offer.scheme
    }

    // MARK: Responses

    /// The server has let the request pass. Throws where it should have proved itself, and has not. Gives what its proof
    /// is checked by, where that covers the response's body.
    @discardableResult
    func accepted(_ fields: HTTPFields, status: Int) throws(LoadFailure) -> DigestBodyCheck? {
        defer { context.turns.leave(self, at: context.site) }
        guard var login, login.value != nil else { return nil }
        let parameters = information(fields)
        let check = (login.scheme as? DigestScheme)?.bodyCheck(parameters ?? [:])
        let acceptance = parameters.map { login.scheme.accepted($0) } ?? .unchanged
        if case .refused = acceptance { throw .unproven }
        remember(login, acceptance, status: status)
        return check
    }

    /// What the server, or the proxy, says of an authentication that it accepted; it may say so in the trailers.
    func information(_ fields: HTTPFields) -> [String: String]? {
        fields[context.site.informationField].map { ChallengeParser.parameters($0) }
    }

    private func remember(_ login: Login, _ acceptance: HTTPAuthenticationAcceptance, status: Int) {
        // A server that is in trouble has perhaps not looked at the credential.
        guard status < 500 else { return }
        switch acceptance {
        case .unchanged where login.isRemembered: return
        case .unchanged, .renewed, .refused: break
        }
        let space = login.offer.space
        if !login.isRemembered { context.storage?.set(login.credential, for: space, task: context.task) }
        context.memory.remember(
            login.scheme, login.credential, for: context.request.target, in: space, at: context.site)
        self.login = login
    }

    /// The server asks for credentials. Decides at once, or when the program has.
    func answer(
        _ challenges: [HTTPAuthenticationChallenge], _ response: HTTPURLResponse?, asking receiver: any LoadReceiver,
        _ decide: @escaping (Decision) -> Void
    ) {
        let offers = context.offers(challenges)
        let settle = { [weak self] (decision: Decision) in
            if case .sendAgain = decision {} else { self?.end() }
            decide(decision)
        }
        if let last = login, last.value != nil {
            if goesOn(last, offers) { return settle(trySending()) }
            noteFailure(of: last, offers)
        }
        login = nil
        choose(offers, response, receiver, settle)
    }

    /// Whether the same credential is worth another try: as another step, with a newer nonce, or because what was
    /// remembered is what the server has forgotten.
    private func goesOn(_ last: Login, _ offers: [AuthenticationOffer]) -> Bool {
        guard last.sendings < Self.maximumSendings, let offer = offers.first(where: { $0.isLike(last.offer) }) else {
            return false
        }
        var next = last
        if next.scheme.goesOn(after: offer.challenge) {
            next.isRemembered = false
        } else {
            var fresh = offer.scheme
            let value = fresh.authorization(for: context.request, with: last.credential)
            guard last.isRemembered, value != last.value else { return false }
            next = Login(
                offer: offer, credential: last.credential, scheme: offer.scheme, isRemembered: false,
                sendings: last.sendings)
        }
        login = next
        return true
    }

    /// A credential that was sent unasked, and for another realm than the server's, has not failed.
    private func noteFailure(of last: Login, _ offers: [AuthenticationOffer]) {
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
            context.isFor(known)
        {
            return decide(use(known, offer))
        }
        guard
            isTurn({ [weak self, weak receiver] in
                guard let self, let receiver else { return }
                choose(offers, response, receiver, decide)
            })
        else { return }
        let proposed = failed?.last ?? context.proposal(for: offer.space)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: offer.space, proposedCredential: proposed, previousFailureCount: failed?.count ?? 0,
            failureResponse: response, error: nil)
        question += 1
        receiver.challenge(challenge) { [weak self, weak receiver, question] disposition, credential in
            guard let self, let receiver, self.question == question else { return }
            self.question += 1
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

    /// Whether the program may be asked now; else `proceed` is called when it may.
    private func isTurn(_ proceed: @escaping () -> Void) -> Bool {
        !context.site.isProxy || context.turns.take(self, at: context.site, proceed)
    }

    private func use(_ credential: URLCredential?, _ offer: AuthenticationOffer) -> Decision {
        guard let credential else { return .deliver }
        login = Login(offer: offer, credential: credential, scheme: offer.scheme, isRemembered: false)
        return trySending()
    }

    /// A credential that the scheme cannot express is none.
    private func trySending() -> Decision {
        guard let login else { return .deliver }
        var scheme = login.scheme
        guard scheme.authorization(for: context.request, with: login.credential) != nil else {
            self.login = nil
            return .deliver
        }
        return .sendAgain(withBody: scheme.isLastStep)
    }
}
