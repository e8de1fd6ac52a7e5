import Foundation
import LoadingKitCore
import LoadingKitTransport

// The commands of sessions.
extension TransferService {
    typealias Completion = @Sendable ((any Error)?) -> Void

    func perform(
        _ command: TransferCommand, _ file: OwnedDescriptor?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        switch (command, command.transfer.flatMap { session.transfers[$0] }) {
        case (.begin(let record), _): return begin(record, file, session, completion)
        case (.take(let identifier, let part), _): return take(identifier, part, session, completion)
        case (.endSession, _):
            session.record.isEnding = true
            journal.add(.session(session.record))
            if let client = session.client { detach(client) } else { forgetIfOver(session) }
            // Does not wait for the journal, which may be full for long: the session's identifier is free at once.
            return completion(nil)
        case (.reset, _):
            do { try urlSession(of: session).reset {} } catch { return completion(error) }
        // Without a session there is nothing to write.
        case (.flush, _): session.urlSession?.flush {}
        case (_, nil): reportIfLost(command.transfer, session)
        // The first command ends the transfer.
        case (.cancel, let transfer?) where transfer.isMakingResumeData: break
        case (.cancel(_, producingResumeData: true), let transfer?):
            transfer.isMakingResumeData = true
            guard let attempt = transfer.attempt else { return endWithResumeData(transfer, completion) }
            return attempt.askForResource { [self] in endWithResumeData(transfer, completion) }
        case (.suspend, let transfer?):
            let canContinue = transfer.permission != nil && transfer.hasPart
            input(transfer) { $0.suspend(canContinue: canContinue) }
        case (.resume, let transfer?): input(transfer) { $0.resume() }
        case (.cancel, let transfer?): input(transfer) { $0.cancel(.cancelled) }
        case (.change(_, let priority, let text), let transfer?):
            do { try change(transfer, priority, text) } catch { return completion(error) }
        case (.answerBeginning(_, let request), let transfer?) where transfer.state.phase == .asking:
            do {
                try request?.checkBody()
                if let request { try rewrite(transfer) { $0.begin(with: request) } }
            } catch {
                // The transfer must not begin with another request.
                input(transfer) { $0.cancel(TransferError(error)) }
            }
            input(transfer) { $0.programDidAnswer(mayBegin: request != nil, .cancelled) }
        case (.answerBeginning, _): break
        case (.answerChallenge(_, let number, let reply), let transfer?): answerChallenge(transfer, number, reply)
        }
        checkIdleness()
        // Completes when the changes are in the journal.
        journal.add(nil) { completion($0) }
    }

    // MARK: Beginning

    private func begin(
        _ asked: TransferRecord, _ file: OwnedDescriptor?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        let identifier = asked.identifier
        // The command was sent again, as the daemon that had performed it has ended.
        guard session.transfers[identifier] == nil, session.ended[identifier] == nil else { return completion(nil) }
        do { try asked.request.checkBody() } catch { return completion(error) }
        session.record.didUse(identifier)
        let upload = asked.uploadFile.map { UploadFile(path: $0, file) }
        let client = session.client
        guard upload != nil || asked.resumeData != nil else { return keep(asked, nil, session, client, completion) }
        let (folder, environment) = (session.folder, environment)
        loop.offload {
            try Self.withFiles(asked, upload, folder, environment)
        } then: { [self] result in
            do {
                guard let session = sessions[session.number] else {
                    throw LoadFailure(.cancelled, "the session has ended")
                }
                let (record, upload) = try result.get()
                keep(record, upload, session, client, completion)
            } catch {
                removeFiles(identifier, session)
                completion(TransferError(ofFile: error).error)
            }
        }
    }

    /// Adds a transfer's files: the part from which it continues, and a copy of the file to upload. May block.
    private static func withFiles(
        _ asked: TransferRecord, _ upload: UploadFile?, _ folder: PartFolder, _ environment: Environment
    ) throws -> (TransferRecord, UploadFile?) {
        var (record, upload) = (asked, upload)
        record.resumeData = nil
        // Where the file cannot be read, the attempt reports the error.
        record.status.uploadFile = try? upload?.state()
        switch (asked.kind, asked.resumeData) {
        case (_, nil): break
        case (.upload, let data?):
            let resumed = try data.resumedUpload
            try record.status.uploadFile?.check(resumed.body)
            record.status.uploadResource = resumed.resource
        case (.download, let data?):
            let part = try folder.takePart(
                of: data, for: asked.identifier, bootIdentifier: environment.bootIdentifier)
            record.status.part = part
            record.status.resumesForProgram = true
            record.status.progress.received = part?.count ?? 0
        }
        let path = folder.path(of: asked.identifier, .upload)
        if let original = upload, (try? folder.make()) != nil,
            let copy = original.copy(to: path, upTo: environment.largestCopy), let state = try? copy.state()
        {
            (upload, record.status.uploadFile) = (copy, state)
        }
        return (record, upload)
    }

