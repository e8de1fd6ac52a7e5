import Foundation

extension URLSession {
    /// Loads a request whole.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load alone, asked before the session's.
    /// - Returns: the body, and the response. A server's error status is a success.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await whole(
            URLSessionDataTask(self, request, identifier: core.nextIdentifier(), consumer: nil), delegate)
    }

    /// What a task that has not begun loads.
    func whole(
        _ task: URLSessionTask, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        if let delegate { task.delegate = delegate }
        announce(task)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                task.begin(.continuation(continuation, isOnLoop: core.loop.isCurrent))
            }
        } onCancel: {
            task.cancel()
        }
    }

    /// Loads a URL whole.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load alone, asked before the session's.
    /// - Returns: the body, and the response. A server's error status is a success.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Loads a request, and gives its body byte by byte as it is received.
    ///
    /// Returns when the response's head is there. While the bytes are not read, neither is the connection; when the
    /// sequence is let go, the load is cancelled.
    /// - Parameter delegate: a delegate for this load alone, asked before the session's.
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let task = URLSessionDataTask(self, request, identifier: core.nextIdentifier(), consumer: nil)
        if let delegate { task.delegate = delegate }
        announce(task)
        let feed = BodyFeed(core.loop)
        let bytes = AsyncBytes(task: task, reader: BodyReader(feed))
        let response = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { task.begin(.bytes(feed, $0)) }
        } onCancel: {
            task.cancel()
        }
        return (bytes, response)
    }

    /// Loads a URL, and gives its body byte by byte as it is received; see ``bytes(for:delegate:)``.
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }
}
