/// Apple's methods that name a task.
extension URLCache {
    /// Stores a response for the task's current request. Does nothing for a task without a request.
    public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        storeCachedResponse(cachedResponse, for: request)
    }

    /// Passes the response stored for the task's current request to `completionHandler`; nil where there is none. Calls
    /// it before this method returns.
    public func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @Sendable @escaping (CachedURLResponse?) -> Void
    ) {
        completionHandler(dataTask.currentRequest.flatMap { cachedResponse(for: $0) })
    }

    /// The response stored for the task's current request; nil where there is none.
    public func cachedResponse(for dataTask: URLSessionDataTask) async -> CachedURLResponse? {
        dataTask.currentRequest.flatMap { cachedResponse(for: $0) }
    }

    /// Removes the response stored for the task's current request.
    public func removeCachedResponse(for dataTask: URLSessionDataTask) {
        guard let request = dataTask.currentRequest else { return }
        removeCachedResponse(for: request)
    }
}