    /// - Parameter client: The program that has begun the transfer.
    private func keep(
        _ record: TransferRecord, _ upload: UploadFile?, _ session: ServiceSession, _ client: ServiceChannel?,
        _ completion: @escaping Completion
    ) {
        var row = TransferRow(
            TransferKey(session: session.number, identifier: record.identifier),
            priority: URLSessionTask.priority(nearestTo: record.priority),
            earliestBeginDate: record.earliestBeginDate, asOf: environment.wallClock.now)
        row.expectedBytes = record.expectedBytes
        // The journal may have been removed, or put aside as damaged, since the session was attached. A later process would
        // not find the transfer without its session.
        journal.add(.session(session.record))
        journal.add(.begin(row, record)) { [weak self, weak session] error in
            completion(error)
            guard let self, let session else { return }
            // Where the program has ended meanwhile, its session may have been forgotten, with the transfer.
            guard error == nil, sessions[session.number] === session else {
                return removeFiles(record.identifier, session)
            }
            add(row, to: session, isNew: true, record, upload)
            didBegin(for: client, in: session)
            checkIdleness()
        }
    }

    /// Removes the files of a transfer that is not in the journal, or is over.
    func removeFiles(_ identifier: Int, _ session: ServiceSession) {
        let folder = session.folder
        BlockingPool.shared.run { folder.remove(identifier) }
    }

    // MARK: Changes

    /// The program's task would wait without end for a transfer that is neither under way nor over.
    private func reportIfLost(_ identifier: Int?, _ session: ServiceSession) {
        guard let identifier, session.ended[identifier] == nil else { return }
        session.client?.receive(.ended(identifier, TransferStatus(error: .lost)))
    }

    private func change(_ transfer: ServiceTransfer, _ priority: Float, _ text: String?) throws {
        // The journal cannot store a value that is not a number.
        let priority = URLSessionTask.priority(nearestTo: priority)
        transfer.row.priority = priority
        queue.change(transfer.key, priority: priority)
        transfer.attempt?.task?.priority = priority
        journal.add(.row(transfer.row))
        try rewrite(transfer) { record in
            record.priority = priority
            record.taskDescription = text
        }
    }

    private func rewrite(_ transfer: ServiceTransfer, _ body: (inout TransferRecord) -> Void) throws {
        guard var record = try record(of: transfer) else { return }
        body(&record)
        transfer.record = record
        if transfer.permission == nil { transfer.session.economize(transfer) }
        journal.add(.record(transfer.key, record))
    }

    // MARK: Ending with resume data

    /// Ends a transfer that the program has cancelled with resume data, or that has failed.
    func endWithResumeData(
        _ transfer: ServiceTransfer, with error: TransferError = .cancelled,
        _ completion: @escaping Completion = { _ in }
    ) {
        guard transfer.state.phase != .over else { return completion(nil) }
        transfer.isMakingResumeData = true
        input(transfer) { $0.stopForResumeData() }
        var part: PartRecord?
        // A part with a destination may be linked there already, and must not be continued then.
        if let record = try? record(of: transfer), record.kind == .download, record.destination == nil {
            part = record.status.part
        }
        let (folder, identifier) = (transfer.session.folder, transfer.identifier)
        let count = transfer.position?.count ?? part?.count ?? 0
        transfer.position = nil
        loop.offload { [part] in
            part.flatMap { folder.handOver(identifier, $0, count: count) }
        } then: { [self] result in
            var error = error
            error.resumeData = try? result.get()
            input(transfer) { $0.cancel(error) }
            journal.add(nil) { completion($0) }
        }
    }
}

extension TransferCommand {
    /// The transfer of the command; nil where the command concerns the session.
    var transfer: Int? {
        switch self {
        case .begin(let transfer): transfer.identifier
        case .suspend(let identifier), .resume(let identifier), .cancel(let identifier, _),
            .change(let identifier, _, _), .take(let identifier, _), .answerBeginning(let identifier, _),
            .answerChallenge(let identifier, _, _):
            identifier
        case .endSession, .reset, .flush: nil
        }
    }
}

extension TransferRecord {
    /// Sets the request with which the program lets the transfer begin. A new one has its own URL as its first.
    fileprivate mutating func begin(with next: TransferRequest) {
        if next.url != request.url { firstURL = nil }
        request = next
    }
}

extension TransferError {
    static let cancelled = TransferError(.cancelled, "cancelled")
    static let unreadable = TransferError(.cannotOpenFile, "the transfer's entry in the journal cannot be read")

    /// An error that may come from one of a transfer's files.
    init(ofFile error: any Error, url: URL? = nil) {
        self.init(URLError((error as? PartFailure)?.failure ?? error, url: url))
    }
}
