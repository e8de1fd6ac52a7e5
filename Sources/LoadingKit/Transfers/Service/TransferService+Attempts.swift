import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

// Attempts: their beginning, their events, and their end.
extension TransferService {
    /// A transfer with more content than this is worth continuing after a failure, in bytes.
    private static let leastWorthKeeping: Int64 = 256 << 10
    /// The part file is synchronized after this number of bytes, or this number of seconds.
    private static let synchronizedBytes: Int64 = 16 << 20
    private static let synchronizedSeconds = 5.0
    /// Progress is reported at most ten times a second.
    private static let reportInterval = 0.1

    func urlSession(of session: ServiceSession) throws -> URLSession {
        if let made = session.urlSession {
            // The program may have changed its stores on disk.
            made.core.settings.httpCookieStorage?.reload()
            made.core.settings.credentialStorage?.reload()
            made.core.settings.hsts.reload()
            return made
        }
        let configuration = environment.makeConfiguration(session.description)
        try session.description.apply(to: &configuration.settings)
        // The service's own clock limits the time of a transfer, over all attempts.
        configuration.timeoutIntervalForResource = 0
        configuration.urlCache = nil
        if session.settings.isDiscretionary { configuration.allowsExpensiveNetworkAccess = false }
        let made = URLSession(configuration: configuration)
        session.urlSession = made
        return made
    }

    // MARK: Beginning

    /// The result of opening an attempt's files.
    private enum OpenedFiles: Sendable {
        case open(PartFile, upload: BodyFile?)
        /// The complete file is at its destination already. The surplus files are to be removed.
        case placed(surplus: [String])
    }

    func startAttempt(_ transfer: ServiceTransfer) {
        let permission = PartFile.Permission()
        transfer.permission = permission
        if transfer.row.earliestBeginDate != nil {
            // A later process does not ask again whether the transfer begins.
            transfer.row.earliestBeginDate = nil
            note(transfer)
        }
        let found: TransferRecord?
        do { found = try record(of: transfer) } catch {
            // The next attempt may be able to read the journal: the disk failed, or another process held the lock.
            return attemptDidEnd(.broken(TransferError(error)), transfer)
        }
        guard let record = found else { return attemptDidEnd(.final(.unreadable), transfer) }
        transfer.record = record
        let (folder, boot, upload) = (transfer.session.folder, environment.bootIdentifier, transfer.upload)
        let (path, position) = (folder.path(of: transfer.identifier), transfer.position)
        transfer.position = nil
        work(on: .shared, for: transfer) { () -> OpenedFiles in
            try folder.make()
            if let destination = record.destination,
                let surplus = try DestinationFile.findPlaced(path, at: destination)
            {
                return .placed(surplus: surplus)
            }
            let copy = record.uploadFile == nil ? nil : folder.copy(of: transfer.identifier)
            let source = upload ?? copy ?? record.uploadFile.map { UploadFile(path: $0) }
            let body = try source?.checked(record.status.uploadFile)
            let part = record.status.part
            let file = try PartFile(
                path, record: part, bootIdentifier: boot, position: position, permission: permission)
            return .open(file, upload: body)
        } then: { [self] files in
            switch files {
            case .open(let file, let upload): try load(transfer, file, upload)
            case .placed(let surplus): didComplete(transfer, surplus)
            }
        }
    }

    /// Performs work that may block, and continues with its result, unless the attempt is over by then. Where the work
    /// throws, the attempt has failed.
    func work<Value: Sendable>(
        on pool: BlockingPool = TransferService.synchronizers, for transfer: ServiceTransfer,
        _ body: @escaping @Sendable () throws -> Value, then next: @escaping (Value) throws -> Void
    ) {
        let permission = transfer.permission
        loop.offload(to: pool, body) { [self] result in
            guard transfer.permission === permission else { return }
            do { try next(result.get()) } catch { attemptDidEnd(AttemptFailure(of: error, transfer.url), transfer) }
        }
    }

