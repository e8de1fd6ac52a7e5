import Foundation
import LoadingKitPrimitives

/// The client of a program's handler: passes its events from any thread, in order, to the load that it runs.
final class HandlerClient: NSObject, URLProtocolHandlerClient {
    private enum State {
        /// The load holds the handler, and the handler holds this object.
        case loading(HandlerLoad)
        case over(LateEvents?)
    }

    private let state: Guarded<State>

    init(_ run: HandlerLoad) { state = Guarded(.loading(run)) }

    /// The load that the handler runs; nil after its end.
    var run: HandlerLoad? {
        if case .loading(let run) = state.withLock({ $0 }) { run } else { nil }
    }

    func loadEnded(_ lateEvents: LateEvents?) { state.withLock { $0 = .over(lateEvents) } }

    private func post(_ event: HandlerLoad.Event) {
        switch state.withLock({ $0 }) {
        case .loading(let run): run.post(event)
        case .over(let lateEvents): lateEvents?.check(event.kind)
        }
    }

    func urlProtocol(
        _ protocol: URLProtocolHandler, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        post(.redirect(request, redirectResponse))
    }

    func urlProtocol(_ protocol: URLProtocolHandler, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        post(.cached(cachedResponse))
    }

    func urlProtocol(
        _ protocol: URLProtocolHandler, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        post(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocolHandler, didLoad data: Data) { post(.data(data)) }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocolHandler) { post(.end(nil)) }

    func urlProtocol(_ protocol: URLProtocolHandler, didFailWithError error: any Error) { post(.end(error)) }

    /// The delegate's answer goes to the challenge's own sender, as handlers of Apple's kind expect.
    func urlProtocol(_ protocol: URLProtocolHandler, didReceive challenge: URLAuthenticationChallenge) {
        post(
            .challenge(challenge) { disposition, credential in
                guard let sender = challenge.sender else { return }
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
            })
    }

    func urlProtocol(_ protocol: URLProtocolHandler, didCancel challenge: URLAuthenticationChallenge) {
        post(.withdrawn(challenge))
    }
}
