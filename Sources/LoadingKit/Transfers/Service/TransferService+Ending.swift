import Foundation
import LoadingKitCore
import LoadingKitTransport

// The end of a transfer: its file is put in its place, the journal has it, the program takes it.
extension TransferService {
    /// All was received: puts the file on the disk, and where it is to be.
    func complete(_ transfer: ServiceTransfer) {
        guard let attempt = transfer.attempt else { return }
        transfer.record?.standing.progress = attempt.progress
        attempt.synchronizing?.cancel()
        attempt.synchronizing = nil
        let (file, coding) = (attempt.file, coding(of: attempt, transfer))
        let decodedPath = transfer.session.folder.path(of: transfer.identifier, .decoded)
        let ratio = transfer.session.settings.maximumDecompressionRatio
        file.close()
        work(for: transfer) {
            file.giveBackRoom()
            _ = try file.synchronize()
            return try coding.map { try NewFile.decode(file.path, to: decodedPath, $0, ratio: ratio) } ?? false
        } then: { [self] isDecoded in
            guard isDecoded else { return place(file.path, transfer) }
            // What takes the part's place is nothing to go on from, should this process end before the end is in the journal.
            transfer.record?.standing.part = nil
            guard let standing = transfer.record?.standing else { return }
            journal.add(.standing(transfer.key, standing)) { [weak self] _ in
                guard let self, transfer.attempt === attempt else { return }
                place(file.path, transfer, decodedAt: decodedPath)
            }
        }
    }

    private func place(_ part: String, _ transfer: ServiceTransfer, decodedAt path: String? = nil) {
        let destination = transfer.record?.destination
        work(for: transfer) {
            if let path { try NewFile.move(path, to: part) }
            return try destination.map { try DestinationFile.place(part, at: $0) } ?? []
        } then: { [self] surplus in
            // Files that are at the transfer's destination by now: the program need not take it.
            transfer.isPlaced = !surplus.isEmpty
            input(transfer) { $0.didComplete() }
            guard !surplus.isEmpty else { return }
            journal.add(nil) { _ in
                BlockingPool.shared.run { for path in surplus { _ = SystemCalls.unlink(path) } }
            }
        }
    }

    /// The codings of what was downloaded, where they are to be undone: the program has not asked for them.
    private func coding(of attempt: TransferAttempt, _ transfer: ServiceTransfer) -> String? {
        guard let record = transfer.record, record.kind == .download,
            !transfer.session.settings.keepsContentCodings, record.request.rules.keepsContentCodings != true
        else { return nil }
        return attempt.coding ?? attempt.resumeData?.coding
    }

    /// The transfer is over. Its end is in the journal before anybody is told.
    func end(_ transfer: ServiceTransfer, _ error: TransferError?) {
        let (session, identifier, record) = (transfer.session, transfer.identifier, record(of: transfer))
        var standing = record?.standing ?? TransferStanding()
        standing.error = error
        standing.error?.uploadResumeData = record?.uploadResumeData
        let isEmpty = record?.kind == .upload && standing.progress.received == 0
        if error == nil, !transfer.isPlaced, !isEmpty { standing.file = session.folder.path(of: identifier) }
        standing.part = nil
        if transfer.attemptNumber != nil { queue.didStop(transfer.key) }
        transfer.stopAttempt()
        transfer.alarm?.cancel()
        session.transfers[identifier] = nil
        if standing.file == nil, !transfer.isPlaced {
            removeFiles(identifier, session)
        } else if record?.kind == .upload {
            let copy = session.folder.path(of: identifier, .upload)
            BlockingPool.shared.run { _ = SystemCalls.unlink(copy) }
        }
        if transfer.isPlaced {
            journal.add(.session(session.record))
            journal.add(.forget(transfer.key), didKeepEnd(standing, of: transfer))
        } else {
            lastEnd = lastEnd == .max ? .max : lastEnd + 1
            transfer.row.endNumber = lastEnd
            session.ended[identifier] = transfer.row
            journal.add(.row(transfer.row))
            journal.add(.standing(transfer.key, standing), didKeepEnd(standing, of: transfer))
        }
        scheduleStarts()
    }

    /// What is done when the journal has the end.
    private func didKeepEnd(_ end: TransferStanding, of transfer: ServiceTransfer) -> ((any Error)?) -> Void {
        let (session, identifier, client) = (transfer.session, transfer.identifier, transfer.session.client)
        return { [weak self] _ in
            guard let self else { return }
            // A program that was attached meanwhile got it with the earlier ends, unless the journal did not have it then.
            if let current = session.client, session.untold.remove(identifier) != nil || current === client {
                current.receive(.ended(identifier, end))
            }
            launchIfNeeded(session)
            if transfer.isPlaced { forgetIfOver(session) }
            checkIdleness()
        }
    }

    /// The program has taken a part of an end.
    func take(
        _ identifier: Int, _ part: TransferStanding.Part, _ session: ServiceSession, _ completion: @escaping Completion
    ) {
        session.nextLaunch = nil
        session.launchPause.reset()
        guard var row = session.ended[identifier] else { return completion(nil) }
        guard part == .completion else {
            row.next = max(row.next, part == .content ? .metrics : .completion)
            session.ended[identifier] = row
            return journal.add(.row(row)) { completion($0) }
        }
        session.ended[identifier] = nil
        let folder = session.folder
        // A later transfer must not get the number that this one has had.
        journal.add(.session(session.record))
        journal.add(.forget(row.key)) { [weak self, loop] error in
            loop.offload {
                folder.remove(identifier)
                completion(error)
            } then: { [weak self] _ in
                // Not before: the files of a session that is forgotten are not removed.
                guard let self, sessions[session.number] === session else { return }
                forgetIfOver(session)
            }
        }
    }
}

extension TransferRecord {
    /// What a program's session goes on from with an upload that has ended with an error; nil where the server keeps nothing of it.
    fileprivate var uploadResumeData: Data? {
        guard kind == .upload, let resource = standing.uploadResource, let path = uploadFile,
            let file = standing.uploadFile, var request = request.request
        else { return nil }
        request.bodyFile = file.body(path)
        return UploadResumption(request, goingOnAt: resource).resumeData
    }
}
