import Foundation

extension URLSession {
    // MARK: Download tasks

    /// A task that loads a request into a file, for the delegate.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        remember(makeDownload(request, .file(.delegate)))
    }

    /// A task that loads a URL into a file, for the delegate.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask { downloadTask(with: URLRequest(url: url)) }

    /// A task that resumes an interrupted or cancelled download, for the delegate.
    ///
    /// It requests the rest from the server. When the resource has changed, the download starts from the beginning.
    /// When the server reports that there is no rest, the download is complete: the task's response then has the
    /// status 206 and no content.
    /// With data that is not resume data, the task fails with `URLError.cannotDecodeRawData`.
    public func downloadTask(withResumeData resumeData: Data) -> URLSessionDownloadTask {
        remember(makeDownload(resumeData, .file(.delegate)))
    }

    /// A task that loads a request into a file, for a completion handler, which is called once, on the delegate queue.
    /// The file is deleted when the handler returns.
    public func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        remember(makeDownload(request, .file(.completion(completionHandler))))
    }

    /// A task that loads a URL into a file, for a completion handler, which is called once, on the delegate queue. The
    /// file is deleted when the handler returns.
    public func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task that resumes an interrupted or cancelled download, for a completion handler, which is called once, on the
    /// delegate queue. The file is deleted when the handler returns.
    public func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        remember(makeDownload(resumeData, .file(.completion(completionHandler))))
    }

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

    private func makeDownload(_ request: URLRequest, _ consumer: TaskConsumer?) -> URLSessionDownloadTask {
        URLSessionDownloadTask(self, request, identifier: newIdentifier(for: consumer), consumer: consumer)
    }

    private func makeDownload(_ resumeData: Data, _ consumer: TaskConsumer?) -> URLSessionDownloadTask {
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
