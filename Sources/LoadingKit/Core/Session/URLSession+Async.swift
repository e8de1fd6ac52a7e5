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

    /// What a task that has not begun loads. Inlined, as to call an asynchronous function costs a look at where tasks prefer
    /// to run.
    @inline(__always)
    func whole(
        _ task: URLSessionTask, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        announce(task, delegate)
        return try await withTaskCancellationHandler {
            try await core.loop.result { task.begin(.continuation($0)) }
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
        // Not by way of the other, for the reason that `whole` is inlined for.
        try await whole(
            URLSessionDataTask(self, URLRequest(url: url), identifier: core.nextIdentifier(), consumer: nil), delegate)
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
        announce(task, delegate)
        let feed = BodyFeed(core.loop)
        let bytes = AsyncBytes(task: task, reader: BodyReader(feed))
        let response = try await withTaskCancellationHandler {
            try await core.loop.result { task.begin(.bytes(feed, $0)) }
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
