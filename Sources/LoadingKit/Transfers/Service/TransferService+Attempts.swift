import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

// Attempts: begun, heard, and ended.
extension TransferService {
    /// What is larger is worth going on from when it breaks, in bytes.
    private static let leastWorthKeeping: Int64 = 256 << 10
    /// What was written is put on the disk after so many bytes, or so many seconds.
    private static let synchronizedBytes: Int64 = 16 << 20
    private static let synchronizedSeconds = 5.0
    /// The transactions of attempts that are kept in a transfer's metrics.
    private static let keptTransactions = 32

    private struct Prepared: Sendable {
        let file: PartFile
        let upload: BodyFile?
    }

    func urlSession(of session: ServiceSession) throws -> URLSession {
        if let made = session.urlSession { return made }
        let configuration = environment.makeConfiguration(session.description)
        try session.description.apply(to: &configuration.settings)
        // The service's own clock limits the whole of a transfer, over all attempts.
        configuration.timeoutIntervalForResource = 0
        configuration.urlCache = nil
        if session.settings.isDiscretionary { configuration.allowsExpensiveNetworkAccess = false }
        let made = URLSession(configuration: configuration)
        session.urlSession = made
        return made
    }

    // MARK: Beginning

    func startAttempt(_ identifier: Int, _ session: ServiceSession) {
        let key = session.key(identifier)
        guard let transfer = content(of: identifier, session) else {
            queue.didStop(key)
            let text = "the transfer's entry in the journal cannot be read"
            return input(identifier, session) {
                $0.attemptDidFail(.final(TransferError(.cannotOpenFile, text)), randomness: 0)
            }
        }
        let live = LiveTransfer(transfer)
        session.live[identifier] = live
        session.forgetKept(identifier)
        let (folder, upload, boot, loop) = (
            session.folder, session.uploads[identifier], environment.bootIdentifier, loop
        )
        let (record, position) = (live.standing.part, session.positions.removeValue(forKey: identifier))
        let (kept, path) = (live.description, folder.path(of: identifier))
        let begun = live.standing.uploadFile
        BlockingPool.shared.run {
            let prepared = Result {
                try folder.make()
                if let destination = kept.destination { try DestinationFile.checkIsFree(destination, part: path) }
                let source = upload ?? kept.uploadFile.map { UploadFile(path: $0) }
                let body = try source?.checked(begun)
                let file = try PartFile(path, record: record, bootIdentifier: boot, position: position)
                return Prepared(file: file, upload: body)
            }
            loop.execute { [weak self] in
                guard let self, session.live[identifier] === live else { return }
                switch prepared {
                case .success(let prepared): load(live, session, prepared)
                case .failure(let error):
                    attemptDidEnd(AttemptFailure(of: error, live.description.request.request?.url), live, session)
                }
            }
        }
    }

    private func load(_ live: LiveTransfer, _ session: ServiceSession, _ prepared: Prepared) {
        guard var request = live.description.request.request else {
            let text = "the request has no URL that can be loaded"
            return attemptDidEnd(.final(TransferError(.badURL, text)), live, session)
        }
        var resuming: (data: ResumeData, offset: Int64)?
        let count = prepared.file.count
        if count > 0, let data = live.standing.part.flatMap({ try? ResumeData($0.resumeData) }) {
            resuming = (data, count)
            live.resumeData = data
            request = data.rest(of: request, from: count)
        }
        live.standing.progress.received = count
        live.standing.progress.sent = 0
        let attempt = TransferAttempt(
            prepared.file, of: request.url, resuming: resuming, progress: live.standing.progress
        ) {
            [weak self, weak live, weak session, loop] event in
            loop.execute { [weak self, weak live, weak session] in
                guard let self, let live, let session else { return event.dismiss() }
                handle(event, live, session)
            }
        }
        live.attempt = attempt
        live.wentOn = live.standing.uploadResource != nil
        let task: URLSessionTask
        do {
            let urlSession = try urlSession(of: session)
            task =
                if let upload = prepared.upload {
                    urlSession.uploadTask(
                        with: request, from: upload, at: live.standing.uploadResource, into: attempt)
                } else {
                    urlSession.dataTask(with: request, into: attempt)
                }
        } catch {
            return attemptDidEnd(AttemptFailure(of: error, request.url), live, session)
        }
        task.delegate = attempt
        task.priority = live.description.priority
        live.task = task
        if let entry = session.transfers[live.key.identifier], !entry.state.isSuspended { task.resume() }
    }

