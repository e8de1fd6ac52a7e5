import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

// What sessions say.
extension TransferService {
    typealias Completion = @Sendable ((any Error)?) -> Void

    /// A request's body that is kept has at most so many bytes: it is in the journal, and in memory while it is sent.
    static let longestBody = 64 << 20

    func perform(
        _ command: TransferCommand, _ file: OwnedDescriptor?, from channel: ServiceChannel,
        _ completion: @escaping Completion
    ) {
        guard let session = session(of: channel) else {
            let text = "the background session is not attached"
            return completion(TransferError(.backgroundSessionWasDisconnected, text).error)
        }
        perform(command, file, session, completion)
    }

    func perform(
        _ command: TransferCommand, _ file: OwnedDescriptor?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        switch command {
        case .begin(let record): return begin(record, file, session, completion)
        case .take(let identifier, let part): return take(identifier, part, session, completion)
        // Without the journal, which may be full for long: the session's identifier is free.
        case .endSession:
            end(session)
            return completion(nil)
        case .reset:
            do { try urlSession(of: session).reset {} } catch { return completion(error) }
        case .cancel(let identifier, true):
            guard let transfer = session.transfers[identifier] else { break }
            guard let attempt = transfer.attempt else { return cancelForResumeData(transfer, completion) }
            attempt.askForResource { [weak self] in
                guard let self else { return completion(nil) }
                cancelForResumeData(transfer, completion)
            }
            return
        case .suspend, .resume, .cancel, .change, .answerBeginning, .answerChallenge:
            if let transfer = command.transfer.flatMap({ session.transfers[$0] }) { perform(command, transfer) }
        }
        checkIdleness()
        // When it is in the journal.
        journal.afterCommit { completion($0) }
    }

    private func perform(_ command: TransferCommand, _ transfer: ServiceTransfer) {
        switch command {
        case .suspend:
            let canContinue = transfer.attemptNumber != nil && transfer.hasPart
            input(transfer) { $0.suspend(canContinue: canContinue) }
        case .resume: input(transfer) { $0.resume() }
        case .cancel: input(transfer) { $0.cancel(.cancelled) }
        case .change(_, let priority, let text): change(transfer, priority, text)
        case .answerBeginning(_, let request):
            guard transfer.state.phase == .asking else { return }
            if let request { rewrite(transfer) { $0.request = request } }
            input(transfer) { $0.programDidAnswer(mayBegin: request != nil, .cancelled) }
        case .answerChallenge(_, let number, let reply): answerChallenge(transfer, number, reply)
        case .begin, .take, .endSession, .reset: break
        }
    }

    private func end(_ session: ServiceSession) {
        session.record.isEnding = true
        journal.add(.session(session.record))
        if let client = session.client { detach(client) } else { forgetIfOver(session) }
    }

    // MARK: Beginning

    private func begin(
        _ asked: TransferRecord, _ file: OwnedDescriptor?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        let identifier = asked.identifier
        // Sent again, as what had performed it was gone.
        guard session.transfers[identifier] == nil, session.ended[identifier] == nil else { return completion(nil) }
        let size = asked.request.body?.count ?? 0
        guard size <= Self.longestBody else {
            let text =
                "the request's body of \(size) bytes is longer than a background session keeps (\(Self.longestBody)): "
            return completion(
                TransferError(.dataLengthExceedsMaximum, text + "send a file", url: asked.request.url).error)
        }
        session.record.didUse(identifier)
        var record = asked
        record.resumeData = nil
        let upload = record.uploadFile.map { UploadFile(path: $0, file) }
        // Where the file cannot be read the attempt says so.
        record.standing.uploadFile = try? upload?.state()
        switch (asked.kind, asked.resumeData) {
        case (_, nil): keep(record, sending: upload, session, completion)
        case (.upload, let data?):
            do {
                let resumed = try data.resumedUpload
                try record.standing.uploadFile?.check(resumed.body)
                record.standing.uploadResource = resumed.resource
                keep(record, sending: upload, session, completion)
            } catch {
                completion(TransferError(error).error)
            }
        case (.download, let data?):
            let (folder, boot, loop) = (session.folder, environment.bootIdentifier, loop)
            BlockingPool.shared.run { [record] in
                let part = Result { try ResumedPart.take(data, folder, identifier, boot) }
                loop.execute { [weak self] in
                    guard let self, let session = sessions[session.number] else {
                        return completion(TransferError(.cancelled, "the session has ended").error)
                    }
                    do {
                        var record = record
                        record.standing.part = try part.get()
                        record.standing.resumesForProgram = record.standing.part != nil
                        record.standing.progress.received = record.standing.part?.count ?? 0
                        keep(record, upload, session, completion)
                    } catch {
                        removePart(identifier, session)
                        completion(TransferError(error).error)
                    }
                }
            }
        }
    }

