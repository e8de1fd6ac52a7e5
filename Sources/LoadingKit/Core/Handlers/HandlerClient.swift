import Foundation
import LoadingKitPrimitives

/// The client of an author's handler: takes its events from any thread, in order, to the load that it runs.
final class HandlerClient: NSObject, URLProtocolHandlerClient {
    /// Until the load ends: it holds the handler, and the handler this.
    private let current: Guarded<CustomLoad?>

    init(_ run: CustomLoad) { current = Guarded(run) }

    /// The load that the handler runs, while it goes on.
    var run: CustomLoad? { current.withLock { $0 } }

    func loadEnded() { current.withLock { $0 = nil } }

    func urlProtocol(
        _ protocol: URLProtocolHandler, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
    ) {
        run?.post(.redirect(request, redirectResponse))
    }

    func urlProtocol(_ protocol: URLProtocolHandler, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        run?.post(.cached(cachedResponse))
    }

    func urlProtocol(
        _ protocol: URLProtocolHandler, didReceive response: URLResponse,
        cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        run?.post(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocolHandler, didLoad data: Data) { run?.post(.data(data)) }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocolHandler) { run?.post(.end(nil)) }

    func urlProtocol(_ protocol: URLProtocolHandler, didFailWithError error: any Error) { run?.post(.end(error)) }

    /// The delegate's answer goes to the challenge's own sender, as an author of Apple's shape expects.
    func urlProtocol(_ protocol: URLProtocolHandler, didReceive challenge: URLAuthenticationChallenge) {
        run?.post(
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
        run?.post(.withdrawn(challenge))
    }
}
