import Foundation

/// A task that sends data, a file or a stream as the body of its request, and delivers the response's body as a data
/// task does.
///
/// The length of a file or of data is sent as `Content-Length`; a stream of unknown length is sent in chunks over
/// HTTP/1.1.
///
/// Where the server supports it, an upload with a broken connection resumes where it ended: see <doc:ResumableUploads>.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {  // as its superclass
    private let bodyIsDelegatesStream: Bool
    /// The reason why the task cannot resume an upload, where it was created with other data than resume data.
    private let resumeDataError: (any Error)?
    private let waiting = ResumeDataHandlers()

    /// The location of the partial upload on the server. Nil until the server sends it, and after the upload is
    /// complete. Used only on the session's event loop, once the task was resumed.
    nonisolated(unsafe) package var resumption: UploadResumption?

    init(
        _ session: URLSession, _ request: URLRequest, identifier: Int, consumer: TaskConsumer?,
        requestsBodyStream: Bool = false
    ) {
        bodyIsDelegatesStream = requestsBodyStream
        resumeDataError = nil
        super.init(session, request, identifier: identifier, consumer: consumer)
        if requestsBodyStream { expectStream(of: request) }
    }

    /// Resumes an upload.
    init(_ session: URLSession, _ resumeData: Data, identifier: Int, consumer: TaskConsumer?) {
        bodyIsDelegatesStream = false
        var error: (any Error)?
        do {
            var data = try UploadResumeData(resumeData)
            guard let handler = session.core.registry.builtIn(for: data.request) else {
                throw LoadFailure(
                    .unsupportedURL,
                    "the session has no handler that resumes uploads to \(ShownURL.withoutSecrets(data.url))")
            }
            guard handler.resumesUploads else {
                throw UploadResumeData.invalid("uploads of its URL's scheme are not resumed")
            }
            data.url = session.core.namedUsers.name(data.user, in: data.url)
            resumption = UploadResumption(data)
        } catch let failure {
            error = failure
        }
        resumeDataError = error
        let request = resumption?.request ?? URLRequest(url: URL(fileURLWithPath: "/"))
        super.init(session, request, identifier: identifier, consumer: consumer)
        guard let resumption else { return }
        firstURL = resumption.firstURL
        if !resumption.request.hasBody { expectStream(of: resumption.request) }
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

    /// The delegate gives the body, a stream, later.
    private func expectStream(of request: URLRequest?) {
        countOfBytesExpectedToSend = request?.countOfStream ?? NSURLSessionTransferSizeUnknown
    }

    // MARK: Resume data

    /// Cancels the task, and passes the resume data for ``URLSession/uploadTask(withResumeData:)`` to the handler.
    ///
    /// The task ends with `URLError.cancelled`, whose `userInfo` contains the data, too. There is none when the upload
    /// cannot be resumed. It can be resumed when the server has sent 104 (Upload Resumption Supported), and not yet its
    /// final response.
    /// - Parameter completionHandler: called once, on the delegate queue.
    open func cancel(byProducingResumeData completionHandler: @escaping (Data?) -> Void) {
        cancel(waiting, completionHandler)
    }

    /// Cancels the task, and returns the resume data for ``URLSession/uploadTask(withResumeData:)``; nil when the
    /// upload cannot be resumed.
    public func cancelByProducingResumeData() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel { continuation.resume(returning: $0) }
        }
    }

    override func checkCanBegin() throws {
        if let resumeDataError { throw resumeDataError }
    }

    override var resumeDataHandlers: ResumeDataHandlers? { waiting }

    /// Adds the resume data to the error; not where the program has cancelled the upload without a request for it.
    override func described(_ error: any Error) -> any Error {
        guard let failure = error as? URLError, failure.code != .cancelled || !waiting.isEmpty, let resumption,
            !resumption.isAltered(from: currentRequest), var data = UploadResumeData(resumption)
        else { return error }
        data.user = resumption.request.url.flatMap { session?.core.namedUsers.word(for: $0) }
        guard let encoded = data.encoded else { return error }
        return failure.adding(encoded, NSURLSessionUploadTaskResumeData)
    }

    override func loadDidEnd(_ error: (any Error)?) {
        resumption = nil
        waiting.produce((error as? URLError)?.uploadTaskResumeData, in: mailbox)
    }

    // MARK: Called by the load

    /// The body is sent from `offset` on: the server has the bytes before it.
    package func bodyGoesOn(at offset: Int64, of total: Int64?) {
        countOfBytesSent = offset
        countOfBytesExpectedToSend = total ?? NSURLSessionTransferSizeUnknown
        updateProgress()
    }
}

/// The key in an error's `userInfo` for an interrupted upload's resume data, a `Data`.
public let NSURLSessionUploadTaskResumeData: String = "NSURLSessionUploadTaskResumeData"

extension URLError {
    /// The data for ``URLSession/uploadTask(withResumeData:)``, where the error belongs to an upload that can be
    /// resumed.
    public var uploadTaskResumeData: Data? { userInfo[NSURLSessionUploadTaskResumeData] as? Data }
}
