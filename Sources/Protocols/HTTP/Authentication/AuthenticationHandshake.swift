import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Authenticates the client to a server or a proxy, for one exchange or tunnel (RFC 9110 §11).
final class AuthenticationHandshake {
    enum Decision {
        case deliver
        /// The request is sent again. Its body is left out if the server will send another challenge.
        case sendAgain(withBody: Bool)
        case cancel
    }

    private struct CredentialInUse {
        let offer: AuthenticationOffer
        let credential: URLCredential
        var scheme: any HTTPAuthenticationScheme
        /// Whether the credential was accepted before, and not challenged in this handshake.
        var isRemembered: Bool
        let isOfURL: Bool
        var value: String?
        var sendings = 0
        var step: Step?

        init(_ offer: AuthenticationOffer, _ credential: URLCredential, isRemembered: Bool, isOfURL: Bool) {
            self.offer = offer
            self.credential = credential
            self.isRemembered = isRemembered
            self.isOfURL = isOfURL
            scheme = offer.scheme
        }

        var mayBlock: Bool { type(of: scheme).mayBlock }
    }

    /// The result of a scheme that may block.
    private struct Step {
        let value: String?
        let channelBinding: Data?
    }

    /// A challenge that the program has not answered yet.
    private struct Question {
        let challenge: URLAuthenticationChallenge
        weak var receiver: (any ChallengeReceiver)?
    }

    /// The most sendings of a credential, while the server requires another step or refuses the nonce as too old.
    private static let maximumSendings = 10
    /// The most answers to challenges. A server may name another realm each time.
    private static let maximumAnswers = 20

    private let context: AuthenticationContext
    private var inUse: CredentialInUse?
    private var rejected: Set<URLProtectionSpace> = []
    private var failures: [URLProtectionSpace: (count: Int, last: URLCredential)] = [:]
    /// The challenge that the program has to answer. Answers to others have no effect.
    private var challengeNumber = 0
    private var question: Question?
    private var answerCount = 0
    /// A step that a scheme which may block is taking.
    private var runningStep: AuthenticationStep?
    /// The binding to the connection of the last request, or on which a remembered credential was accepted.
    private var channelBinding: Data?

    private init(_ context: AuthenticationContext, _ inUse: CredentialInUse? = nil, channelBinding: Data? = nil) {
        self.context = context
        self.inUse = inUse
        self.channelBinding = channelBinding
    }

    convenience init(_ context: AuthenticationContext) { self.init(context, nil) }

    /// Nil if no credential is remembered for the request.
    convenience init?(remembering context: AuthenticationContext) {
        guard
            let known = context.memory.credential(
                forTarget: context.request.target, at: context.site, named: context.named)
        else { return nil }
        let inUse = CredentialInUse(known.offer, known.credential, isRemembered: true, isOfURL: known.isOfURL)
        self.init(context, inUse, channelBinding: known.channelBinding)
    }

    /// Uses the credential that is sent to a proxy before its first challenge.
    convenience init(preemptive context: AuthenticationContext) {
        let remembered = context.memory.credential(
            forTarget: context.request.target, at: context.site, named: context.named)
        let known = remembered.map { ($0.offer, $0.credential) } ?? context.preemptiveCredential
        let inUse = known.map { CredentialInUse($0, $1, isRemembered: true, isOfURL: false) }
        self.init(context, inUse, channelBinding: remembered?.channelBinding)
    }

    var site: AuthenticationSite { context.site }

    func end() {
        challengeNumber += 1
        cancelStep()
        context.turns.leave(self, at: context.site)
        // The load may go on, on another connection, and has its timeouts again.
        if let question = question.take() { question.receiver?.withdraw(question.challenge) }
    }

    // MARK: Requests

    /// The value of the field for the request that is about to be sent; nil for none.
    func authorization(on connection: ConnectionInfo) -> String? {
        guard var inUse else { return nil }
        inUse.sendings += 1
        if inUse.mayBlock { return takeStep(inUse, on: connection) }
        if bindsToConnection { noteConnection(inUse) }
        if inUse.isRemembered,
            let known = context.memory.authorization(
                for: context.request, with: inUse.credential, in: inUse.offer.space, at: context.site)
        {
            (inUse.value, inUse.scheme) = (known.value, known.scheme)
        } else {
            var request = context.request
            request.channelBinding = binding(to: connection)
            inUse.value = inUse.scheme.authorization(for: request, with: inUse.credential)
        }
        self.inUse = inUse
        return inUse.value
    }

    /// The octets of that value.
    func authorizationOctets(on connection: ConnectionInfo) -> [UInt8]? {
        guard let value = authorization(on: connection) else { return nil }
        let octets = Array(value.utf8)
        guard octets.contains(where: { $0 >= 0x80 }), let digest = inUse?.scheme as? DigestScheme else { return octets }
        return digest.octets(ofField: value)
    }

