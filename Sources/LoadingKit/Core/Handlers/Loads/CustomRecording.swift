import Foundation

/// A response that a program's handler stores in the session's cache. It is stored as a response to a request without
/// credentials, and therefore not at all where it may belong to one user.
struct CustomRecording {
    let recorder: ResponseRecorder
    private let response: URLResponse
    private let policy: URLCache.StoragePolicy
    private let request: URLRequest
    private let cache: URLCache
    private let clock: WallClock
    private let mark: CacheMark

    /// Nil when the response must not be stored, or there is no cache for it.
    init?(
        _ response: URLResponse, _ policy: URLCache.StoragePolicy, of request: URLRequest, in cache: URLCache?,
        _ clock: WallClock
    ) {
        guard policy != .notAllowed, !request.hasCredentials, let cache,
            let recorder = ResponseRecorder(expecting: response.expectedContentLength, limit: cache.largestResponse)
        else { return nil }
        self.recorder = recorder
        self.response = response
        self.policy = policy
        self.request = request
        self.cache = cache
        self.clock = clock
        mark = cache.mark
    }

    func store(_ receiver: any LoadReceiver) {
        guard let data = recorder.take() else { return }
        let date = clock.now
        let proposed = CachedURLResponse(
            response: response, data: data, userInfo: nil, storagePolicy: policy,
            metadata: CacheMetadata(requestTime: date, responseTime: date))
        receiver.willCache(proposed) { [cache, request, mark] decided in
            if let decided { cache.store(decided, for: request, date: date, since: mark) }
        }
    }
}