    private func load(_ transfer: ServiceTransfer, _ file: PartFile, _ upload: BodyFile?) throws {
        guard let record = transfer.record, var request = record.request.request else {
            throw LoadFailure(.badURL, "the request has no URL that can be loaded")
        }
        // Transfers have no cache: another attempt would find no stored response, either.
        let settings = transfer.session.settings
        guard !settings.forbidsLoading(request) else { throw LoadFailure.nothingStored }
        // A range applies to the encoded content (RFC 9110 §14); the whole content is decoded when it is complete.
        if record.kind == .download { request.keepsContentCodings = true }
        var resuming: (data: ResumeData, offset: Int64)?
        let count = file.count
        if count > 0, let data = record.status.part.flatMap({ try? ResumeData($0.resumeData) }) {
            resuming = (data, count)
            request = data.rest(of: request, from: count)
        }
        let resource = record.status.uploadResource
        let attempt = TransferAttempt(transfer, record.status, self, file, of: request.url, resuming: resuming)
        transfer.begin(attempt, from: count)
        let urlSession = try urlSession(of: transfer.session)
        let task =
            if let upload {
                urlSession.uploadTask(with: request, from: upload, at: resource, into: attempt) as URLSessionTask
            } else {
                urlSession.dataTask(with: request, into: attempt) as URLSessionTask
            }
        if let first = record.firstURL { task.firstURL = first }
        task.delegate = attempt
        task.priority = record.priority
        (attempt.task, attempt.loadLoop) = (task, urlSession.core.loop)
        if !transfer.state.isSuspended { task.resume() }
    }

    // MARK: Events of an attempt

    func didReceive(
        _ response: URLResponse, goesOn: Bool, _ answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void,
        _ attempt: TransferAttempt, _ transfer: ServiceTransfer
    ) {
        guard var status = transfer.record?.status else { return answer(.cancel) }
        let (identifier, progress, client) = (transfer.identifier, attempt.progress, transfer.session.client)
        didProceed(attempt, transfer)
        status.response = TransferResponse(response)
        status.progress = progress
        if let response = status.response { client?.receive(.response(identifier, response)) }
        if status.resumesForProgram {
            let offset = goesOn ? progress.received : 0
            client?.receive(.didResume(identifier, offset: offset, expected: progress.expectedToReceive))
        }
        status.resumesForProgram = false
        defer { transfer.record?.status = status }
        guard !goesOn else { return answer(.allow) }
        // The name and the count are those of the file when it is handed over to the program.
        attempt.coding = response.contentCoding
        attempt.resumeData = resumeData(of: attempt, transfer, response)
        let had = status.part != nil
        let isWorth = progress.expectedToReceive < 0 || progress.expectedToReceive > Self.leastWorthKeeping
        status.part =
            isWorth
            ? attempt.resumeData?.encoded.map { PartRecord(resumeData: $0, bootIdentifier: environment.bootIdentifier) }
            : nil
        guard had || status.part != nil else { return answer(.allow) }
        // The journal must have the version of the content before the first bytes are written.
        journal.add(.status(transfer.key, status)) { _ in answer(.allow) }
    }

    private func resumeData(
        of attempt: TransferAttempt, _ transfer: ServiceTransfer, _ response: URLResponse
    ) -> ResumeData? {
        guard let record = transfer.record, record.kind == .download,
            var request = attempt.task?.currentRequest ?? attempt.task?.originalRequest
        else { return nil }
        // The program's own setting, and not the service's.
        request.keepsContentCodings = record.request.rules.keepsContentCodings == true
        return ResumeData(
            request, response, .assumed, firstURL: attempt.task?.firstURL, fileName: DownloadFolder.newName(), count: 1,
            isCoded: attempt.coding != nil)
    }

    /// No network that the transfer may use leads to the server. Other transfers may start meanwhile.
    func didBeginWait(_ attempt: TransferAttempt, _ transfer: ServiceTransfer) {
        attempt.isWaitingForConnectivity = true
        queue.didBeginWait(transfer.key)
        scheduleStarts()
    }