    /// Returns the value that the scheme has made before. It is not sent if the connection leads to another certificate
    /// than the last one; the server challenges the client again then.
    private func takeStep(_ credential: CredentialInUse, on connection: ConnectionInfo) -> String? {
        var credential = credential
        channelBinding = binding(to: connection)
        let step = credential.step.take()
        credential.value = step?.channelBinding == channelBinding ? step?.value : nil
        inUse = credential
        if credential.value != nil, bindsToConnection { noteConnection(credential) }
        return credential.value
    }

    private func noteConnection(_ inUse: CredentialInUse) {
        context.memory.willAuthenticateConnection(
            to: context.site, as: inUse.credential, isOfURL: inUse.isOfURL)
    }

    private func binding(to connection: ConnectionInfo?) -> Data? {
        guard bindsToConnection else { return nil }
        return connection?.tls?.peerCertificates.first?.endPointHash.map { Data($0) }
    }

    /// Whether ``prepare(_:)`` has work to do.
    var needsPreparation: Bool {
        guard let inUse else { return false }
        return inUse.mayBlock && inUse.step == nil
    }

    /// Lets a scheme that may block make the value for the next request. Calls `proceed` when this is done, or at once
    /// if there is nothing to do, but not after ``end()``.
    ///
    /// - Parameter connection: the connection on which the request will be sent, if it is known.
    func prepare(on connection: ConnectionInfo? = nil, _ proceed: @escaping () -> Void) {
        guard needsPreparation, let inUse else { return proceed() }
        if let connection { channelBinding = binding(to: connection) }
        var request = context.request
        request.channelBinding = bindsToConnection ? channelBinding : nil
        let binding = request.channelBinding
        cancelStep()
        runningStep = AuthenticationStep.take(
            inUse.scheme, for: request, with: inUse.credential, on: context.turns.loop
        ) { [weak self] scheme, value in
            guard let self else { return }
            runningStep = nil
            self.inUse?.scheme = scheme
            self.inUse?.step = Step(value: value, channelBinding: binding)
            proceed()
        }
    }

    private func cancelStep() { runningStep.take()?.cancel() }

    /// The credential for the connection that is being opened; nil for none.
    func credential(on connection: ConnectionInfo) -> URLCredential? {
        authorization(on: connection) == nil ? nil : inUse?.credential
    }

    /// Nil if there is no credential, or the last one was refused.
    var current: (scheme: String, credential: URLCredential)? {
        inUse.map { (type(of: $0.scheme).name, $0.credential) }
    }

    /// Whether the server is expected to accept the request, so that its body is sent.
    var isLastStep: Bool { inUse?.scheme.isLastStep ?? true }

    var bindsToConnection: Bool { inUse.map { type(of: $0.scheme).bindsToConnection } ?? false }

    /// The credential that authenticated the connection for all requests on it.
    var boundCredential: (credential: URLCredential, isOfURL: Bool)? {
        bindsToConnection ? inUse.map { ($0.credential, $0.isOfURL) } : nil
    }

    /// A scheme that is bound to a connection starts over on another one.
    func connectionWillChange() {
        guard bindsToConnection, let offer = inUse?.offer else { return }
        cancelStep()
        inUse?.scheme = offer.scheme
        inUse?.step = nil
    }

    // MARK: Responses

    /// The server has accepted the request. Throws if the server's proof that it knows the password is wrong. Returns
    /// the check of a proof that covers the response's body.
    @discardableResult
    func serverDidAccept(_ fields: HTTPFields, status: Int) throws(LoadFailure) -> DigestBodyCheck? {
        defer { context.turns.leave(self, at: context.site) }
        guard var inUse, inUse.value != nil else { return nil }
        let parameters = information(fields)
        let check = (inUse.scheme as? DigestScheme)?.bodyCheck(parameters ?? [:])
        let acceptance = inUse.scheme.serverDidAccept(
            HTTPAuthenticationResponse(
                status: status, challenge: proof(fields, of: type(of: inUse.scheme)), parameters: parameters))
        // A refusal needs no proof that the peer knows the password.
        if case .refused = acceptance, !isRefusal(status) { throw .unproven }
        remember(inUse, acceptance, status: status)
        return check
    }

    /// The parameters of `Authentication-Info`, in a head or in trailers.
    func information(_ fields: HTTPFields) -> [String: String]? {
        fields[context.site.informationField].map { ChallengeParser.parameters($0) }
    }

