import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// One attempt of a transfer: the delegate of the loading task, and the receiver of the response body, which it writes
/// to the part file. Everything else is done by the service, on its event loop, in order.
final class TransferAttempt: NSObject, URLSessionDataDelegate, SpooledFile, @unchecked Sendable {  // as the fields say

    private struct Counts: Sendable {
        var progress: TransferProgress
        /// Whether the loop was notified of the progress.
        var isReported = false
    }

    let file: PartFile
    /// The transfer's URL, for errors.
    private let url: URL?
    /// The resume data and the offset of a partial request; nil where the attempt requests the whole content.
    private let resuming: (data: ResumeData, offset: Int64)?
    private let counts: Guarded<Counts>
    private let loop: EventLoop
    private weak var service: TransferService?
    private weak var transfer: ServiceTransfer?
    /// The failure that has ended the attempt, where it was not the load's own error.
    private let failure = Guarded<AttemptFailure?>(nil)
    /// Whether the server has reported that the part file has the whole content. Used on the delegate queue.
    private var isComplete = false
    /// The size of the content, where the response continues the part file, and the size is known. Used on the delegate
    /// queue.
    private var size: Int64?

    // Used on the service's loop.

    var task: URLSessionTask?
    var loadLoop: EventLoop?
    /// The resume data from which a later attempt may continue.
    var resumeData: ResumeData?
    /// The response's `Content-Encoding`. The part file has the encoded content.
    var coding: String?
    /// Whether the attempt continues an upload that an earlier attempt has begun.
    let wentOn: Bool
    let isUpload: Bool
    /// Whether the transfer continues one that was redirected from another origin.
    private let beganElsewhere: Bool
    var isWaitingForConnectivity = false
    /// Challenges that wait for the program's answers, by number.
    var challenges: [Int: (challenge: URLAuthenticationChallenge, answer: ChallengeAnswer)] = [:]
    /// No progress is reported before this time.
    var nextReport: MonotonicTime?
    /// The timer that synchronizes the part file some time after bytes were written.
    var synchronizing: LoopTimer?
    var isSynchronizing = false

    init(
        _ transfer: ServiceTransfer, _ status: TransferStatus, _ service: TransferService, _ file: PartFile,
        of url: URL?, resuming: (data: ResumeData, offset: Int64)?
    ) {
        (self.transfer, self.service, loop) = (transfer, service, service.loop)
        self.file = file
        self.url = url
        self.resuming = resuming
        var progress = status.progress
        (progress.received, progress.sent) = (file.count, 0)
        counts = Guarded(Counts(progress: progress))
        resumeData = resuming?.data
        wentOn = status.uploadResource != nil
        isUpload = transfer.record?.kind == .upload
        beganElsewhere = transfer.record?.firstURL.map { url?.isSameOrigin(as: $0) != true } ?? false
    }

    /// Whether this is an upload, and the server has answered it.
    var isAnsweredUpload: Bool { isUpload && task?.response != nil }

    var progress: TransferProgress { counts.withLock { $0.progress } }

    /// Takes the progress to report. The loop is notified again of later progress.
    func takeProgress() -> TransferProgress {
        counts.withLock { counts in
            counts.isReported = false
            return counts.progress
        }
    }

    /// Stops the attempt, whose permission to write was revoked: later events are ignored. On the service's loop.
    func stop() {
        synchronizing?.cancel()
        task?.cancel()
        task = nil
        for open in challenges.values { open.answer(.cancelAuthenticationChallenge, nil) }
        challenges = [:]
    }

    /// Runs a closure on the service's loop.
    ///
    /// - Parameter dismiss: Runs instead where the attempt is over.
    private func onLoop(
        else dismiss: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (TransferService, ServiceTransfer) -> Void
    ) {
        loop.execute { [self] in
            guard let service, let transfer, transfer.attempt === self else { return dismiss() }
            body(service, transfer)
        }
    }

    private func update(_ change: (inout Counts) -> Void) {
        let isNews = counts.withLock { counts in
            change(&counts)
            defer { counts.isReported = true }
            return !counts.isReported
        }
        if isNews { onLoop { [self] service, transfer in service.didProgress(self, transfer) } }
    }

    private func keep(_ failure: AttemptFailure) { self.failure.withLock { if $0 == nil { $0 = failure } } }

