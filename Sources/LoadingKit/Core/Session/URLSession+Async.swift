import Foundation

extension URLSession {
    /// Loads a request, and returns the complete body.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    /// - Returns: the body, and the response. A response with an error status is a success.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await whole(
            URLSessionDataTask(self, request, identifier: newIdentifier(for: nil), consumer: nil), delegate)
    }

    /// Starts a task, and returns its complete response. Inlined, because a call of an asynchronous function has to
    /// determine the task's preferred executor.
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

    /// Loads a URL, and returns the complete body.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    /// - Returns: the body, and the response. A response with an error status is a success.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        // It does not call `data(for:delegate:)`, for the same reason that `whole` is inlined.
        try await whole(
            URLSessionDataTask(self, URLRequest(url: url), identifier: newIdentifier(for: nil), consumer: nil), delegate
        )
    }

    /// Loads a request, and returns its body byte by byte as it is received.
    ///
    /// Returns when the response's head has been received. While the program does not read the bytes, they are not read
    /// from the connection. When the sequence is released, the load is cancelled.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let task = URLSessionDataTask(self, request, identifier: newIdentifier(for: nil), consumer: nil)
        announce(task, delegate)
        let feed = BodyFeed(core.loop)
        let bytes = AsyncBytes(task: task, reader: BodyReader(feed) { task.currentRequest?.url })
        let response = try await withTaskCancellationHandler {
            try await core.loop.result { task.begin(.bytes(feed, $0)) }
        } onCancel: {
            task.cancel()
        }
        return (bytes, response)
    }

    /// Loads a URL, and returns its body byte by byte as it is received; see ``bytes(for:delegate:)``.
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }
}