    /// The challenge of a scheme in the response to an accepted request.
    private func proof(
        _ fields: HTTPFields, of type: any HTTPAuthenticationScheme.Type
    ) -> HTTPAuthenticationChallenge? {
        for field in [context.site.challengeField, context.site.informationField] where fields.contains(field) {
            let challenges = ChallengeParser.challenges(in: fields, field)
            if let proof = challenges.first(where: { $0.isOf(type) }) { return proof }
        }
        return nil
    }

    private func isRefusal(_ status: Int) -> Bool { status == (context.site.isProxy ? 407 : 401) }

    private func remember(_ inUse: CredentialInUse, _ acceptance: HTTPAuthenticationAcceptance, status: Int) {
        // A server that fails with an internal error may not have checked the credential.
        guard status < 500 else { return }
        let space = inUse.offer.space
        // A refusal without a challenge. The next request gets one, which the program answers.
        guard !isRefusal(status) else {
            if inUse.isRemembered { context.memory.forget(inUse.credential, in: space, at: context.site) }
            return
        }
        switch acceptance {
        case .unchanged where inUse.isRemembered: return
        case .unchanged, .renewed, .refused: break
        }
        if !inUse.isRemembered, !inUse.isOfURL, !inUse.offer.isDefault(inUse.credential) {
            context.storage?.serverDidAccept(inUse.credential, for: space)
        }
        // A scheme that is bound to a connection starts over on each connection.
        context.memory.remember(
            bindsToConnection ? inUse.offer.scheme : inUse.scheme, inUse.credential, for: context.request.target,
            in: space, at: context.site, channelBinding: channelBinding, isOfURL: inUse.isOfURL)
        self.inUse = inUse
    }

    /// Answers the server's challenges. Calls `decide` at once, or when the program has answered.
    ///
    /// - Parameters:
    ///   - receiver: finds the receiver for each challenge: during a step that may block, the load whose program got the
    ///     last challenge may end, and another load wait for the same connection. Nil if no load waits any longer.
    ///   - setAsking: called with whether the program is being asked, when this changes before the decision: a scheme
    ///     takes a step that may block, or another handshake, for whose credential this one waits, has the program's
    ///     answer. At first the program is being asked.
    func answer(
        _ challenges: [HTTPAuthenticationChallenge], _ response: HTTPURLResponse?, on connection: ConnectionInfo?,
        challenging receiver: @escaping () -> (any ChallengeReceiver)?, setAsking: @escaping (Bool) -> Void,
        _ decide: @escaping (Decision) -> Void
    ) {
        let settle = { [weak self] (decision: Decision) in
            switch decision {
            case .sendAgain: self?.didAsk()
            case .deliver, .cancel: self?.end()
            }
            decide(decision)
        }
        guard answerCount < Self.maximumAnswers else { return settle(.deliver) }
        answerCount += 1
        let answer = Answer(
            challenges: challenges, offers: context.offers(challenges), response: response, connection: connection,
            receiver: receiver, setAsking: setAsking, decide: settle)
        guard let last = inUse, last.value != nil else { return choose(answer) }
        if continueHandshake(last, answer.offers) {
            return trySending(answer) { [weak self] in self?.noteFailure(of: last, answer) }
        }
        noteFailure(of: last, answer)
        choose(answer)
    }

    /// Challenges that await an answer.
    private struct Answer {
        let challenges: [HTTPAuthenticationChallenge]
        /// The challenges that can be answered.
        let offers: [AuthenticationOffer]
        let response: HTTPURLResponse?
        let connection: ConnectionInfo?
        let receiver: () -> (any ChallengeReceiver)?
        let setAsking: (Bool) -> Void
        let decide: (Decision) -> Void
    }

    /// Whether the same credential may succeed now, and is prepared: for the scheme's next step, with a newer nonce, or
    /// when the server has forgotten a remembered nonce.
    private func continueHandshake(_ last: CredentialInUse, _ offers: [AuthenticationOffer]) -> Bool {
        guard last.sendings < Self.maximumSendings, let offer = offers.first(where: { $0.isLike(last.offer) }) else {
            return false
        }
        var next = last
        if next.scheme.advance(after: offer.challenge) {
            next.isRemembered = false
        } else {
            guard last.isRemembered else { return false }
            if !last.mayBlock {
                var fresh = offer.scheme
                guard fresh.authorization(for: context.request, with: last.credential) != last.value else {
                    return false
                }
            }
            next = CredentialInUse(offer, last.credential, isRemembered: false, isOfURL: last.isOfURL)
            next.sendings = last.sendings
        }
        inUse = next
        return true
    }