    /// The attempt has sent or received something, so that it no longer waits for a network.
    private func didProceed(_ attempt: TransferAttempt, _ transfer: ServiceTransfer) {
        guard attempt.isWaitingForConnectivity else { return }
        attempt.isWaitingForConnectivity = false
        queue.didEndWait(transfer.key)
        scheduleStarts()
    }

    func didProgress(_ attempt: TransferAttempt, _ transfer: ServiceTransfer) {
        didProceed(attempt, transfer)
        transfer.noteProgress()
        if transfer.hasPart {
            if attempt.file.unsynchronized >= Self.synchronizedBytes {
                synchronize(attempt, transfer)
            } else if attempt.synchronizing == nil, !attempt.isSynchronizing {
                let time = loop.now.advanced(bySeconds: Self.synchronizedSeconds)
                attempt.synchronizing = schedule(at: time, attempt, transfer) { $0.synchronize($1, $2) }
            }
        }
        // Until the progress is taken, the attempt reports no further progress.
        guard let time = attempt.nextReport, time > loop.now else { return report(attempt, transfer) }
        _ = schedule(at: time, attempt, transfer) { $0.report($1, $2) }
    }

    /// Runs a closure later, unless the attempt is over by then.
    private func schedule(
        at time: MonotonicTime, _ attempt: TransferAttempt, _ transfer: ServiceTransfer,
        _ body: @escaping (TransferService, TransferAttempt, ServiceTransfer) -> Void
    ) -> LoopTimer {
        loop.schedule(at: time) { [weak self, weak attempt, weak transfer] in
            guard let self, let attempt, let transfer, transfer.attempt === attempt else { return }
            body(self, attempt, transfer)
        }
    }

    /// The progress is taken also where no program is attached, so that the attempt reports later progress again.
    private func report(_ attempt: TransferAttempt, _ transfer: ServiceTransfer) {
        attempt.nextReport = loop.now.advanced(bySeconds: Self.reportInterval)
        let progress = attempt.takeProgress()
        transfer.session.client?.receive(.progress(transfer.identifier, progress))
    }

    /// Synchronizes the part file, and then records in the journal how many bytes are on the disk.
    private func synchronize(_ attempt: TransferAttempt, _ transfer: ServiceTransfer) {
        attempt.synchronizing?.cancel()
        attempt.synchronizing = nil
        guard !attempt.isSynchronizing, attempt.file.unsynchronized > 0 else { return }
        attempt.isSynchronizing = true
        work(for: transfer) {
            try attempt.file.synchronize()
        } then: { [self] vouched in
            attempt.isSynchronizing = false
            guard let vouched, transfer.hasPart else { return }
            transfer.record?.status.part?.count = vouched.count
            transfer.record?.status.part?.checksums = vouched.checksums
            transfer.record?.status.progress = attempt.progress
            saveStatus(transfer)
        }
    }

    func saveStatus(_ transfer: ServiceTransfer) {
        if let status = transfer.record?.status { journal.add(.status(transfer.key, status)) }
    }

    // MARK: Its end

    func attemptDidEnd(_ failure: AttemptFailure, _ transfer: ServiceTransfer) {
        // The server would get an answered upload twice by another attempt.
        let failure = transfer.attempt?.isAnsweredUpload ?? false ? failure.withoutRetry : failure
        if failure == .startOver { transfer.record?.status.part = nil }
        if let error = failure.error { transfer.record?.status.error = error }
        stopAttempt(transfer)
        if case .final(let error) = failure, canGoOn(transfer, after: error) {
            return endWithResumeData(transfer, with: error)
        }
        let randomness = environment.random()
        input(transfer) { $0.attemptDidFail(failure, randomness: randomness) }
    }

    /// Whether the program can continue a download that ends with the error: not where it was cancelled, nor where the
    /// received content cannot be decoded.
    private func canGoOn(_ transfer: ServiceTransfer, after error: TransferError) -> Bool {
        guard let code = error.urlErrorCode, code != .cancelled, code != .cannotDecodeRawData else { return false }
        return transfer.hasPart
    }