    // MARK: What it brings

    private func handle(_ event: TransferAttempt.Event, _ live: LiveTransfer, _ session: ServiceSession) {
        let identifier = live.key.identifier
        guard session.live[identifier] === live, let attempt = live.attempt else { return event.dismiss() }
        switch event {
        case .response(let response, let goesOn, let answer):
            didReceive(response, goesOn: goesOn, answer, attempt, live, session)
        case .redirected(let request):
            live.standing.currentRequest = request
            session.client?.receive(.redirected(identifier, request))
        case .waitsForConnectivity:
            session.transfers[identifier]?.isWaitingForConnectivity = true
        case .uploadIsAt(let resource):
            guard live.description.kind == .upload, resource != live.standing.uploadResource else { return }
            live.standing.uploadResource = resource
            journal.add(.standing(live.key, live.standing))
        case .challenge(let challenge, let answer): didReceive(challenge, answer, live, session)
        case .progress: didProgress(attempt, live, session)
        case .metrics(let metrics): keep(metrics, live)
        case .ended(var failure):
            // What the server has forgotten is sent anew.
            if live.wentOn, live.standing.uploadResource == nil, case .final? = failure { failure = .startOver }
            if let response = live.task?.response as? HTTPURLResponse, response.trailers != nil {
                live.standing.response = TransferResponse(response)
            }
            attemptDidEnd(failure, live, session)
        }
    }

    private func didReceive(
        _ response: URLResponse, goesOn: Bool, _ answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void,
        _ attempt: TransferAttempt, _ live: LiveTransfer, _ session: ServiceSession
    ) {
        let (identifier, progress) = (live.key.identifier, attempt.progress)
        session.transfers[identifier]?.isWaitingForConnectivity = false
        live.standing.response = TransferResponse(response)
        live.standing.progress = progress
        if let response = live.standing.response { session.client?.receive(.response(identifier, response)) }
        if goesOn, live.standing.resumesForProgram {
            session.client?.receive(
                .didResume(identifier, offset: progress.received, expected: progress.expectedToReceive))
        }
        live.standing.resumesForProgram = false
        if goesOn { return answer(.allow) }
        // The name and the count are those of the file that it becomes, should it be handed over.
        let request = live.task?.currentRequest ?? live.task?.originalRequest
        live.resumeData =
            live.description.kind == .download
            ? request.flatMap {
                ResumeData($0, response, firstURL: nil, fileName: DownloadFolder.newName(), count: 1)
            } : nil
        let had = live.standing.part != nil
        let isWorth = progress.expectedToReceive < 0 || progress.expectedToReceive > Self.leastWorthKeeping
        live.standing.part =
            isWorth
            ? live.resumeData?.encoded.map { PartRecord(resumeData: $0, bootIdentifier: environment.bootIdentifier) }
            : nil
        guard had || live.standing.part != nil else { return answer(.allow) }
        // The journal must know of which version the bytes are, before there are any.
        journal.add(.standing(live.key, live.standing)) { _ in answer(.allow) }
    }

    private func didProgress(_ attempt: TransferAttempt, _ live: LiveTransfer, _ session: ServiceSession) {
        let identifier = live.key.identifier
        // What an attempt brings that the next one repeats is none.
        if live.resumeData != nil { session.transfers[identifier]?.state.attemptDidProgress() }
        if live.standing.part != nil {
            if attempt.unsynchronized >= Self.synchronizedBytes {
                synchronize(attempt, live, session)
            } else if live.synchronizing == nil, !live.isSynchronizing {
                let time = loop.now.advanced(bySeconds: Self.synchronizedSeconds)
                live.synchronizing = loop.schedule(at: time) { [weak self, weak live, weak session] in
                    guard let self, let live, let session, let attempt = live.attempt else { return }
                    synchronize(attempt, live, session)
                }
            }
        }
        switch live.throttle.didProgress(loop.now) {
        case .report: report(attempt, of: identifier, session)
        case .waiting: break
        case .wait(let time):
            _ = loop.schedule(at: time) { [weak self, weak live, weak session] in
                guard let self, let live, let session else { return }
                live.throttle.waitDidEnd(loop.now)
                if let attempt = live.attempt { report(attempt, of: identifier, session) }
            }
        }
    }

