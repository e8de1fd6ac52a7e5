import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// What an exchange does about its handshakes: it hands them the responses, and sends the request again as they say.
extension HTTPExchange {
    /// Takes up what the session remembers of the target's protection space, and of the proxy's.
    func recallLogins(_ target: RequestTarget) {
        logins.server.isAllowed = !fields.contains(.authorization)
        if logins.server.isAllowed, pool.logins.knows(.server(target.origin)) {
            logins.server.handshake = AuthenticationHandshake(remembering: context(.server(target.origin), target))
        }
        guard let proxy = route?.proxy, route?.isForwarded == true else { return }
        logins.proxy.isAllowed = !fields.contains(.proxyAuthorization)
        if logins.proxy.isAllowed {
            logins.proxy.handshake = AuthenticationHandshake(opening: context(.proxy(proxy), target))
        }
    }

    private func context(_ site: AuthenticationSite, _ target: RequestTarget) -> AuthenticationContext {
        switch site {
        case .server(let origin):
            let request = HTTPAuthenticationRequest(
                method: method, target: target.pathAndQuery, host: origin.host, body: content.data)
            return pool.authenticationContext(
                site, request, isSecure: origin.isSecure, given: self.request.url?.credential, for: resources.task)
        case .proxy(let proxy):
            let request = HTTPAuthenticationRequest(
                method: method, target: requestTarget, host: proxy.host, body: content.data)
            return pool.authenticationContext(
                site, request, isSecure: false, given: proxy.credential?.urlCredential, for: resources.task)
        }
    }

    /// Whether it is yet to be decided what becomes of a response. That is done later, not from inside the stream's own
    /// call.
    func isUndecided(_ head: ResponseHead, _ stream: any HTTPStream, hasBody: Bool) throws -> Bool {
        let isProxys = head.status == 407 && route?.isForwarded == true
        if !isProxys, logins.proxy.isLastStep {
            try logins.proxy.handshake?.accepted(head.fields, status: head.status)
        }
        if let login = asked(head) {
            state = .challenged(ChallengingResponse(stream, head, to: request, hasBody: hasBody))
            loop.executeLater { [weak self] in self?.answerChallenges(login) }
            return true
        }
        if isProxys { return false }
        guard isBodyWithheld else {
            bodyCheck = try logins.server.handshake?.accepted(head.fields, status: head.status)
            return false
        }
        // Somebody has taken for the whole request what was a step of authentication: they get the whole, and no more
        // of that.
        logins.giveUpUnfinished()
        state = .challenged(ChallengingResponse(stream, head, to: request, hasBody: hasBody))
        loop.execute { [self] in settle(.sendAgain(withBody: true)) }
        return true
    }

    private var isBodyWithheld: Bool { !logins.isLastStep && content.expectedCount != 0 }

    /// The handshake that a response asks to go on; nil when it asks for none.
    private func asked(_ head: ResponseHead) -> AuthenticationHandshake? {
        guard let target else { return nil }
        if head.status == 407, let proxy = route?.proxy, logins.proxy.isAllowed,
            head.fields.contains(.proxyAuthenticate)
        {
            let login = logins.proxy.handshake ?? AuthenticationHandshake(context(.proxy(proxy), target))
            logins.proxy.handshake = login
            return login
        }
        if head.status == 401, logins.server.isAllowed, head.fields.contains(.wwwAuthenticate) {
            let login = logins.server.handshake ?? AuthenticationHandshake(context(.server(target.origin), target))
            logins.server.handshake = login
            return login
        }
        return nil
    }

    private func answerChallenges(_ login: AuthenticationHandshake) {
        guard case .challenged(let waiting) = state, let receiver else { return }
        let challenges = ChallengeParser.challenges(waiting.head.fields.values(of: login.site.challengeField))
        // A person may take time, and somebody else may be asked first.
        receiver.setQueued(true)
        login.answer(challenges, waiting.response, asking: receiver) { [weak self] decision in
            self?.receiver?.setQueued(false)
            self?.settle(decision)
        }
    }

    private func settle(_ decision: AuthenticationHandshake.Decision) {
        guard case .challenged(let waiting) = state else { return }
        switch decision {
        case .deliver:
            guard let stream = waiting.stream else { return fail(waiting.error) }
            state = .active(stream)
            if deliver(waiting.head, hasBody: waiting.hasBody) == .more { stream.exchangeIsReady(self) }
        case .cancel:
            fail(LoadFailure(.cancelled, "the program cancelled the authentication challenge"))
        case .sendAgain(withBody: true) where !content.isReplayable:
            receiver?.needNewBodyStream { [weak self] stream in self?.sendAgain(with: stream) }
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
        guard case .challenged(let waiting) = state, let target else { return }
        beginAgain(target, after: waiting.response)
        addCookies(then: .restart)
    }

    /// The request is as it is to be sent again: on the connection that it came back on, where that can carry it.
    func restart() {
        guard case .challenged(let waiting) = state else { return }
        guard let stream = waiting.stream else { return restartElsewhere() }
        state = .restarting(stream)
        if logins.bindsToConnection, !stream.isExclusive, let route { pool.requireHTTP1(route) }
        stream.restart(self)
    }

    /// The connection that carried the request cannot carry it again.
    func restartElsewhere() { submit(needsFreshConnection: true) }
}