    /// Releases the resources of an attempt, and keeps the state from which the next attempt continues.
    func stopAttempt(_ transfer: ServiceTransfer) {
        guard transfer.permission != nil else { return }
        transfer.stopAttempt()
        queue.didStop(transfer.key)
        saveStatus(transfer)
        scheduleStarts()
    }

    /// The transfer's record that is, or will be, in the journal; nil where the journal has none that can be decoded.
    func record(of transfer: ServiceTransfer) throws -> TransferRecord? {
        try transfer.record ?? journal.transfer(transfer.key)
    }

    // MARK: Challenges, which the program answers where it can

    func didReceive(
        _ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeAnswer,
        _ attempt: TransferAttempt, _ transfer: ServiceTransfer
    ) {
        if let client = transfer.session.client {
            lastChallenge += 1
            let number = lastChallenge
            attempt.challenges[number] = (challenge, answer)
            return client.receive(.challenge(transfer.identifier, challenge: number, TransferChallenge(challenge)))
        }
        // No program is attached. A server's certificates are evaluated by the default rules, unless the program has
        // its own rules. For a credential that only the program has, the transfer waits.
        guard isForProgram(challenge, transfer.session) else { return answer(.performDefaultHandling, nil) }
        input(transfer) { $0.needProgram() }
        answer(.cancelAuthenticationChallenge, nil)
        checkIdleness()
    }

    /// Whether challenges wait that only the program can answer. The others are answered.
    func hasChallengesForProgram(_ transfer: ServiceTransfer) -> Bool {
        guard let attempt = transfer.attempt else { return false }
        for (number, open) in attempt.challenges where !isForProgram(open.challenge, transfer.session) {
            attempt.challenges[number] = nil
            open.answer(.performDefaultHandling, nil)
        }
        return !attempt.challenges.isEmpty
    }

    private func isForProgram(_ challenge: URLAuthenticationChallenge, _ session: ServiceSession) -> Bool {
        challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust
            || session.record.answersServerTrust
    }

    func answerChallenge(_ transfer: ServiceTransfer, _ number: Int, _ reply: ChallengeReply) {
        guard let open = transfer.attempt?.challenges.removeValue(forKey: number) else { return }
        let session = transfer.session
        let disposition = URLSession.AuthChallengeDisposition(rawValue: reply.disposition) ?? .performDefaultHandling
        let space = open.challenge.protectionSpace
        let isProgramsOwn = disposition != .performDefaultHandling || reply.isFromDelegate == true
        if space.authenticationMethod == NSURLAuthenticationMethodServerTrust, isProgramsOwn,
            !session.record.answersServerTrust
        {
            session.record.answersServerTrust = true
            journal.add(.session(session.record))
        }
        open.answer(disposition, disposition == .useCredential ? reply.credential(for: space) : nil)
    }
}

extension ChallengeReply {
    /// Nil where the reply has no credential, or one that cannot be read.
    fileprivate func credential(for space: URLProtectionSpace) -> URLCredential? {
        let persistence = persistence.flatMap { URLCredential.Persistence(rawValue: $0) } ?? .forSession
        if trustsServer { return space.serverTrust.map { URLCredential(trust: $0) } }
        let identity = identityFromFiles ?? identity.flatMap { try? ClientIdentity(pemRepresentation: $0) }
        if let identity { return URLCredential(identity: identity, certificates: nil, persistence: persistence) }
        return user.map { URLCredential(user: $0, password: password ?? "", persistence: persistence) }
    }

    /// Nil where the files cannot be read here.
    private var identityFromFiles: ClientIdentity? {
        guard let identityFiles, identityFiles.count == 2 else { return nil }
        return try? ClientIdentity(
            certificateFile: identityFiles[0], privateKeyFile: identityFiles[1], password: password)
    }
}