    // MARK: The response

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let answer = resuming.map { $0.data.answer(response, from: $0.offset) }
        var expected = response.expectedContentLength
        var goesOn = false
        size = nil
        do {
            if case .rest(let size) = answer {
                expected = size
                goesOn = true
                self.size = size < 0 ? nil : size
            } else {
                // The process may have been killed when all bytes had arrived.
                if answer == .complete {
                    isComplete = true
                    return completionHandler(.cancel)
                }
                if file.count > 0 { try file.startOver() }
                // The server sent other bytes than those requested, so the next attempt requests the whole content.
                if answer == .other {
                    keep(.startOver)
                    return completionHandler(.cancel)
                }
            }
        } catch {
            keep(AttemptFailure(of: error, url))
            return completionHandler(.cancel)
        }
        let (received, total) = (file.count, expected)
        counts.withLock { counts in
            counts.progress.received = received
            counts.progress.expectedToReceive = total
        }
        onLoop(else: { completionHandler(.cancel) }) { [self, goesOn] service, transfer in
            service.didReceive(response, goesOn: goesOn, completionHandler, self, transfer)
        }
    }

    // MARK: The body

    var count: Int64 { file.count }

    /// Writes to the part file. The response has stated the length of the body, of which this data may be a part.
    func perform(_ operations: [SpoolOperation], expecting _: Int64) throws -> Int64 {
        let expected = counts.withLock { $0.progress.expectedToReceive }
        var written: Int64 = 0
        do {
            for operation in operations {
                switch operation {
                case .startOver: try file.startOver()
                case .write(let data):
                    try file.write(data, expecting: expected)
                    written += Int64(data.count)
                }
            }
        } catch {
            keep(AttemptFailure(of: error, url))
            throw error
        }
        let count = file.count
        update { $0.progress.received = count }
        return written
    }

    /// The failure of a load that has succeeded with another number of bytes than the response has announced.
    private var lengthFailure: AttemptFailure? {
        ResumeData.failure(file.count, of: size).map { AttemptFailure(TransferError(URLError($0, url: url))) }
    }

    // MARK: Other delegate methods

    /// The loading engine has evaluated a 104 response by the time this method is called.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        guard response.statusCode == 104, let task = task as? URLSessionUploadTask else { return }
        session.core.loop.execute { [self] in noteResource(of: task) }
    }

    /// On the event loop of the load.
    private func noteResource(of task: URLSessionUploadTask) {
        // A resource of another origin is not used: its request would send the transfer's fields there. HSTS changes
        // the task's first URL, and not its original request. Where the transfer continues one that was redirected from
        // another origin, the first URL has that origin, and the request's URL is compared.
        let own = beganElsewhere ? url : task.firstURL
        if let resource = task.resumption?.resource, own?.isSameOrigin(as: resource) == true { uploadIsAt(resource) }
    }

    /// Requests the load's knowledge of an upload's resource on the load's loop, and calls back on the service's loop.
    func askForResource(_ completion: @escaping @Sendable () -> Void) {
        guard let task = task as? URLSessionUploadTask, let loadLoop else { return completion() }
        loadLoop.execute { [self] in
            noteResource(of: task)
            loop.execute(completion)
        }
    }

    /// - Parameter resource: The upload's resource on the server; nil where the server does not continue the upload.
    private func uploadIsAt(_ resource: URL?) {
        onLoop { service, transfer in
            guard transfer.record?.kind == .upload, resource != transfer.record?.status.uploadResource else { return }
            transfer.record?.status.uploadResource = resource
            service.saveStatus(transfer)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        update { counts in
            counts.progress.sent = totalBytesSent
            counts.progress.expectedToSend = totalBytesExpectedToSend
        }
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        onLoop { [self] service, transfer in service.didBeginWait(self, transfer) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if var next = TransferRequest(request) {
            // The body is that of the transfer's request, and may be long.
            next.body = nil
            onLoop { [next] _, transfer in
                transfer.record?.status.currentRequest = next
                transfer.session.client?.receive(.redirected(transfer.identifier, next))
            }
        }
        completionHandler(request)
    }

    /// A proposed credential that was not refused is used without asking the program.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeAnswer
    ) {
        if challenge.proposedCredential != nil, challenge.previousFailureCount == 0 {
            return completionHandler(.performDefaultHandling, nil)
        }
        onLoop(else: { completionHandler(.cancelAuthenticationChallenge, nil) }) { [self] service, transfer in
            service.didReceive(challenge, completionHandler, self, transfer)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        let metrics = TransferMetrics(metrics)
        onLoop { _, transfer in transfer.keep(metrics) }
    }

    /// The last event of the attempt.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if !isComplete, let error = error as? URLError, error.code != .cancelled, error.uploadTaskResumeData == nil {
            uploadIsAt(nil)
        }
        let loadFailure = error.map { AttemptFailure(TransferError($0)) } ?? lengthFailure
        let reason = isComplete ? nil : failure.withLock { $0 } ?? loadFailure
        onLoop { [self] service, transfer in
            var failure = reason
            // The server no longer has the upload's resource, so the upload is sent again from its beginning.
            if wentOn, !isAnsweredUpload, transfer.record?.status.uploadResource == nil, case .final? = failure {
                failure = .startOver
            }
            if let response = task.response as? HTTPURLResponse, response.trailers != nil {
                transfer.record?.status.response = TransferResponse(response)
            }
            guard let failure else { return service.input(transfer) { $0.attemptDidSucceed() } }
            service.attemptDidEnd(failure, transfer)
        }
    }
}