    /// A copy of the file is sent, where one can be made.
    private func keep(
        _ record: TransferRecord, sending upload: UploadFile?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        guard let upload else { return keep(record, nil, session, completion) }
        let (folder, limit, loop) = (session.folder, environment.largestCopy, loop)
        BlockingPool.shared.run {
            let path = folder.copyPath(of: record.identifier)
            let isMade = (try? folder.make()) != nil
            let copy = isMade ? UploadCopy.make(of: upload, at: path, upTo: limit) : nil
            let state = try? copy?.state()
            loop.execute { [weak self] in
                guard let self, let session = sessions[session.number] else {
                    _ = SystemCalls.unlink(path)
                    return completion(TransferError(.cancelled, "the session has ended").error)
                }
                var record = record
                if let state { record.standing.uploadFile = state }
                keep(record, state == nil ? upload : copy, session, completion)
            }
        }
    }

    private func keep(
        _ record: TransferRecord, _ upload: UploadFile?, _ session: ServiceSession, _ completion: @escaping Completion
    ) {
        var row = TransferRow(
            TransferKey(session: session.number, identifier: record.identifier), priority: record.priority,
            earliestBeginDate: record.earliestBeginDate, asOf: environment.wallClock.now)
        row.expectedBytes = record.expectedBytes
        journal.add(.begin(row, record)) { [weak self, weak session] error in
            completion(error)
            guard let self, let session else { return }
            guard error == nil else { return removePart(record.identifier, session) }
            add(row, to: session, record, upload)
            checkIdleness()
        }
    }

    /// The files are not needed: the transfer is not in the journal, or is over.
    func removePart(_ identifier: Int, _ session: ServiceSession) {
        let folder = session.folder
        BlockingPool.shared.run { folder.remove(identifier) }
    }

    // MARK: Changes

    private func change(_ transfer: ServiceTransfer, _ priority: Float, _ text: String?) {
        transfer.row.priority = priority
        queue.change(transfer.key, priority: priority)
        transfer.attempt?.task?.priority = priority
        journal.add(.row(transfer.row))
        rewrite(transfer) { record in
            record.priority = priority
            record.taskDescription = text
        }
    }

    private func rewrite(_ transfer: ServiceTransfer, _ body: (inout TransferRecord) -> Void) {
        guard var record = record(of: transfer) else { return }
        body(&record)
        transfer.record = record
        if transfer.attemptNumber == nil { transfer.session.economize(transfer) }
        journal.add(.record(transfer.key, record))
    }

    // MARK: Cancelling with resume data

    private func cancelForResumeData(_ transfer: ServiceTransfer, _ completion: @escaping Completion) {
        guard transfer.state.phase != .over else { return completion(nil) }
        input(transfer) { $0.stopForResumeData() }
        guard let record = record(of: transfer), let part = record.standing.part, record.kind == .download else {
            input(transfer) { $0.cancel(.cancelled) }
            return journal.afterCommit { completion($0) }
        }
        let (path, count) = (transfer.session.folder.path(of: transfer.identifier), transfer.position?.count)
        transfer.position = nil
        BlockingPool.shared.run { [loop] in
            let data = ResumedPart.handOver(path, part, count: count ?? part.count)
            loop.execute { [weak self] in
                guard let self else { return completion(nil) }
                var error = TransferError.cancelled
                error.resumeData = data
                input(transfer) { $0.cancel(error) }
                journal.afterCommit { completion($0) }
            }
        }
    }
}

extension TransferCommand {
    /// The transfer that it concerns; nil where it concerns all.
    var transfer: Int? {
        switch self {
        case .begin(let transfer): transfer.identifier
        case .suspend(let identifier), .resume(let identifier), .cancel(let identifier, _),
            .change(let identifier, _, _), .take(let identifier, _), .answerBeginning(let identifier, _),
            .answerChallenge(let identifier, _, _):
            identifier
        case .endSession, .reset: nil
        }
    }
}

extension TransferError {
    static let cancelled = TransferError(.cancelled, "cancelled")
}
