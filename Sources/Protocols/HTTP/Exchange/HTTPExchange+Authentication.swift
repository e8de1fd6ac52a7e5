import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitProxies

/// An exchange's use of its handshakes: it passes the responses to them, and sends the request again if they require
/// it.
extension HTTPExchange {
    /// Uses the credentials that the session remembers for the target's protection space and for the proxy's.
    func recallCredentials(_ target: RequestTarget) {
        authentication.server.isAllowed = !transaction.fields.contains(.authorization)
        if authentication.server.isAllowed, session.authentication.knows(.server(target.origin)) {
            authentication.server.handshake = AuthenticationHandshake(
                remembering: context(.server(target.origin), target))
        }
        recallProxyCredentials(target)
    }

    /// Uses the credentials that the session remembers for the proxy.
    func recallProxyCredentials(_ target: RequestTarget) {
        guard let proxy = route?.proxy, route?.isForwarded == true else { return }
        authentication.proxy.isAllowed = !transaction.fields.contains(.proxyAuthorization)
        if authentication.proxy.isAllowed {
            authentication.proxy.handshake = AuthenticationHandshake(preemptive: context(.proxy(proxy), target))
        }
    }

    private func context(_ site: AuthenticationSite, _ target: RequestTarget) -> AuthenticationContext {
        switch site {
        case .server(let origin):
            let request = HTTPAuthenticationRequest(
                method: method, target: target.pathAndQuery, host: origin.host, body: content.data,
                isSecure: origin.isSecure)
            return session.authenticationContext(
                site, request, given: self.request.url?.credential, for: resources.task)
        case .proxy(let proxy):
            let request = HTTPAuthenticationRequest(
                method: method, target: requestTarget, host: proxy.host, body: content.data,
                isSecure: proxy.kind == .https, isProxy: true)
            return session.authenticationContext(
                site, request, given: proxy.credential?.urlCredential, for: resources.task)
        }
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
        if isProxys { return false }
        guard isBodyWithheld else {
            transaction.willCheckBody(
                by: try authentication.server.handshake?.serverDidAccept(head.fields, status: head.status))
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

    /// The handshake that a response requires; nil if it requires none.
    private func handshake(requiredBy head: ResponseHead) -> AuthenticationHandshake? {
        guard let target else { return nil }
        if head.status == 407, let proxy = route?.proxy, authentication.proxy.isAllowed,
            head.fields.contains(.proxyAuthenticate)
        {
            let handshake = authentication.proxy.handshake ?? AuthenticationHandshake(context(.proxy(proxy), target))
            authentication.proxy.handshake = handshake
            return handshake
        }
        if head.status == 401, authentication.server.isAllowed, head.fields.contains(.wwwAuthenticate) {
            let handshake =
                authentication.server.handshake ?? AuthenticationHandshake(context(.server(target.origin), target))
            authentication.server.handshake = handshake
            return handshake
        }
        return nil
    }

    private func answerChallenges(_ handshake: AuthenticationHandshake) {
        guard case .challenged(let waiting) = state, let receiver else { return }
        let challenges = ChallengeParser.challenges(waiting.head.fields.values(of: handshake.site.challengeField))
        // A user may take time to answer, and another challenge may come first.
        receiver.queueStateDidChange(isQueued: true)
        handshake.answer(
            challenges, waiting.response, on: waiting.stream?.connectionInfo, challenging: receiver,
            stepDidChange: { [weak self] in self?.receiver?.queueStateDidChange(isQueued: !$0) }
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
            if deliver(waiting.head, hasBody: waiting.hasBody) == .more { stream.exchangeDidBecomeReady(self) }
        case .cancel:
            fail(LoadFailure(.cancelled, "the program cancelled the authentication challenge"))
        case .sendAgain(withBody: true) where !content.isReplayable:
            receiver?.requestNewBodyStream { [weak self] stream in self?.sendAgain(with: stream) }
        case .sendAgain:
            sendAgain()
        }
    }

    private func sendAgain(with stream: InputStream?) {
        guard case .challenged = state else { return }
        guard let stream else {
            return fail(
                LoadFailure(
                    .requestBodyStreamExhausted,
                    "the server asks for credentials, and the delegate gave no new body stream to send with them"))
        }
        content = content.with(stream)
        sendAgain()
    }

    private func sendAgain() {
        guard case .challenged(let waiting) = state else { return }
        beginAgain(after: waiting.response)
        addCookies()
    }

    /// Sends the request again in its new form, on the connection that carried it before if that connection can carry
    /// it.
    func restart() { authentication.prepare { [weak self] in self?.restartPrepared() } }

    private func restartPrepared() {
        guard case .challenged(let waiting) = state else { return }
        guard let stream = waiting.stream else { return restartElsewhere() }
        state = .restarting(stream)
        if authentication.bindsToConnection, !stream.isExclusive, let route = destination?.route {
            session.requireHTTP1(route)
        }
        stream.restart(self)
    }

    /// The connection that carried the request cannot carry it again.
    func restartElsewhere() { submit(needsFreshConnection: true) }
}
