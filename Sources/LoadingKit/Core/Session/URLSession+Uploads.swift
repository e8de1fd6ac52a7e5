import Foundation

extension URLSession {
    // MARK: Upload tasks

    /// A task that sends a file as the request's body, for the delegate. The request's own body is ignored.
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask {
        remember(makeUpload(request.sending(fileURL), .delegate))
    }

    /// A task that sends data as the request's body, for the delegate. The request's own body is ignored.
    public func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
        requireForeground(BackgroundRules.uploadOfData)
        return remember(makeUpload(request.sending(bodyData), .delegate))
    }

    /// A task that sends a stream as the request's body, for the delegate. When the task starts, it gets the stream
    /// from the delegate's method `needNewBodyStream`. Where that returns none, the request's own stream is sent.
    ///
    /// Without a `Content-Length` in the request, the body is sent in chunks (HTTP/1.1). With one, the stream must have
    /// exactly that number of bytes.
    public func uploadTask(withStreamedRequest request: URLRequest) -> URLSessionUploadTask {
        requireForeground(BackgroundRules.uploadOfStream)
        return remember(
            URLSessionUploadTask(
                self, request, identifier: core.nextIdentifier(), consumer: .delegate, requestsBodyStream: true))
    }

    /// A task that sends a file as the request's body, for a completion handler, which is called once, on the delegate
    /// queue.
    public func uploadTask(
        with request: URLRequest, fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        remember(makeUpload(request.sending(fileURL), .completion(completionHandler)))
    }

    /// A task that sends data as the request's body, for a completion handler, which is called once, on the delegate
    /// queue.
    public func uploadTask(
        with request: URLRequest, from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        remember(makeUpload(request.sending(bodyData), .completion(completionHandler)))
    }

    /// Sends a file as the request's body, and returns the complete response.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await whole(makeUpload(request.sending(fileURL), nil), delegate)
    }

    /// Sends data as the request's body, and returns the complete response.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await whole(makeUpload(request.sending(bodyData), nil), delegate)
    }

    /// A task that reports to its delegate, and writes the response's body into a file instead of passing it to the
    /// delegate.
    ///
    /// - Parameters:
    ///   - body: The file to send, as it was when the upload started.
    ///   - resource: The upload resource on the server, where an earlier task has sent a part of the body.
    package func uploadTask(
        with request: URLRequest, from body: BodyFile, at resource: URL?, into file: any SpooledFile
    ) -> URLSessionUploadTask {
        var request = request
        request.bodyFile = body
        let task = makeUpload(request, .delegateAndFile(file))
        task.resumption = resource.map { UploadResumption(request, goingOnAt: $0) }
        return task
    }

    // MARK: Resumed uploads

    /// A task that resumes an interrupted or cancelled upload, for the delegate.
    ///
    /// It requests the received offset from the server, and sends the rest. A file must not have changed since the
    /// upload started. For an upload from a stream, the delegate's method `needNewBodyStreamFrom` provides the rest.
    /// With data that is not an upload's resume data, the task fails with `URLError.cannotDecodeRawData`. In a
    /// background session the upload must be of a file, or the task fails with `URLError.resourceUnavailable`. See
    /// <doc:ResumableUploads>.
    public func uploadTask(withResumeData resumeData: Data) -> URLSessionUploadTask {
        remember(makeUpload(resumeData, .delegate))
    }

    /// A task that resumes an interrupted or cancelled upload, for a completion handler, which is called once, on the
    /// delegate queue; see ``uploadTask(withResumeData:)``.
    public func uploadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        remember(makeUpload(resumeData, .completion(completionHandler)))
    }

    /// Resumes an interrupted or cancelled upload, and returns the complete response; see
    /// ``uploadTask(withResumeData:)``.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    public func upload(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await whole(makeUpload(resumeData, nil), delegate)
    }

    private func makeUpload(_ resumeData: Data, _ consumer: TaskConsumer?) -> URLSessionUploadTask {
        URLSessionUploadTask(self, resumeData, identifier: newIdentifier(for: consumer), consumer: consumer)
    }

    private func makeUpload(_ request: URLRequest, _ consumer: TaskConsumer?) -> URLSessionUploadTask {
        URLSessionUploadTask(self, request, identifier: newIdentifier(for: consumer), consumer: consumer)
    }
}

extension URLRequest {
    fileprivate func sending(_ file: URL) -> URLRequest {
        var request = self
        request.bodyFile = BodyFile(file)
        return request
    }

    fileprivate func sending(_ data: Data?) -> URLRequest {
        var request = self
        request.httpBody = data
        return request
    }
}
