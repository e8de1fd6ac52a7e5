import Foundation

extension URLSession {
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

    func makeUpload(_ resumeData: Data, _ consumer: TaskConsumer?) -> URLSessionUploadTask {
        URLSessionUploadTask(self, resumeData, identifier: newIdentifier(for: consumer), consumer: consumer)
    }

    func makeUpload(_ request: URLRequest, _ consumer: TaskConsumer?) -> URLSessionUploadTask {
        URLSessionUploadTask(self, request, identifier: newIdentifier(for: consumer), consumer: consumer)
    }
}

extension URLRequest {
    func sending(_ file: URL) -> URLRequest {
        var request = self
        request.bodyFile = BodyFile(file)
        return request
    }

    func sending(_ data: Data?) -> URLRequest {
        var request = self
        request.httpBody = data
        return request
    }
}
