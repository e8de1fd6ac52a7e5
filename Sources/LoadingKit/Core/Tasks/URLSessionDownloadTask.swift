import Foundation

/// A task that writes the response's body into a file.
///
/// The file is private (mode 0600) and temporary: it is deleted when the delegate's `didFinishDownloadingTo` or the
/// completion handler returns, unless it was moved by then. An asynchronous caller owns the file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    /// The resume data of the download; an error where the data was not resume data.
    let resumption: Result<ResumeData, any Error>?
    /// The handlers that wait for resume data.
    private let waiting = ResumeDataHandlers()

    init(
        _ session: URLSession, _ request: URLRequest, identifier: Int, consumer: TaskConsumer?,
        resumption: Result<ResumeData, any Error>? = nil
    ) {
        self.resumption = resumption
        super.init(session, request, identifier: identifier, consumer: consumer)
        if let data = try? resumption?.get() { firstURL = data.firstURL }
    }

    /// Continues a data task as a download.
    override init(_ session: URLSession, continuing task: URLSessionTask) {
        resumption = nil
        super.init(session, continuing: task)
    }

    /// A task that belongs to no session and loads nothing.
    public override init() {
        resumption = nil
        super.init()
    }

    /// Cancels the task, and passes the resume data for ``URLSession/downloadTask(withResumeData:)`` to the handler.
    ///
    /// The task ends with `URLError.cancelled`, whose `userInfo` contains the data, too. There is none when the
    /// download cannot be resumed. It can be resumed for a GET of a resource with an `ETag` or `Last-Modified`, from a
    /// server that supports byte ranges. For schemes other than http and https, the response has to say so
    /// (`Accept-Ranges: bytes`); `file` and `data` are never resumed. Coded content (gzip, br, zstd) is stored as it
    /// was received, because ranges apply to the coded bytes. A resumed download counts these bytes, and decodes them
    /// when it is complete.
    /// - Parameter completionHandler: called once, on the delegate queue.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        cancel(waiting, completionHandler)
    }

    /// Cancels the task, and returns the resume data for ``URLSession/downloadTask(withResumeData:)``; nil when the
    /// download cannot be resumed.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }

    override var transferKind: TransferRecord.Kind? { .download }

    override func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        guard case .file(let recipient) = consumer else { return super.makeSink(consumer, core) }
        return makeFileSink(recipient, core)
    }

    func makeFileSink(_ recipient: FileRecipient, _ core: SessionCore) -> FileSink {
        FileSink(recipient, resumption, waiting, core.chunks)
    }

    override func loadDidEnd(_ error: (any Error)?) {
        waiting.produce((error as? URLError)?.downloadTaskResumeData, in: mailbox)
    }

    override var resumeDataHandlers: ResumeDataHandlers? { waiting }
}

/// The key in an error's `userInfo` for an interrupted download's resume data, a `Data`.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

/// The same key under FoundationNetworking's name.
public let URLSessionDownloadTaskResumeData: String = NSURLSessionDownloadTaskResumeData
