import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

// Sessions that come and go.
extension TransferService {
    package func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        ServiceChannel(self, session, receive: receive)
    }

    func attach(_ channel: ServiceChannel, _ description: SessionDescription) {
        do {
            let session = try self.session(for: description)
            guard !session.isWanted else {
                let text =
                    "a session with the identifier \(description.identifier) is in use, in this process or another"
                return channel.receive(
                    .detached(TransferError(.backgroundSessionInUseByAnotherProcess, text)))
            }
            // It is in the journal before any transfer that is begun. Where the journal cannot be written, the session is
            // attached all the same: what there is can be told, and what cannot begin fails with the reason.
            journal.add(.session(session.record))
            greet(channel, session)
        } catch {
            channel.receive(.detached(TransferError(error)))
        }
    }

    /// That of the identifier and program, with these settings from now on.
    private func session(for description: SessionDescription) throws -> ServiceSession {
        let known = sessions.values.first {
            $0.description.identifier == description.identifier && $0.description.program == description.program
        }
        guard let known else {
            return try add(JournaledSession(number: newSessionNumber(), description: description))
        }
        guard !known.isWanted else { return known }
        if known.description != description {
            try known.update(description, in: folder)
            // What is under way goes on as it was begun.
            known.urlSession?.finishTasksAndInvalidate()
            known.urlSession = nil
            if !known.settings.isDiscretionary { endDiscretion(known) }
            for identifier in known.transfers.keys { setExpiry(known.key(identifier), known) }
        }
        known.record.isEnding = false
        return known
    }

    private func refuse(_ channel: ServiceChannel, _ session: ServiceSession, _ error: any Error) {
        channel.receive(.detached(TransferError(error)))
        forgetIfOver(session)
    }

    /// Tells an attached session what there is, and what happened meanwhile.
    private func greet(_ channel: ServiceChannel, _ session: ServiceSession) {
        session.launchTimer?.cancel()
        session.launchTimer = nil
        let state: SessionState
        let ends: [(Int, TransferEnd)]
        do {
            ends = try session.ended.sorted { $0.value < $1.value }.compactMap { identifier, _ in
                try journal.end(of: session.key(identifier)).map { (identifier, $0) }
            }
            let endsByIdentifier = Dictionary(ends) { first, _ in first }
            // One by one: there may be very many.
            let transfers = try journal.transfers(of: session.number) { transfer in
                overview(of: transfer, session, endsByIdentifier).snapshot
            }
            state = SessionState(nextIdentifier: session.record.nextIdentifier, transfers: transfers)
        } catch {
            return refuse(channel, session, error)
        }
        session.client = channel
        session.untold = Set(session.ended.keys).subtracting(ends.map(\.0))
        channel.receive(.attached(state))
        for (identifier, end) in ends { channel.receive(.ended(identifier, end)) }
        channel.receive(.deliveredEarlierEvents)
        for (identifier, entry) in session.transfers where entry.state.phase == .needsProgram {
            input(identifier, session) { $0.programDidAttach() }
            session.transfers[identifier]?.challengeDeadline = nil
            setExpiry(session.key(identifier), session)
        }
        checkIdleness()
    }

    func detach(_ channel: ServiceChannel) {
        guard let session = session(of: channel) else { return }
        session.client = nil
        session.untold = []
        for (identifier, entry) in session.transfers where entry.state.phase == .asking || entry.state.isLive {
            let isChallenged = hasChallengesForProgram(identifier, session)
            input(identifier, session) { $0.programDidDetach(isChallenged: isChallenged) }
        }
        launchIfNeeded(session)
        forgetIfOver(session)
        checkIdleness()
    }

    /// No program is attached, and all ends were taken.
    func forgetIfOver(_ session: ServiceSession) {
        guard session.transfers.isEmpty, session.ended.isEmpty else { return }
        if !session.isWanted || session.record.isEnding {
            session.urlSession?.finishTasksAndInvalidate()
            session.urlSession = nil
        }
        // What a program has decided of its servers holds for its next transfers.
        guard !session.isWanted, session.record.isEnding || !session.record.answersServerTrust else { return }
        session.launchTimer?.cancel()
        session.discretionTimer?.cancel()
        queue.hold(session.number, false)
        sessions[session.number] = nil
        journal.add(.forgetSession(session.number))
        let folder = session.folder
        BlockingPool.shared.run { folder.removeIfEmpty() }
    }

    // MARK: For the tool

    package func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void) {
        loop.execute { [self] in
            let overviews = sessions.values.compactMap { session -> SessionOverview? in
                guard !session.transfers.isEmpty || !session.ended.isEmpty else { return nil }
                var ends: [Int: TransferEnd] = [:]
                for identifier in session.ended.keys {
                    ends[identifier] = try? journal.end(of: session.key(identifier))
                }
                let transfers = try? journal.transfers(of: session.number) { overview(of: $0, session, ends) }
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
            let found = sessions.values.filter { $0.description.identifier == identifier }.sorted {
                $0.number < $1.number
            }
            // Programs may have taken the same identifier.
            let number = command.transfer
            let owner = found.first { session in
                number.map { session.transfers[$0] != nil || session.ended[$0] != nil } ?? true
            }
            guard let owner else {
                let what = number.map { "has no transfer \($0)" } ?? "is not known"
                return completion(
                    TransferError(.fileDoesNotExist, "the background session \(identifier) \(what)").error)
            }
            // The end of what the program does not take any more.
            if case .cancel(let number, _) = command, owner.ended[number] != nil, owner.client == nil {
                return take(number, .completion, owner) { completion($0) }
            }
            perform(command, nil, owner, completion)
        }
    }

    private func overview(
        of transfer: JournaledTransfer, _ session: ServiceSession, _ ends: [Int: TransferEnd]
    ) -> TransferOverview {
        let identifier = transfer.description.identifier
        guard let entry = session.transfers[identifier] else {
            let end = ends[identifier]
            let snapshot = TransferSnapshot(
                transfer.description, progress: end?.progress ?? transfer.standing.progress,
                currentRequest: end?.currentRequest, response: end?.response)
            return TransferOverview(
                snapshot: snapshot, state: end?.error == nil ? .ended : .failed, lastError: end?.error)
        }
        let live = session.live[identifier] ?? LiveTransfer(transfer)
        return TransferOverview(
            snapshot: live.snapshot(isSuspended: entry.state.isSuspended), state: entry.shownState,
            lastError: live.standing.lastError)
    }
}

extension TransferCommand {
    /// The transfer that it concerns; nil where it concerns all.
    fileprivate var transfer: Int? {
        switch self {
        case .begin(let transfer): transfer.identifier
        case .suspend(let identifier), .resume(let identifier), .cancel(let identifier, _),
            .change(let identifier, _, _),
            .take(let identifier, _), .answerBeginning(let identifier, _), .answerChallenge(let identifier, _, _):
            identifier
        case .endSession, .reset: nil
        }
    }
}

extension ServiceSession.Entry {
    fileprivate var shownState: TransferOverview.State {
        switch state.phase {
        case .over: .ended
        case _ where state.isSuspended: .suspended
        case .delayed, .asking, .queued: .queued
        case .running: isWaitingForConnectivity ? .waitingForConnectivity : .running
        case .completing: .running
        case .backingOff: .backingOff
        case .needsProgram: .waitingForProgram
        }
    }
}
