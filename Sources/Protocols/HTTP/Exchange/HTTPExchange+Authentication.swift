import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// Passes responses to the exchange's handshakes, and sends the request again if they require it.
extension HTTPExchange {
    /// Uses the credentials that the session remembers for the server and for the proxy.
    func recallCredentials(_ target: RequestTarget) {
        authentication.server.isAllowed = !transaction.fields.contains(.authorization)
        if authentication.server.isAllowed, session.authentication.knows(.server(target.origin)) {
            authentication.server.handshake = AuthenticationHandshake(
                remembering: context(.server(target.origin), target))
        }
        recallProxyCredentials(target)
    }

    func recallProxyCredentials(_ target: RequestTarget) {
        guard let proxy = route?.proxy, route?.isForwarded == true else { return }
        authentication.proxy.isAllowed = !transaction.fields.contains(.proxyAuthorization)
        if authentication.proxy.isAllowed {
            authentication.proxy.handshake = AuthenticationHandshake(preemptive: context(.proxy(proxy), target))
        }
    }

    private func context(_ site: AuthenticationSite, _ target: RequestTarget) -> AuthenticationContext {
        let authenticated: HTTPAuthenticationRequest
        let credential: URLCredential?
        switch site {
        case .server(let origin):
            authenticated = HTTPAuthenticationRequest(
                method: method, target: target.pathAndQuery, host: origin.host, body: content.data,
                isSecure: origin.isSecure)
            credential = request.url?.credential
        case .proxy(let proxy):
            authenticated = HTTPAuthenticationRequest(
                method: method, target: requestTarget, host: proxy.host, body: content.data,
                isSecure: proxy.kind.isSecure, isProxy: true)
            credential = proxy.credential?.urlCredential
        }
        return session.authenticationContext(site, authenticated, given: credential, for: resources.task)
    }

    /// Holds back a response if its request may be sent again with credentials, and returns true then. The next action
    /// follows in ``streamDidHold()``, when the stream that is delivering the response is consistent.
    func holdForAuthentication(_ head: ResponseHead, _ stream: any HTTPStream, hasBody: Bool) throws -> Bool {
        let isProxys = head.status == 407 && route?.isForwarded == true
        if !isProxys, authentication.proxy.isLastStep {
            try authentication.proxy.handshake?.serverDidAccept(head.fields, status: head.status)
        }
        if let handshake = handshake(requiredBy: head) {
            state = .challenged(
                ChallengingResponse(stream, head, to: request, hasBody: hasBody, next: .answer(handshake)))
            return true
        }
        if isProxys {
            // A refusal without a challenge.
            try authentication.proxy.handshake?.serverDidAccept(head.fields, status: head.status)
            return false
        }
        guard isBodyWithheld else {
            transaction.bodyCheck = try authentication.server.handshake?.serverDidAccept(
                head.fields, status: head.status)
            return false
        }
        // The server took a step of authentication for the whole request. It now gets the whole request, and no further
        // steps of authentication.
        authentication.giveUpUnfinished()
        state = .challenged(ChallengingResponse(stream, head, to: request, hasBody: hasBody, next: .sendWhole))
        return true
    }

    /// The stream holds the response back, as requested. It is consistent now, so it may be called.
    func streamDidHold() {
        guard case .challenged(var waiting) = state, let next = waiting.takeNext() else { return }
        state = .challenged(waiting)
        switch next {
        case .answer(let handshake): answerChallenges(handshake)
        case .sendWhole: settle(.sendAgain(withBody: true))
        }
    }

    private var isBodyWithheld: Bool { !authentication.isLastStep && content.expectedCount != 0 }

    private func handshake(requiredBy head: ResponseHead) -> AuthenticationHandshake? {
        guard let target else { return nil }
        if head.status == 407, let proxy = route?.proxy, head.fields.contains(.proxyAuthenticate) {
            return authentication.proxy.beginIfNeeded { context(.proxy(proxy), target) }
        }
        guard head.status == 401, head.fields.contains(.wwwAuthenticate) else { return nil }
        return authentication.server.beginIfNeeded { context(.server(target.origin), target) }
    }

