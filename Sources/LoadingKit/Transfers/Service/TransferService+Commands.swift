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
        _ command: TransferCommand, _ upload: UploadFile?, from channel: ServiceChannel,
        _ completion: @escaping Completion
    ) {
        guard let session = session(of: channel) else {
            let text = "the background session is not attached"
            return completion(TransferError(.backgroundSessionWasDisconnected, text).error)
        }
        perform(command, upload, session, completion)
    }

    func perform(
        _ command: TransferCommand, _ upload: UploadFile?, _ session: ServiceSession, _ completion: @escaping Completion
    ) {
        switch command {
        case .begin(let transfer): return begin(transfer, upload, session, completion)
        case .take(let identifier, let part): return take(identifier, part, session, completion)
        case .cancel(let identifier, true): return cancelForResumeData(identifier, session, completion)
        case .suspend(let identifier):
            let canContinue = session.live[identifier]?.standing.part != nil
            input(identifier, session) { $0.suspend(canContinue: canContinue) }
        case .resume(let identifier): input(identifier, session) { $0.resume() }
        case .cancel(let identifier, false): input(identifier, session) { $0.cancel(.cancelled) }
        case .change(let identifier, let priority, let text): change(identifier, priority, text, session)
        case .answerBeginning(let identifier, let request): answerBeginning(identifier, request, session)
        case .answerChallenge(let identifier, let number, let reply):
            answerChallenge(identifier, number, reply, session)
        // Without the journal, which may be full for long: the session's identifier is free.
        case .endSession:
            end(session)
            return completion(nil)
        case .reset:
            do { try urlSession(of: session).reset {} } catch { return completion(error) }
        }
        checkIdleness()
        // When it is in the journal.
        journal.afterCommit { completion($0) }
    }

    private func end(_ session: ServiceSession) {
        session.record.isEnding = true
        journal.add(.session(session.record))
        if let client = session.client { detach(client) } else { forgetIfOver(session) }
    }

    // MARK: Beginning

    private func begin(
        _ transfer: TransferDescription, _ upload: UploadFile?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        let identifier = transfer.identifier
        // Sent again, as what had performed it was gone.
        guard session.transfers[identifier] == nil, session.ended[identifier] == nil else { return completion(nil) }
        let size = transfer.request.body?.count ?? 0
        guard size <= Self.longestBody else {
            let text =
                "the request's body of \(size) bytes is longer than a background session keeps (\(Self.longestBody)): "
            return completion(
                TransferError(.dataLengthExceedsMaximum, text + "send a file", url: transfer.request.url).error)
        }
        session.record.didUse(identifier)
        if let upload = upload ?? transfer.uploadFile.map({ UploadFile(path: $0) }) {
            session.uploads[identifier] = upload
        }
        guard let data = transfer.resumeData, transfer.kind == .download else {
            return begin(transfer, part: nil, session, completion)
        }
        let (folder, boot, loop) = (session.folder, environment.bootIdentifier, loop)
        BlockingPool.shared.run {
            let part = Result { try ResumedPart.take(data, folder, identifier, boot) }
            loop.execute { [weak self] in
                guard let self, let session = sessions[session.number] else {
                    let text = "the session has ended"
                    return completion(TransferError(.cancelled, text).error)
                }
                switch part {
                case .success(let part): begin(transfer, part: part, session, completion)
                case .failure(let error):
                    forgetUnkept(identifier, session)
                    completion(error)
                }
            }
        }
    }

    private func begin(
        _ transfer: TransferDescription, part: PartRecord?, _ session: ServiceSession,
        _ completion: @escaping Completion
    ) {
        let wall = environment.wallClock.now
        var kept = transfer
        kept.resumeData = nil
        var standing = TransferStanding()
        standing.part = part
        standing.resumesForProgram = part != nil
        standing.progress.received = part?.count ?? 0
        // Where it cannot be read the attempt says so.
        standing.uploadFile = try? session.uploads[transfer.identifier]?.state()
        if transfer.kind == .upload, let data = transfer.resumeData {
            do {
                let upload = try data.resumedUpload
                try standing.uploadFile?.check(upload.body)
                standing.uploadResource = upload.resource
            } catch {
                forgetUnkept(transfer.identifier, session)
                return completion(error)
            }
        }
        if session.uploads.count > Self.openUploads { session.uploads[transfer.identifier] = nil }
        let summary = TransferSummary(transfer, session: session.number, asOf: wall)
        let content = JournaledTransfer(summary: summary, description: kept, standing: standing)
        journal.add(.begin(content)) {
            [weak self, weak session] error in
            completion(error)
            guard let self, let session else { return }
            guard error == nil else { return forgetUnkept(transfer.identifier, session) }
            session.keep(content)
            add(summary, to: session, loop.now, environment.wallClock.now)
            scheduleAlarm()
            checkIdleness()
        }
    }

    /// The transfer is not in the journal: its files are not needed.
    private func forgetUnkept(_ identifier: Int, _ session: ServiceSession) {
        session.uploads[identifier] = nil
        let path = session.folder.path(of: identifier)
        BlockingPool.shared.run { _ = SystemCalls.unlink(path) }
    }

    /// So many files are kept open; others are found by their paths.
    private static let openUploads = 256

    // MARK: Changes

    private func change(_ identifier: Int, _ priority: Float, _ text: String?, _ session: ServiceSession) {
        guard session.transfers[identifier] != nil else { return }
        let key = session.key(identifier)
        session.transfers[identifier]?.summary.priority = priority
        queue.change(key, priority: priority)
        session.live[identifier]?.task?.priority = priority
        if let entry = session.transfers[identifier] { journal.add(.summary(entry.summary)) }
        rewrite(identifier, session) { description in
            description.priority = priority
            description.taskDescription = text
        }
    }

    private func rewrite(_ identifier: Int, _ session: ServiceSession, _ body: (inout TransferDescription) -> Void) {
        guard var content = content(of: identifier, session) else { return }
        body(&content.description)
        if let live = session.live[identifier] { live.description = content.description } else { session.keep(content) }
        journal.add(.description(session.key(identifier), content.description))
    }

    private func answerBeginning(_ identifier: Int, _ request: TransferRequest?, _ session: ServiceSession) {
        guard session.transfers[identifier]?.state.phase == .asking else { return }
        if let request { rewrite(identifier, session) { $0.request = request } }
        input(identifier, session) { $0.programDidAnswer(mayBegin: request != nil, .cancelled) }
    }

    // MARK: Cancelling with resume data

    private func cancelForResumeData(_ identifier: Int, _ session: ServiceSession, _ completion: @escaping Completion) {
        input(identifier, session) { $0.stopForResumeData() }
        let position = session.positions.removeValue(forKey: identifier)?.count
        guard session.transfers[identifier] != nil, let transfer = content(of: identifier, session),
            let part = transfer.standing.part, transfer.description.kind == .download
        else {
            input(identifier, session) { $0.cancel(.cancelled) }
            return journal.afterCommit { completion($0) }
        }
        let (path, loop) = (session.folder.path(of: identifier), loop)
        BlockingPool.shared.run {
            let data = ResumedPart.handOver(path, part, count: position ?? part.count)
            loop.execute { [weak self, weak session] in
                guard let self, let session else { return completion(nil) }
                var error = TransferError.cancelled
                error.resumeData = data
                input(identifier, session) { $0.cancel(error) }
                journal.afterCommit { completion($0) }
            }
        }
    }
}

extension TransferError {
    static let cancelled = TransferError(.cancelled, "cancelled")
}
