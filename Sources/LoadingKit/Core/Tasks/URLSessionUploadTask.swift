import Foundation
import LoadingKitTransport

/// A task that sends a body of data, of a file or of a stream with its request, and gives the response's body as a data
/// task does.
///
/// A file's length, or data's, is sent as `Content-Length`; a stream of unknown length is sent in chunks over HTTP/1.1.
///
/// Where the server supports that, an upload whose connection breaks goes on where it ended: see <doc:ResumableUploads>.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {  // as its superclass
    private let bodyIsDelegatesStream: Bool
    /// Why the task cannot go on with an upload, where it was made with something else than resume data.
    private let resumeDataError: (any Error)?
    private let waiting = ResumeDataHandlers()

    /// Where the server has what was sent of the body. Nil until it says so, and when the upload is complete. Touched on the
    /// session's event loop alone, once the task was resumed.
    nonisolated(unsafe) package var resumption: UploadResumption?

    init(
        _ session: URLSession, _ request: URLRequest, identifier: Int, consumer: TaskConsumer?,
        requestsBodyStream: Bool = false
    ) {
        bodyIsDelegatesStream = requestsBodyStream
        resumeDataError = nil
        super.init(session, request, identifier: identifier, consumer: consumer)
    }

    /// Goes on with an upload.
    init(_ session: URLSession, _ resumeData: Data, identifier: Int, consumer: TaskConsumer?) {
        bodyIsDelegatesStream = false
        var error: (any Error)?
        do {
            var data = try UploadResumeData(resumeData)
            data.url = session.core.namedUsers.name(data.user, in: data.url)
            resumption = UploadResumption(data)
        } catch let failure {
            error = failure
        }
        resumeDataError = error
        let request = resumption?.request ?? URLRequest(url: URL(fileURLWithPath: "/"))
        super.init(session, request, identifier: identifier, consumer: consumer)
        if let resumption { firstURL = resumption.firstURL }
    }

    /// A task that belongs to no session and loads nothing.
    public override init() {
        bodyIsDelegatesStream = false
        resumeDataError = nil
        super.init()
    }

    override var hasBodyBesideRequest: Bool { true }

    override var transferKind: TransferRecord.Kind? { .upload }

    override var requestsBodyStream: Bool { bodyIsDelegatesStream }

    // MARK: Resume data

    /// Cancels the task, and gives what ``URLSession/uploadTask(withResumeData:)`` goes on from.
    ///
    /// The task ends with `URLError.cancelled`, in whose `userInfo` the data is, too. There is none when the upload cannot
    /// be resumed: it can when the server has answered with 104 (Upload Resumption Supported) by then, and not with its
    /// final response.
    /// - Parameter completionHandler: called once, on the delegate queue.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        waiting.append(completionHandler, in: mailbox)
        cancel()
        guard let mailbox else { return waiting.produce(nil, in: nil) }
        // Behind what ends it, which may be about to produce something.
        if state == .completed { mailbox.loop.execute { self.waiting.produce(nil, in: mailbox) } }
    }

    /// Cancels the task, and gives what ``URLSession/uploadTask(withResumeData:)`` goes on from; nil when the upload cannot
    /// be resumed.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }

    override func checkCanBegin() throws {
        if let resumeDataError { throw resumeDataError }
    }

    var isAskedForResumeData: Bool { !waiting.isEmpty }

    /// Adds what the upload can be resumed from; not where the program has cancelled it without asking for that.
    override func described(_ error: any Error) -> any Error {
        guard let failure = error as? URLError, failure.code != .cancelled || !waiting.isEmpty, let resumption,
            !resumption.isAltered(from: currentRequest), var data = UploadResumeData(resumption)
        else { return error }
        data.user = resumption.request.url.flatMap { session?.core.namedUsers.word(for: $0) }
        guard let encoded = data.encoded else { return error }
        var information = failure.userInfo
        information[NSURLSessionUploadTaskResumeData] = encoded
        return URLError(failure.code, userInfo: information)
    }

    override func loadDidEnd(_ error: (any Error)?) {
        resumption = nil
        waiting.produce((error as? URLError)?.uploadTaskResumeData, in: mailbox)
    }

    // MARK: From what loads

    /// The body is sent from there on: what the server has is sent.
    package func bodyGoesOn(at offset: Int64, of total: Int64?) {
        countOfBytesSent = offset
        countOfBytesExpectedToSend = total ?? NSURLSessionTransferSizeUnknown
        updateProgress()
    }
}

/// The key in an error's `userInfo` under which a broken upload's resume data is, as `Data`.
public let NSURLSessionUploadTaskResumeData: String = "NSURLSessionUploadTaskResumeData"

extension URLError {
    /// What ``URLSession/uploadTask(withResumeData:)`` goes on from, where the error is of an upload that can be resumed.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }
}