    private func answerChallenges(_ handshake: AuthenticationHandshake) {
        guard case .challenged(let waiting) = state, let receiver else { return }
        let challenges = ChallengeParser.challenges(in: waiting.head.fields, handshake.site.challengeField)
        // A user may take time to answer, and another challenge may come first.
        receiver.queueStateDidChange(isQueued: true)
        handshake.answer(
            challenges, waiting.response, on: waiting.stream?.connectionInfo,
            challenging: { [weak self] in self?.receiver },
            setAsking: { [weak self] in self?.receiver?.queueStateDidChange(isQueued: $0) }
        ) { [weak self] decision in
            self?.receiver?.queueStateDidChange(isQueued: false)
            self?.settle(decision)
        }
    }

    private func settle(_ decision: AuthenticationHandshake.Decision) {
        guard case .challenged(let waiting) = state else { return }
        switch decision {
        case .deliver:
            guard let stream = waiting.stream else { return fail(waiting.error) }
            state = .active(stream)
            if deliver(waiting.head, hasBody: waiting.hasBody) == .more { stream.exchangeDidBecomeReady(number) }
        case .cancel:
            fail(LoadFailure(.cancelled, "the program cancelled the authentication challenge"))
        case .sendAgain(withBody: true) where !content.isReplayable:
            renewBodyStream { $0.sendAgain() }
        case .sendAgain:
            sendAgain()
        }
    }

    /// Gets another stream from the program in place of one that was partly read.
    private func renewBodyStream(_ proceed: @escaping (HTTPExchange) -> Void) {
        receiver?.requestNewBodyStream(from: nil) { [weak self] stream in
            guard let self, case .challenged(var waiting) = state else { return }
            guard let stream else {
                return fail(
                    LoadFailure(
                        .requestBodyStreamExhausted,
                        "the server asks for credentials, and the delegate gave no new body stream to send with them"))
            }
            waiting.formerContent = content
            state = .challenged(waiting)
            content = content.with(stream)
            proceed(self)
        }
    }

    private func sendAgain() {
        guard case .challenged(let waiting) = state else { return }
        if let failure = cleartextFailure { return fail(failure) }
        note(.retried(.authentication))
        beginAgain(after: waiting.response)
        addCookies()
    }

    /// Sends the request again, on the connection that carried it before if that connection can carry it.
    func restart() { authentication.prepare { [weak self] in self?.restartPrepared() } }

    private func restartPrepared() {
        guard case .challenged(let waiting) = state else { return }
        // The preparation may have taken its time.
        if let failure = cleartextFailure { return fail(failure) }
        // The connection may have read bytes of the stream during the preparation.
        if authentication.isLastStep, !content.isReplayable { return renewBodyStream { $0.restartPrepared() } }
        // Closing a stream fails the request of a connection that still reads it.
        defer { waiting.formerContent?.abandon() }
        guard let stream = waiting.stream else { return restartElsewhere() }
        state = .restarting(stream)
        if authentication.bindsToConnection, !stream.isExclusive { needsHTTP1 = true }
        switch stream.restart(number) {
        case .here: break
        case .elsewhere: restartElsewhere()
        case .inTurn: restartInTurn()
        }
    }

    func restartElsewhere() { submit(needsFreshConnection: true) }
}

/// A response with a challenge, kept until it is decided whether it is final or the request is sent again.
struct ChallengingResponse {
    /// The next action after the response is held back.
    enum Next {
        case answer(AuthenticationHandshake)
        /// The request is sent again with its body and without credentials.
        case sendWhole
    }

    /// Nil once the connection is lost, which may happen while the program decides.
    private(set) var stream: (any HTTPStream)?
    private(set) var error: any Error = LoadFailure(.networkConnectionLost, "the connection was lost")
    let head: ResponseHead
    let response: HTTPURLResponse
    let hasBody: Bool
    /// The content that is replaced when the request is sent again. The connection may be sending it until then.
    var formerContent: RequestBody?
    /// Nil once the action has begun.
    private var next: Next?

    init(_ stream: any HTTPStream, _ head: ResponseHead, to request: URLRequest, hasBody: Bool, next: Next) {
        self.stream = stream
        self.head = head
        response = HTTPURLResponse(head, to: request)
        self.hasBody = hasBody
        self.next = next
    }

    mutating func takeNext() -> Next? { next.take() }

    mutating func lose(_ error: any Error) {
        stream = nil
        self.error = error
    }
}
