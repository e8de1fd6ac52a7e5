import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives

/// What an exchange does about its handshake: it hands it the responses, and sends the request again as it says.
extension HTTPExchange {
    /// Takes up what the session remembers of the target's protection space.
    func recallLogin(_ target: RequestTarget) {
        guard mayAuthenticate, pool.logins.knows(target.origin) else { return }
        login = AuthenticationHandshake(remembering: authenticationContext(target))
    }

    private func authenticationContext(_ target: RequestTarget) -> AuthenticationContext {
        AuthenticationContext(
            origin: target.origin,
            request: HTTPAuthenticationRequest(
                method: method, target: target.pathAndQuery, host: target.origin.host, body: content.data),
            credentialOfURL: request.url?.credential, schemes: pool.authenticationSchemes, memory: pool.logins,
            storage: pool.settings.credentialStorage, task: resources.task)
    }

    /// Whether it is yet to be decided what becomes of a response. That is done later, not from inside the stream's own
    /// call.
    func isUndecided(_ head: ResponseHead, _ stream: any HTTPStream, hasBody: Bool) throws -> Bool {
        if head.status == 401 {
            guard mayAuthenticate, let target, head.fields.contains(.wwwAuthenticate) else { return false }
            login = login ?? AuthenticationHandshake(authenticationContext(target))
            state = .challenged(ChallengingResponse(stream, head, to: request, hasBody: hasBody))
            loop.execute { [self] in answerChallenges() }
            return true
        }
        guard isBodyWithheld else {
            try login?.accepted(head.fields, status: head.status)
            return false
        }
        // The server has taken for the whole request what was a step of authentication: it gets the whole, and no more
        // of that.
        login = nil
        mayAuthenticate = false
        state = .challenged(ChallengingResponse(stream, head, to: request, hasBody: hasBody))
        loop.execute { [self] in settle(.sendAgain(withBody: true)) }
        return true
    }

    private var isBodyWithheld: Bool { login?.isLastStep == false && content.expectedCount != 0 }

    private func answerChallenges() {
        guard case .challenged(let waiting) = state, let receiver else { return }
        let challenges = ChallengeParser.challenges(waiting.head.fields.values(of: .wwwAuthenticate))
        login?.answer(challenges, waiting.response, asking: receiver) { [weak self] in self?.settle($0) }
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
        collect(waiting.response)
        beginAgain(target)
        addCookies(then: .restart)
    }

    /// The request is as it is to be sent again: on the connection that it came back on, where that can carry it.
    func restart() {
        guard case .challenged(let waiting) = state else { return }
        guard let stream = waiting.stream else { return restartElsewhere() }
        state = .restarting(stream)
        if login?.bindsToConnection == true, !stream.isExclusive, let route { pool.requireHTTP1(route) }
        stream.restart(self)
    }

    /// The connection that carried the request cannot carry it again.
    func restartElsewhere() { submit(needsFreshConnection: true) }
}
