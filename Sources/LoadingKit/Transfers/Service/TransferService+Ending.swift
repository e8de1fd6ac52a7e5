import Foundation
import LoadingKitCore
import LoadingKitTransport

// The end of a transfer: its file is moved to its destination, the journal records the end, and the program takes it.
extension TransferService {
    /// All content was received: synchronizes the file, and moves it to its destination.
    func complete(_ transfer: ServiceTransfer) {
        guard let attempt = transfer.attempt else { return }
        transfer.record?.status.progress = attempt.progress
        attempt.synchronizing?.cancel()
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
            // The part can no longer be continued if this process ends before the transfer's end is in the journal.
            transfer.record?.status.part = nil
            guard let status = transfer.record?.status else { return }
            journal.add(.status(transfer.key, status)) { [weak self] _ in
                guard let self, transfer.attempt === attempt else { return }
                place(file.path, transfer, decodedAt: decodedPath)
            }
        }
    }

    private func place(_ part: String, _ transfer: ServiceTransfer, decodedAt path: String? = nil) {
        let destination = transfer.record?.destination
        work(for: transfer) { () -> [String] in
            if let path {
                try NewFile.move(path, to: part)
                try NewFile.synchronizeName(of: part)
            }
            guard let destination else { return [] }
            let surplus = try DestinationFile.place(part, at: destination)
            try NewFile.synchronizeName(of: destination)
            return surplus
        } then: { [self] surplus in
            didComplete(transfer, surplus)
        }
    }

    /// The whole content is in its file.
    ///
    /// - Parameter surplus: Files of a download that is at its destination, which are removed when its end is in the
    ///   journal; empty for any other transfer. The program need not take such a download.
    func didComplete(_ transfer: ServiceTransfer, _ surplus: [String]) {
        transfer.isPlaced = !surplus.isEmpty
        input(transfer) { $0.didComplete() }
        guard !surplus.isEmpty else { return }
        journal.add(nil) { _ in
            BlockingPool.shared.run { for path in surplus { _ = SystemCalls.unlink(path) } }
        }
    }

    /// The content codings to decode; nil where the program has requested the encoded content.
    private func coding(of attempt: TransferAttempt, _ transfer: ServiceTransfer) -> String? {
        guard let record = transfer.record, record.kind == .download,
            !transfer.session.settings.keepsContentCodings, record.request.rules.keepsContentCodings != true
        else { return nil }
        return attempt.coding ?? attempt.resumeData?.coding
    }

    /// The transfer is over. Its end is in the journal before any program is notified.
    func end(_ transfer: ServiceTransfer, _ error: TransferError?) {
        let (session, identifier) = (transfer.session, transfer.identifier)
        let record = try? self.record(of: transfer)
        var status = record?.status ?? TransferStatus()
        status.error = error
        // Not where the program has cancelled the upload without a request for it.
        if transfer.isMakingResumeData || error?.urlErrorCode != .cancelled {
            status.error?.uploadResumeData = record?.uploadResumeData
        }
        let isEmpty = record?.kind == .upload && status.progress.received == 0
        if error == nil, !transfer.isPlaced, !isEmpty { status.file = session.folder.path(of: identifier) }
        status.part = nil
        if transfer.permission != nil { queue.didStop(transfer.key) }
        transfer.stopAttempt()
        transfer.alarm?.cancel()
        session.transfers[identifier] = nil
        let didKeepEnd = didKeepEnd(status, of: transfer, isUpload: record?.kind == .upload)
        if transfer.isPlaced {
            journal.add(.session(session.record))
            journal.add(.forget(transfer.key), didKeepEnd)
        } else {
            lastEnd = lastEnd == .max ? .max : lastEnd + 1
            transfer.row.endNumber = lastEnd
            session.ended[identifier] = transfer.row
            journal.add(.row(transfer.row))
            journal.add(.status(transfer.key, status), didKeepEnd)
        }
        scheduleStarts()
    }

    /// Returns the closure to call when the end is in the journal.
    private func didKeepEnd(
        _ end: TransferStatus, of transfer: ServiceTransfer, isUpload: Bool
    ) -> ((any Error)?) -> Void {
        let (session, identifier, client) = (transfer.session, transfer.identifier, transfer.session.client)
        return { [weak self] _ in
            guard let self else { return }
            // Only now: where the end is not in the journal, the next process needs the files.
            if !transfer.isPlaced, end.file == nil {
                removeFiles(identifier, session)
            } else if isUpload {
                let copy = session.folder.path(of: identifier, .upload)
                BlockingPool.shared.run { _ = SystemCalls.unlink(copy) }
            }
            // A program attached meanwhile got the end among the earlier ends, unless the journal did not have it.
            if let current = session.client, session.untold.remove(identifier) != nil || current === client {
                current.receive(.ended(identifier, end))
            }
            launchIfNeeded(session)
            if transfer.isPlaced { forgetIfOver(session) }
            checkIdleness()
        }
    }

    /// The program has taken a part of a transfer's end.
    func take(
        _ identifier: Int, _ part: TransferStatus.Part, _ session: ServiceSession, _ completion: @escaping Completion
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
        // A later transfer must not get the identifier of this one.
        journal.add(.session(session.record))
        journal.add(.forget(row.key)) { [weak self, loop] error in
            loop.offload {
                folder.remove(identifier)
                completion(error)
            } then: { [weak self] _ in
                // Only now: the files of a forgotten session could not be removed.
                guard let self, sessions[session.number] === session else { return }
                forgetIfOver(session)
            }
        }
    }
}

extension TransferRecord {
    /// The resume data of a failed upload; nil where the server keeps nothing of the upload.
    fileprivate var uploadResumeData: Data? {
        guard kind == .upload, let resource = status.uploadResource, let path = uploadFile,
            let file = status.uploadFile, var request = request.request
        else { return nil }
        request.bodyFile = file.body(path)
        return UploadResumption(request, firstURL: firstURL, goingOnAt: resource).resumeData
    }
}
