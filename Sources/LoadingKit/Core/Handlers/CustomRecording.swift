import Foundation

/// A response that an author's handler wants kept in the session's cache. It is kept as one that was obtained without
/// credentials, and so not at all where it may be one person's.
struct CustomRecording {
    let recorder: ResponseRecorder
    private let response: URLResponse
    private let policy: URLCache.StoragePolicy
    private let request: URLRequest
    private let cache: URLCache
    private let clock: WallClock
    private let task: URLSessionTask

    /// Nil when it may not be kept, or there is nowhere to keep it.
    init?(
        _ response: URLResponse, _ policy: URLCache.StoragePolicy, _ request: URLRequest, _ resources: LoadResources
    ) {
        guard policy != .notAllowed, !request.hasCredentials, let cache = resources.core.settings.urlCache,
            let recorder = ResponseRecorder(expecting: response.expectedContentLength, limit: cache.largestResponse)
        else { return nil }
        self.recorder = recorder
        self.response = response
        self.policy = policy
        self.request = request
        self.cache = cache
        clock = resources.core.settings.wallClock
        task = resources.task
    }

    func store(_ receiver: any LoadReceiver) {
        guard !task.isPersonal, let data = recorder.take() else { return }
        let date = clock.now
        let proposed = CachedURLResponse(
            response: response, data: data, userInfo: nil, storagePolicy: policy,
            metadata: CacheMetadata(requestTime: date, responseTime: date))
        receiver.willCache(proposed) { [cache, request] decided in
            if let decided { cache.store(decided, for: request, date: date) }
        }
    }
}
