import Foundation

extension URLSession {
    /// Loads a request into a file. The caller must move or delete the file.
    ///
    /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
    /// - Parameter delegate: a delegate for this load only. Methods that it lacks are called on the session's delegate.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await file(makeDownload(request, nil), delegate)
    }

    /// Loads a URL into a file. The caller must move or delete the file; see ``download(for:delegate:)``.
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }

    /// Resumes an interrupted or cancelled download. The caller must move or delete the file; see
    /// ``downloadTask(withResumeData:)``.
    public func download(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await file(makeDownload(resumeData, nil), delegate)
    }

    private func file(
        _ task: URLSessionDownloadTask, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URL, URLResponse) {
        announce(task, delegate)
        return try await withTaskCancellationHandler {
            try await core.loop.result { task.begin(.file(.continuation($0))) }
        } onCancel: {
            task.cancel()
        }
    }

    func makeDownload(_ request: URLRequest, _ consumer: TaskConsumer?) -> URLSessionDownloadTask {
        URLSessionDownloadTask(self, request, identifier: newIdentifier(for: consumer), consumer: consumer)
    }

    func makeDownload(_ resumeData: Data, _ consumer: TaskConsumer?) -> URLSessionDownloadTask {
        let resumption = Result<ResumeData, any Error> {
            var data = try ResumeData(resumeData)
            guard core.registry.builtIn(for: data.request)?.ranges != RangeSupport.unsupported else {
                throw ResumeData.invalid("downloads of its URL's scheme are not resumed")
            }
            data.url = core.namedUsers.name(data.user, in: data.url)
            return data
        }
        let request = (try? resumption.get())?.request ?? URLRequest(url: URL(fileURLWithPath: "/"))
        return URLSessionDownloadTask(
            self, request, identifier: newIdentifier(for: consumer), consumer: consumer, resumption: resumption)
    }
}
