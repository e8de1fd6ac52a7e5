import Foundation

/// A response that an author's handler wants kept in the session's cache.
struct CustomRecording {
    let recorder: ResponseRecorder
    private let response: URLResponse
    private let policy: URLCache.StoragePolicy
    private let request: URLRequest
    private let cache: URLCache
    private let clock: WallClock

    /// Nil when it may not be kept, or there is nowhere to keep it.
    init?(
        _ response: URLResponse, _ policy: URLCache.StoragePolicy, _ request: URLRequest, _ settings: SessionSettings
    ) {
        guard policy != .notAllowed, let cache = settings.urlCache,
            let recorder = ResponseRecorder(expecting: response.expectedContentLength, limit: cache.largestResponse)
        else { return nil }
        self.recorder = recorder
        self.response = response
        self.policy = policy
        self.request = request
        self.cache = cache
        clock = settings.wallClock
    }

    func store(_ receiver: any LoadReceiver) {
        guard let data = recorder.take() else { return }
        let proposed = CachedURLResponse(response: response, data: data, storagePolicy: policy)
        receiver.willCache(proposed) { [cache, request, date = clock.now] decided in
            if let decided { cache.store(decided, for: request, date: date) }
        }
    }
}
