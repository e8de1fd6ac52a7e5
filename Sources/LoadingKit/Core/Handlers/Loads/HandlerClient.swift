import Foundation
import LoadingKitPrimitives

/// The client of a program's handler: passes its events from any thread, in order, to the load that it runs.
final class HandlerClient: NSObject, URLProtocolHandlerClient {
    private enum Phase {
        /// The load holds the handler, and the handler holds this object.
        case loading(HandlerLoad)
        case over(LateEvents?)
    }

    private struct State {
        var phase: Phase
        /// The challenges that the handler has made, and that are neither answered nor withdrawn.
        var challenges: [URLAuthenticationChallenge] = []
    }

    private let state: Guarded<State>

    init(_ run: HandlerLoad) { state = Guarded(State(phase: .loading(run))) }

    /// The load that the handler runs; nil after its end.
    var run: HandlerLoad? {
        if case .loading(let run) = state.withLock({ $0.phase }) { run } else { nil }
    }

    /// The load has ended. The handler may wait for the answers to its challenges.
    func loadEnded(_ lateEvents: LateEvents?) {
        let (run, challenges) = state.withLock { state -> (HandlerLoad?, [URLAuthenticationChallenge]) in
            let load: HandlerLoad? = if case .loading(let load) = state.phase { load } else { nil }
            defer { state = State(phase: .over(lateEvents)) }
            return (load, state.challenges)
        }
        for challenge in challenges { Self.answer(challenge, .cancelAuthenticationChallenge, nil, run?.starter) }
    }

    private func post(_ event: HandlerLoad.Event) {
        switch state.withLock({ $0.phase }) {
        case .loading(let run): run.post(event)
        case .over(let lateEvents): lateEvents?.check(event.kind)
        }
    }

    /// The handler ends the load by itself, and needs no answers any longer.
    private func postLast(_ event: HandlerLoad.Event) {
        let gone = state.withLock { exchange(&$0.challenges, for: []) }
        post(event)
        // Their senders' release may run the program's code: not while the lock is held.
        withExtendedLifetime(gone) {}
    }

    func urlProtocol(
        _ protocol: URLProtocolHandler, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        postLast(.redirect(request, redirectResponse))
    }

    func urlProtocol(_ protocol: URLProtocolHandler, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        postLast(.cached(cachedResponse))
    }

    func urlProtocol(
        _ protocol: URLProtocolHandler, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        post(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocolHandler, didLoad data: Data) { post(.data(data)) }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocolHandler) { postLast(.end(nil)) }

    func urlProtocol(_ protocol: URLProtocolHandler, didFailWithError error: any Error) { postLast(.end(error)) }

    // MARK: Challenges

    /// The delegate's answer goes to the challenge's own sender, as handlers of Apple's kind expect.
    func urlProtocol(_ protocol: URLProtocolHandler, didReceive challenge: URLAuthenticationChallenge) {
        let isOver = state.withLock { state -> Bool in
            guard case .loading = state.phase else { return true }
            state.challenges.append(challenge)
            return false
        }
        if isOver { Self.answer(challenge, .cancelAuthenticationChallenge, nil, nil) }
        post(.challenge(challenge) { self.answer(challenge, $0, $1) })
    }

    func urlProtocol(_ protocol: URLProtocolHandler, didCancel challenge: URLAuthenticationChallenge) {
        _ = take(challenge)
        post(.withdrawn(challenge))
    }

    /// Whether the challenge still needs an answer; from then on it does not.
    private func take(_ challenge: URLAuthenticationChallenge) -> Bool {
        state.withLock { state in
            guard let index = state.challenges.firstIndex(where: { $0 === challenge }) else { return false }
            state.challenges.remove(at: index)
            return true
        }
    }

    private func answer(
        _ challenge: URLAuthenticationChallenge, _ disposition: URLSessionAuthChallengeDisposition,
        _ credential: URLCredential?
    ) {
        let starter = run?.starter
        if take(challenge) { Self.answer(challenge, disposition, credential, starter) }
    }

    /// The sender may block: it is called on a thread for the program's code.
    ///
    /// - Parameter starter: calls the handler's other methods; nil after the load's end.
    private static func answer(
        _ challenge: URLAuthenticationChallenge, _ disposition: URLSessionAuthChallengeDisposition,
        _ credential: URLCredential?, _ starter: HandlerStarter?
    ) {
        guard let sender = challenge.sender else { return }
        let give: @Sendable () -> Void = {
            switch disposition {
            case .useCredential:
                if let credential {
                    sender.use(credential, for: challenge)
                } else {
                    sender.continueWithoutCredential(for: challenge)
                }
            case .performDefaultHandling: sender.performDefaultHandling(for: challenge)
            case .rejectProtectionSpace: sender.rejectProtectionSpaceAndContinue(with: challenge)
            case .cancelAuthenticationChallenge: sender.cancel(challenge)
            }
        }
        if let starter { starter.answer(give) } else { HandlerStarter.runOnThread(give) }
    }
}
