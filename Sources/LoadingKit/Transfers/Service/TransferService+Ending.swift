import Foundation
import LoadingKitCore
import LoadingKitTransport

// The end of a transfer: its file is put in its place, the journal has it, the program takes it.
extension TransferService {
    /// All was received: puts the file on the disk, and where it is to be.
    func complete(_ identifier: Int, _ session: ServiceSession) {
        guard let live = session.live[identifier], let attempt = live.attempt else { return }
        live.standing.progress = attempt.progress
        live.synchronizing?.cancel()
        live.synchronizing = nil
        let (file, destination) = (attempt.file, live.description.destination)
        file.close()
        Self.synchronizers.run { [loop] in
            let result = Result {
                file.giveBackRoom()
                _ = try file.synchronize()
                return try destination.map { try DestinationFile.place(file.path, at: $0) } ?? []
            }
            loop.execute { [weak self] in
                guard let self, session.live[identifier] === live else { return }
                switch result {
                case .success(let surplus): didComplete(live, session, surplus)
                case .failure(let error):
                    didNotComplete(AttemptFailure(of: error, live.description.request.request?.url), live, session)
                }
            }
        }
    }

    private func didNotComplete(_ failure: AttemptFailure, _ live: LiveTransfer, _ session: ServiceSession) {
        if let error = failure.error { live.standing.lastError = error }
        stopAttempt(live.key.identifier, session)
        let randomness = environment.random()
        input(live.key.identifier, session) { $0.attemptDidFail(failure, randomness: randomness) }
    }

    /// - Parameter surplus: Files that are at the transfer's destination by now: the program need not take it.
    private func didComplete(_ live: LiveTransfer, _ session: ServiceSession, _ surplus: [String]) {
        let identifier = live.key.identifier
        live.isPlaced = !surplus.isEmpty
        input(identifier, session) { $0.didComplete() }
        guard !surplus.isEmpty else { return }
        journal.afterCommit { _ in BlockingPool.shared.run { for path in surplus { _ = SystemCalls.unlink(path) } } }
    }

    /// The transfer is over. Its end is in the journal before anybody is told.
    func end(_ identifier: Int, _ session: ServiceSession, _ error: TransferError?) {
        let (key, live) = (session.key(identifier), session.live[identifier])
        let content = content(of: identifier, session)
        let standing = content?.standing ?? TransferStanding()
        let isUpload = content?.description.kind == .upload
        var error = error
        error?.uploadResumeData = content?.description.uploadResumeData(standing)
        let path = session.folder.path(of: identifier)
        let hasFile = error == nil && !(live?.isPlaced ?? false) && !(isUpload && standing.progress.received == 0)
        if let live {
            live.stop()
            queue.didStop(key)
            session.live[identifier] = nil
        }
        removeTimes(key)
        session.transfers[identifier] = nil
        session.forgetKept(identifier)
        session.uploads[identifier] = nil
        session.positions[identifier] = nil
        if !hasFile, !(live?.isPlaced ?? false) { BlockingPool.shared.run { _ = SystemCalls.unlink(path) } }
        let end = TransferEnd(
            error: error, response: standing.response, currentRequest: standing.currentRequest,
            progress: standing.progress,
            file: hasFile ? path : nil, metrics: standing.metrics)
        keep(end, identifier, session, isTaken: live?.isPlaced ?? false)
        scheduleStarts()
    }

    private func keep(_ end: TransferEnd, _ identifier: Int, _ session: ServiceSession, isTaken: Bool) {
        let key = session.key(identifier)
        let change: JournalChange
        if isTaken {
            journal.add(.session(session.record))
            change = .forget(key)
        } else {
            lastEnd = lastEnd == .max ? .max : lastEnd + 1
            session.ended[identifier] = lastEnd
            change = .end(key, number: lastEnd, end)
        }
        let client = session.client
        journal.add(change) { [weak self, weak session] _ in
            guard let self, let session else { return }
            // A program that was attached meanwhile got it with the earlier ends, unless the journal did not have it then.
            if let current = session.client, session.untold.remove(identifier) != nil || current === client {
                current.receive(.ended(identifier, end))
            }
            launchIfNeeded(session)
            if isTaken { forgetIfOver(session) }
            checkIdleness()
        }
    }

    /// The program has taken a part of an end.
    func take(
        _ identifier: Int, _ part: TransferEnd.Part, _ session: ServiceSession, _ completion: @escaping Completion
    ) {
        session.launching.programDidTakeEvents()
        let key = session.key(identifier)
        guard let number = session.ended[identifier] else { return completion(nil) }
        guard part == .completion else { return advance(key, number, part, completion) }
        session.ended[identifier] = nil
        let path = session.folder.path(of: identifier)
        // A later transfer must not get the number that this one has had.
        journal.add(.session(session.record))
        journal.add(.forget(key)) { [loop] error in
            BlockingPool.shared.run { [weak self] in
                _ = SystemCalls.unlink(path)
                completion(error)
                // Not before: the files of a session that is forgotten are not removed.
                loop.execute { [weak self] in
                    guard let self, sessions[session.number] === session else { return }
                    forgetIfOver(session)
                    checkIdleness()
                }
            }
        }
    }

    private func advance(
        _ key: TransferKey, _ number: Int64, _ part: TransferEnd.Part, _ completion: @escaping Completion
    ) {
        do {
            guard var end = try journal.end(of: key) else { return completion(nil) }
            end.next = max(end.next, part == .content ? .metrics : .completion)
            journal.add(.end(key, number: number, end)) { completion($0) }
        } catch {
            completion(error)
        }
    }
}

extension TransferDescription {
    /// What a program's session goes on from with an upload that has ended with an error; nil where the server keeps nothing of it.
    fileprivate func uploadResumeData(_ standing: TransferStanding) -> Data? {
        guard kind == .upload, let resource = standing.uploadResource, let path = uploadFile,
            let file = standing.uploadFile, var request = request.request
        else { return nil }
        request.bodyFile = file.body(path)
        return UploadResumption(request, goingOnAt: resource).resumeData
    }
}
