import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A task that puts the response's body into a file.
///
/// The file is private (mode 0600) and temporary: it is deleted when the delegate's `didFinishDownloadingTo` or the
/// completion handler returns, unless it was moved by then. An asynchronous caller gets it to keep.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    /// What the download goes on from; an error where the resume data was none.
    let resumption: Result<ResumeData, any Error>?
    /// The handlers that wait for the data to resume from.
    private let waiting = ResumeDataHandlers()

    init(
        _ session: URLSession, _ request: URLRequest, identifier: Int, consumer: TaskConsumer?,
        resumption: Result<ResumeData, any Error>? = nil
    ) {
        self.resumption = resumption
        super.init(session, request, identifier: identifier, consumer: consumer)
        if let data = try? resumption?.get() { firstURL = data.firstURL }
    }

    /// A data task goes on as a download.
    override init(_ session: URLSession, continuing task: URLSessionTask) {
        resumption = nil
        super.init(session, continuing: task)
    }

    /// A task that belongs to no session and loads nothing.
    public override init() {
        resumption = nil
        super.init()
    }

    /// Cancels the task, and gives what ``URLSession/downloadTask(withResumeData:)`` goes on from.
    ///
    /// The task ends with `URLError.cancelled`, in whose `userInfo` the data is, too. There is none when the download
    /// cannot be resumed: it can for a GET over http or https, of a resource with an `ETag` or `Last-Modified`, from a
    /// server that sends ranges of bytes. Of content that is coded (gzip, br, zstd) the bytes are kept as they came, as ranges
    /// are of those; a download that goes on so counts them, and decodes them when it has all.
    /// - Parameter completionHandler: called once, on the delegate queue.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        waiting.append(completionHandler, in: mailbox)
        cancel()
        guard let mailbox else { return produce(nil) }
        // Behind what ends it, which may be about to produce something.
        if state == .completed { mailbox.loop.execute { self.produce(nil) } }
    }

    /// Cancels the task, and gives what ``URLSession/downloadTask(withResumeData:)`` goes on from; nil when the download
    /// cannot be resumed.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }

    override var transferKind: TransferRecord.Kind? { .download }

    override func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        guard case .file(let recipient) = consumer else { return super.makeSink(consumer, core) }
        return FileSink(self, recipient, core)
    }

    override func loadDidEnd(_ error: (any Error)?) {
        produce((error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
    }

    var isAskedForResumeData: Bool { !waiting.isEmpty }

    /// Calls the handlers that wait for the data.
    func produce(_ data: Data?) { waiting.produce(data, in: mailbox) }
}

/// The key in an error's `userInfo` under which a broken download's resume data is, as `Data`.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

/// The same key by FoundationNetworking's name.
public let URLSessionDownloadTaskResumeData: String = NSURLSessionDownloadTaskResumeData
