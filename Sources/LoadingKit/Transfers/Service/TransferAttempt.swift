import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// One attempt of a transfer: the delegate of the task that loads, and what the body is put into, which is the part file. All
/// else goes on in the service, on its event loop, in order.
final class TransferAttempt: NSObject, URLSessionDataDelegate, SpooledFile, @unchecked Sendable {  // as the fields say
    typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private struct Counts: Sendable {
        var progress: TransferProgress
        /// Whether the loop is told that there is progress.
        var isReported = false
    }

    let file: PartFile
    /// The transfer's URL, for errors.
    private let url: URL?
    /// What the attempt asks for, where it does not ask for all.
    private let resuming: (data: ResumeData, offset: Int64)?
    private let counts: Guarded<Counts>
    private let loop: EventLoop
    private weak var service: TransferService?
    private weak var transfer: ServiceTransfer?
    /// What has ended the attempt, where it was not the load itself.
    private let failure = Guarded<AttemptFailure?>(nil)
    /// Whether the server has said that there is nothing behind what is there. Used on the delegate queue.
    private var isComplete = false

    // Used on the service's loop.

    var task: URLSessionTask?
    /// That of the task's session.
    var loadLoop: EventLoop?
    /// What a later attempt may go on from.
    var resumeData: ResumeData?
    /// The response's `Content-Encoding`: the part file has the content so.
    var coding: String?
    /// Whether it goes on with an upload that an earlier one has begun.
    let wentOn: Bool
    var isWaitingForConnectivity = false
    /// Challenges that wait for the program's answers, by number.
    var challenges: [Int: (challenge: URLAuthenticationChallenge, answer: ChallengeAnswer)] = [:]
    var lastChallenge = 0
    /// Before that no progress is told.
    var nextReport: MonotonicTime?
    /// Puts what was written on the disk, a while after it was written.
    var synchronizing: LoopTimer?
    var isSynchronizing = false

    init(
        _ transfer: ServiceTransfer, _ standing: TransferStanding, _ service: TransferService, _ file: PartFile,
        of url: URL?, resuming: (data: ResumeData, offset: Int64)?
    ) {
        (self.transfer, self.service, loop) = (transfer, service, service.loop)
        self.file = file
        self.url = url
        self.resuming = resuming
        var progress = standing.progress
        (progress.received, progress.sent) = (file.count, 0)
        counts = Guarded(Counts(progress: progress))
        resumeData = resuming?.data
        wentOn = standing.uploadResource != nil
    }

    var progress: TransferProgress { counts.withLock { $0.progress } }

    /// The progress to tell, which is taken: of later progress the loop is told again.
    func takeProgress() -> TransferProgress {
        counts.withLock { counts in
            counts.isReported = false
            return counts.progress
        }
    }

    /// Nothing that still comes is heard. Waits for what is just being written. On the service's loop.
    func stop() {
        synchronizing?.cancel()
        synchronizing = nil
        file.close()
        task?.cancel()
        task = nil
        for open in challenges.values { open.answer(.cancelAuthenticationChallenge, nil) }
        challenges = [:]
    }

    /// Does something on the service's loop.
    ///
    /// - Parameter dismiss: Done in its place where the attempt is over.
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
        let answer = response as? HTTPURLResponse
        var expected = response.expectedContentLength
        var goesOn = false
        do {
            if let resuming, let answer, resuming.data.isContinued(by: answer, from: resuming.offset) {
                let range = answer.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
                expected = range?.total ?? (expected < 0 ? -1 : resuming.offset &+ expected)
                goesOn = true
            } else {
                if let resuming, let answer, Self.isComplete(answer, resuming.offset) {
                    isComplete = true
                    return completionHandler(.cancel)
                }
                if file.count > 0 { try file.startOver() }
                // Other bytes than those asked for: all of them are asked for, then.
                if resuming != nil, answer?.statusCode == 206 || answer?.statusCode == 416 {
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

    /// Whether all bytes of the version that was asked for are there: the process may have been killed when they were. To
    /// another version the server would have sent all of it (RFC 9110 §13.1.5, §15.5.17).
    private static func isComplete(_ response: HTTPURLResponse, _ count: Int64) -> Bool {
        response.statusCode == 416 && response.value(forHTTPHeaderField: "Content-Range") == "bytes */\(count)"
    }

    // MARK: The body

    var count: Int64 { file.count }

    /// How long the body is the response has said, of which this is at times a part.
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

    // MARK: All else

    /// What a 104 means is known where the load is made, by then.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        guard response.statusCode == 104, let task = task as? URLSessionUploadTask else { return }
        session.core.loop.execute { [self] in noteResource(of: task) }
    }

    /// On the loop of the load.
    private func noteResource(of task: URLSessionUploadTask) {
        // One of another origin, after a redirect, is not the transfer's: its request would go there with its fields.
        let resource = task.resumption?.resource
        if let resource, task.originalRequest?.url?.isSameOrigin(as: resource) == true { uploadIsAt(resource) }
    }

    /// Asks where the load is made for what it knows of an upload, and calls back on the service's loop.
    func askForResource(_ completion: @escaping @Sendable () -> Void) {
        guard let task = task as? URLSessionUploadTask, let loadLoop else { return completion() }
        loadLoop.execute { [self] in
            noteResource(of: task)
            loop.execute(completion)
        }
    }

    /// - Parameter resource: Where the server has what is sent; nil where it does not go on with it.
    private func uploadIsAt(_ resource: URL?) {
        onLoop { service, transfer in
            guard transfer.record?.kind == .upload, resource != transfer.record?.standing.uploadResource else { return }
            transfer.record?.standing.uploadResource = resource
            service.keepStanding(transfer)
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
        onLoop { [self] _, _ in isWaitingForConnectivity = true }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if let next = TransferRequest(request) {
            onLoop { _, transfer in
                transfer.record?.standing.currentRequest = next
                transfer.session.client?.receive(.redirected(transfer.identifier, next))
            }
        }
        completionHandler(request)
    }

    /// A credential that is there and was not refused is used, without a question to the program.
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

    /// Nothing follows.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if !isComplete, let error = error as? URLError, error.code != .cancelled, error.uploadTaskResumeData == nil {
            uploadIsAt(nil)
        }
        let reason = isComplete ? nil : failure.withLock { $0 } ?? error.map { AttemptFailure(TransferError($0)) }
        onLoop { [self] service, transfer in
            var failure = reason
            // What the server has forgotten is sent anew.
            if wentOn, transfer.record?.standing.uploadResource == nil, case .final? = failure { failure = .startOver }
            if let response = task.response as? HTTPURLResponse, response.trailers != nil {
                transfer.record?.standing.response = TransferResponse(response)
            }
            guard let failure else { return service.input(transfer) { $0.attemptDidSucceed() } }
            service.attemptDidEnd(failure, transfer)
        }
    }
}
