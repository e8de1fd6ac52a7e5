import Foundation
import LoadingKitCore
import LoadingKitTransport

// Attaching and detaching of sessions.
extension TransferService {
    package func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        ServiceChannel(service: self, session: session, receive: receive)
    }

    func attach(_ channel: ServiceChannel, _ description: SessionDescription) {
        do {
            let session = try self.session(for: description)
            guard !session.isWanted else {
                throw LoadFailure(
                    .backgroundSessionInUseByAnotherProcess,
                    "a session with the identifier \(description.identifier) is in use, in this process or another")
            }
            // The session is in the journal before any transfer that is begun. Where the journal cannot be written,
            // the session is attached nevertheless: its existing transfers can be reported, and new transfers fail
            // with the reason.
            session.record.isAttached = true
            journal.add(.session(session.record))
            do { try greet(channel, session) } catch {
                forgetIfOver(session)
                throw error
            }
        } catch {
            channel.receive(.detached(TransferError(error)))
        }
    }

    /// The session with the description's identifier and program, which uses these settings from now on.
    private func session(for description: SessionDescription) throws -> ServiceSession {
        let known = sessions.values.first {
            $0.description.identifier == description.identifier && $0.description.program == description.program
        }
        guard let known else {
            let session =
                try takeUpUnread(description)
                ?? add(JournaledSession(number: newSessionNumber(), description: description))
            // The removal of a forgotten session's files may have been lost with the power.
            removeForgottenFiles(session)
            return session
        }
        guard !known.isWanted else { return known }
        if known.description != description {
            try known.update(description, in: folder)
            known.retireURLSession()
            if !known.settings.isDiscretionary { endDiscretion(known) }
            for transfer in known.transfers.values { setAlarm(transfer) }
        }
        known.record.isEnding = false
        return known
    }

    /// Takes up a session whose settings could not be read, with the description's settings; nil where there is none.
    private func takeUpUnread(_ description: SessionDescription) throws -> ServiceSession? {
        let found = unread.values.first {
            $0.record.description.identifier == description.identifier
                && $0.record.description.program == description.program
        }
        guard let found else { return nil }
        var record = found.record
        (record.description, record.isEnding) = (description, false)
        // Its transfers have files there.
        if !found.rows.isEmpty { record.description.keep("backgroundDownloadFolder", of: found.record.description) }
        let session = try add(record)
        unread[record.number] = nil
        awaitProgram(session)
        for row in found.rows { takeUp(row, of: session) }
        return session
    }

    /// Sends an attached session the existing transfers, and the events since it was last attached.
    private func greet(_ channel: ServiceChannel, _ session: ServiceSession) throws {
        session.launchTimer?.cancel()
        session.launchTimer = nil
        let (state, ends) = try contents(of: session)
        session.client = channel
        let known = state.transfers.map(\.identifier)
        session.untold = Set(session.ended.keys).intersection(known).subtracting(ends.keys)
        channel.receive(.attached(state))
        for (identifier, _) in session.ended.sorted(by: { $0.value.endNumber ?? 0 < $1.value.endNumber ?? 0 })
        where !session.untold.contains(identifier) {
            channel.receive(.ended(identifier, ends[identifier] ?? TransferStatus(error: .unreadable)))
        }
        channel.receive(.deliveredEarlierEvents)
        endWait(session)
        for transfer in session.transfers.values where transfer.state.phase == .needsProgram {
            input(transfer) { $0.programDidAttach() }
        }
        checkIdleness()
    }

    /// The session's transfers for the program, and the ends that are in the journal.
    private func contents(of session: ServiceSession) throws -> (SessionState, ends: [Int: TransferStatus]) {
        var ends: [Int: TransferStatus] = [:]
        // One record at a time: there may be very many.
        let all = try journal.transfers(of: session.number) { record in
            if record.stage.isOver { ends[record.identifier] = record.status }
            return session.transfers[record.identifier]?.told(record) ?? record
        }
        // While the journal cannot be written, it still has ends that were taken. Tasks restored from it would not end.
        let transfers = all.filter { !$0.stage.isOver || session.ended[$0.identifier] != nil }
        return (SessionState(nextIdentifier: session.record.nextIdentifier, transfers: transfers), ends)
    }

    /// A transfer has begun. Another run of the program, which was attached meanwhile, does not know it.
    func didBegin(for client: ServiceChannel?, in session: ServiceSession) {
        guard let current = session.client, current !== client, let (state, _) = try? contents(of: session) else {
            return
        }
        current.receive(.attached(state))
        current.receive(.deliveredEarlierEvents)
    }

    func detach(_ channel: ServiceChannel) {
        guard let session = session(of: channel) else { return }
        session.client = nil
        session.untold = []
        session.record.isAttached = false
        journal.add(.session(session.record))
        for transfer in session.transfers.values where transfer.state.phase == .asking || transfer.state.isLive {
            let isChallenged = hasChallengesForProgram(transfer)
            input(transfer) { $0.programDidDetach(isChallenged: isChallenged) }
        }
        launchIfNeeded(session)
        forgetIfOver(session)
    }

    /// Forgets the session where no program is attached and all ends were taken.
    func forgetIfOver(_ session: ServiceSession) {
        defer { checkIdleness() }
        guard !session.hasTransfers else { return }
        if !session.isWanted || session.record.isEnding { session.retireURLSession() }
        // The program's decisions about its servers apply to its next transfers, so the session is kept.
        guard !session.isWanted, session.record.isEnding || !session.record.answersServerTrust else { return }
        session.cancelTimers()
        queue.hold(session.number, false)
        sessions[session.number] = nil
        journal.add(.forgetSession(session.number))
        let folder = session.folder
        BlockingPool.shared.run { folder.removeIfEmpty() }
    }

    // MARK: For the tool

    package func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void) {
        loop.execute { [self] in
            let overviews = sessions.values.filter(\.hasTransfers).map { session in
                let transfers = try? journal.transfers(of: session.number) { record in
                    (session.transfers[record.identifier]?.told(record) ?? record).plain
                }
                return SessionOverview(
                    identifier: session.description.identifier, program: session.description.program,
                    isAttached: session.client != nil, transfers: transfers ?? [])
            }
            completion(overviews.sorted { ($0.identifier, $0.program) < ($1.identifier, $1.program) })
        }
    }

    package func control(
        session identifier: String, _ command: TransferCommand, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        loop.execute { [self] in
            // Several programs may use the same identifier.
            let number = command.transfer
            let owners = sessions.values.filter { session in
                session.description.identifier == identifier
                    && number.map { session.transfers[$0] != nil || session.ended[$0] != nil } ?? true
            }
            guard let owner = owners.min(by: { $0.number < $1.number }) else {
                let what = number.map { "has no transfer \($0)" } ?? "is not known"
                return completion(
                    TransferError(.fileDoesNotExist, "the background session \(identifier) \(what)").error)
            }
            // Removes the end of a transfer that no program will take.
            if case .cancel(let number, _) = command, owner.ended[number] != nil, owner.client == nil {
                return take(number, .completion, owner) { completion($0) }
            }
            perform(command, nil, owner, completion)
        }
    }
}