    /// Taken also where no program is attached, so that the attempt reports later progress again.
    private func report(_ attempt: TransferAttempt, of identifier: Int, _ session: ServiceSession) {
        let progress = attempt.takeProgress()
        session.client?.receive(.progress(identifier, progress))
    }

    /// Puts what was written on the disk, and then into the journal that it is there.
    private func synchronize(_ attempt: TransferAttempt, _ live: LiveTransfer, _ session: ServiceSession) {
        live.synchronizing?.cancel()
        live.synchronizing = nil
        guard !live.isSynchronizing, attempt.unsynchronized > 0 else { return }
        live.isSynchronizing = true
        attempt.didSynchronize()
        Self.synchronizers.run { [loop] in
            let result = Result { try attempt.file.synchronize() }
            loop.execute { [weak self] in
                live.isSynchronizing = false
                guard let self, live.attempt === attempt, session.live[live.key.identifier] === live else { return }
                switch result {
                case .failure(let error):
                    attemptDidEnd(AttemptFailure(of: error, live.description.request.request?.url), live, session)
                case .success(let vouched):
                    guard let vouched, live.standing.part != nil else { return }
                    live.standing.part?.count = vouched.count
                    live.standing.part?.checksums = vouched.checksums
                    live.standing.progress = attempt.progress
                    journal.add(.standing(live.key, live.standing))
                }
            }
        }
    }

    private func keep(_ metrics: TransferMetrics, _ live: LiveTransfer) {
        var all = live.standing.metrics ?? metrics
        if live.standing.metrics != nil { all.append(metrics) }
        let surplus = all.transactions.count - Self.keptTransactions
        if surplus > 0 { all.transactions.removeFirst(surplus) }
        live.standing.metrics = all
    }

    // MARK: Its end

    private func attemptDidEnd(_ failure: AttemptFailure?, _ live: LiveTransfer, _ session: ServiceSession) {
        let identifier = live.key.identifier
        guard let failure else { return input(identifier, session) { $0.attemptDidSucceed() } }
        if failure == .startOver { live.standing.part = nil }
        if let error = failure.error { live.standing.lastError = error }
        release(live, session)
        let randomness = environment.random()
        input(identifier, session) { $0.attemptDidFail(failure, randomness: randomness) }
        scheduleStarts()
    }

    func stopAttempt(_ identifier: Int, _ session: ServiceSession) {
        guard let live = session.live[identifier] else { return }
        release(live, session)
        scheduleStarts()
    }

    /// Lets go of what an attempt needed, and keeps what the next one goes on from.
    private func release(_ live: LiveTransfer, _ session: ServiceSession) {
        let identifier = live.key.identifier
        let file = live.stop()
        if let file, live.standing.part != nil { session.positions[identifier] = file.position }
        session.live[identifier] = nil
        session.transfers[identifier]?.isWaitingForConnectivity = false
        queue.didStop(live.key)
        journal.add(.standing(live.key, live.standing))
        session.keep(live.content)
    }

    /// What there is of a transfer: with the attempt that is under way, kept in memory, or in the journal.
    func content(of identifier: Int, _ session: ServiceSession) -> JournaledTransfer? {
        if let known = session.live[identifier]?.content ?? session.keptTransfer(identifier) { return known }
        return (try? journal.transfer(session.key(identifier))) ?? nil
    }
}

extension AttemptFailure {
    /// An error of the transfer's files.
    init(of error: any Error, _ url: URL?) {
        let failure = error as? PartFailure
        let error = TransferError(URLError(failure?.failure ?? error, url: url))
        self = failure?.isLackOfRoom ?? false ? .noRoom(error) : .final(error)
    }
}

extension TransferAttempt.Event {
    /// The attempt is over: its questions are answered in the negative.
    func dismiss() {
        switch self {
        case .response(_, _, let answer): answer(.cancel)
        case .challenge(_, let answer): answer(.cancelAuthenticationChallenge, nil)
        case .redirected, .waitsForConnectivity, .uploadIsAt, .progress, .metrics, .ended: break
        }
    }
}