    /// A credential that was sent before a challenge has not failed if it was for another realm. Where no challenge can
    /// be answered, and not all name another realm, the next request is sent without the credential: it gets a
    /// challenge that can be answered.
    private func noteFailure(of last: CredentialInUse, _ answer: Answer) {
        let refusing = answer.offers.first { $0.refuses(last.offer) }?.space
        // NTLM and Negotiate have no realm: any challenge may be for their credentials.
        let realm = last.offer.space.realm
        let ofRealm = answer.challenges.filter { realm == nil || ($0["realm"] ?? realm) == realm }
        let isOfRealm = answer.challenges.isEmpty || !ofRealm.isEmpty
        if refusing != nil || answer.offers.isEmpty && isOfRealm {
            context.memory.forget(last.credential, in: last.offer.space, at: context.site)
        }
        guard let space = refusing ?? (last.isRemembered ? nil : last.offer.space) else { return }
        failures[space] = ((failures[space]?.count ?? 0) + 1, last.credential)
    }

    // MARK: Credentials

    private func choose(_ answer: Answer) {
        inUse = nil
        guard let offer = answer.offers.first(where: { !rejected.contains($0.space) }) else {
            return answer.decide(.deliver)
        }
        let failed = failures[offer.space]
        if let known = context.memory.credential(for: offer.space, at: context.site, named: context.named),
            known != failed?.last
        {
            // It was accepted: no other handshake has to wait for the answer to this request.
            context.turns.leave(self, at: context.site)
            return use(known, offer, answer)
        }
        guard takeTurn(answer) else { return }
        guard let receiver = answer.receiver() else { return answer.decide(.deliver) }
        let proposed = failed?.last ?? context.proposal(for: offer)
        let challenge = URLAuthenticationChallenge(
            protectionSpace: offer.space, proposedCredential: proposed, previousFailureCount: failed?.count ?? 0,
            failureResponse: answer.response, error: nil)
        challengeNumber += 1
        question = Question(challenge: challenge, receiver: receiver)
        receiver.challenge(challenge) { [weak self, weak receiver, challengeNumber] disposition, credential in
            guard let self, receiver != nil, self.challengeNumber == challengeNumber else { return }
            self.challengeNumber += 1
            question = nil
            switch disposition {
            case .useCredential:
                use(credential, offer, answer)
            case .performDefaultHandling:
                if failed == nil {
                    use(proposed, offer, answer)
                } else if let proposed, offer.isDefault(proposed) {
                    reject(offer, answer)
                } else {
                    answer.decide(.deliver)
                }
            case .cancelAuthenticationChallenge:
                answer.decide(.cancel)
            case .rejectProtectionSpace:
                reject(offer, answer)
            }
        }
    }

    private func reject(_ offer: AuthenticationOffer, _ answer: Answer) {
        rejected.insert(offer.space)
        chooseAnother(answer)
    }

    /// Chooses in a later turn: without a delegate each choice leads at once to the next.
    private func chooseAnother(_ answer: Answer) {
        let number = challengeNumber
        context.turns.loop.executeLater { [weak self] in
            guard let self, challengeNumber == number else { return }
            choose(answer)
        }
    }

    /// Returns false if the handshake waits for its turn, in which it chooses again.
    private func takeTurn(_ answer: Answer) -> Bool {
        guard context.site.isProxy else { return true }
        let number = challengeNumber
        return context.turns.take(self, at: context.site, setAsking: answer.setAsking) { [weak self] in
            answer.setAsking(true)
            // The attempt may have ended in this call.
            guard let self, challengeNumber == number else { return }
            choose(answer)
        }
    }

    private func didAsk() { context.turns.didAsk(self, at: context.site) }

    private func use(_ credential: URLCredential?, _ offer: AuthenticationOffer, _ answer: Answer) {
        guard let credential else { return answer.decide(.deliver) }
        inUse = CredentialInUse(offer, credential, isRemembered: false, isOfURL: context.isOfURL(credential))
        trySending(answer) { [weak self] in self?.rejected.insert(offer.space) }
    }

    /// - Parameter noteUnusable: called before another credential is chosen, as the scheme cannot use this one.
    private func trySending(_ answer: Answer, orElse noteUnusable: @escaping () -> Void) {
        guard let inUse else { return answer.decide(.deliver) }
        guard inUse.mayBlock else {
            var scheme = inUse.scheme
            if scheme.authorization(for: context.request, with: inUse.credential) != nil {
                return answer.decide(.sendAgain(withBody: scheme.isLastStep))
            }
            noteUnusable()
            return chooseAnother(answer)
        }
        answer.setAsking(false)
        let number = challengeNumber
        prepare(on: answer.connection) { [weak self] in
            guard let self, let inUse = self.inUse else { return }
            if inUse.step?.value != nil { return answer.decide(.sendAgain(withBody: inUse.scheme.isLastStep)) }
            answer.setAsking(true)
            // The attempt, or the exchange, may have ended in this call.
            guard challengeNumber == number else { return }
            noteUnusable()
            choose(answer)
        }
    }
}
