import Foundation
import LoadingKitCore
import LoadingKitPrimitives

// Timed actions: pauses end, begin dates come, and transfers exceed their time limits.
extension TransferService {
    /// The time that a challenge may wait for the program, in seconds.
    static let longestChallenge = 86_400.0

    /// Sets the alarm of a transfer to the time of its next due action.
    func setAlarm(_ transfer: ServiceTransfer) {
        transfer.alarm?.cancel()
        var next = expiry(transfer)
        switch transfer.state.phase {
        case .over: return
        case .backingOff, .needsProgram: next = min(next, transfer.waitEnd)
        case .delayed where transfer.session.returnTimer == nil:
            let seconds = transfer.row.earliestBeginDate?.timeIntervalSince(environment.wallClock.now) ?? 0
            next = min(next, loop.now.advanced(bySeconds: min(max(seconds, 0), WallClock.longestLook)))
        case .delayed, .asking, .queued, .running, .completing: break
        }
        guard next != .distantFuture else { return }
        transfer.alarm = loop.schedule(at: next) { [weak self, weak transfer] in
            if let self, let transfer { alarmDidRing(transfer) }
        }
    }

    private func expiry(_ transfer: ServiceTransfer) -> MonotonicTime {
        transfer.clock.expiry(transfer.session.settings.timeoutIntervalForResource)
    }

    private func alarmDidRing(_ transfer: ServiceTransfer) {
        // It ends when its resume data are made.
        guard !transfer.isMakingResumeData else { return }
        let (now, session, phase) = (loop.now, transfer.session, transfer.state.phase)
        if phase == .needsProgram, transfer.waitEnd <= now || expiry(transfer) <= now {
            let text = "the server requests a credential, and the program that has it did not attach in time"
            endWithResumeData(transfer, with: TransferError(.userAuthenticationRequired, text))
        } else if expiry(transfer) <= now {
            let seconds = session.settings.timeoutIntervalForResource
            let text = "the transfer took more than \(seconds) seconds (timeoutIntervalForResource)"
            endWithResumeData(transfer, with: TransferError(.timedOut, text))
        } else if phase == .backingOff, transfer.waitEnd <= now {
            input(transfer) { $0.pauseDidEnd() }
        } else if let date = transfer.row.earliestBeginDate, date <= environment.wallClock.now {
            input(transfer) { $0.dateDidCome(isAttached: session.isWanted) }
        } else {
            setAlarm(transfer)
        }
        checkIdleness()
    }

    // MARK: Discretion

    /// In seconds.
    private static let longestSpread = 60.0
    private static let pauseBetweenLooks = 300.0

    /// Holds discretionary transfers for a random time, and until the machine's conditions are good.
    func holdIfDiscretionary(_ session: ServiceSession) {
        guard session.settings.isDiscretionary, session.discretionTimer == nil else { return }
        session.waitsForConditions = true
        updateHold(session)
        look(at: session, after: environment.random() * Self.longestSpread)
    }

    func endDiscretion(_ session: ServiceSession) {
        session.discretionTimer?.cancel()
        session.discretionTimer = nil
        session.waitsForConditions = false
        updateHold(session)
    }

    /// Holds a session's transfers as long as there is a reason for it.
    private func updateHold(_ session: ServiceSession) {
        queue.hold(session.number, session.waitsForConditions || session.returnTimer != nil)
        scheduleStarts()
    }

    private func look(at session: ServiceSession, after seconds: Double) {
        session.discretionTimer = loop.schedule(at: loop.now.advanced(bySeconds: seconds)) {
            [weak self, weak session] in
            guard let self, let session else { return }
            session.discretionTimer = nil
            let isBusy = session.transfers.values.contains { $0.permission != nil }
            guard isBusy || queue.hasWaiting(session.number) else { return endDiscretion(session) }
            session.waitsForConditions = !environment.areConditionsGood()
            updateHold(session)
            look(at: session, after: Self.pauseBetweenLooks)
        }
    }

    // MARK: The program that was attached to the previous service

    /// The time that a program which was attached to the previous service has to attach again, in seconds.
    private static let timeToReturn = 10.0

    /// Holds a session's transfers until the program that was attached to the previous service is attached again. Its
    /// delegate answers the challenges of these transfers.
    func awaitProgram(_ session: ServiceSession) {
        guard session.record.isAttached == true else { return }
        let end = loop.now.advanced(bySeconds: Self.timeToReturn)
        session.returnTimer = loop.schedule(at: end) { [weak self, weak session] in
            guard let self, let session else { return }
            session.record.isAttached = false
            journal.add(.session(session.record))
            endWait(session)
            launchIfNeeded(session)
        }
        updateHold(session)
    }

    /// The program is attached again, or did not attach in time.
    func endWait(_ session: ServiceSession) {
        guard let timer = session.returnTimer else { return }
        timer.cancel()
        session.returnTimer = nil
        updateHold(session)
        for transfer in session.transfers.values { setAlarm(transfer) }
    }

    // MARK: Starting the program

    /// Starts the program where it is not attached, and its transfers are done or one of them needs it.
    func launchIfNeeded(_ session: ServiceSession) {
        guard !session.isWanted, session.launchTimer == nil, session.returnTimer == nil,
            let command = session.settings.backgroundLaunchCommand,
            isNeeded(session)
        else { return }
        let time = max(session.nextLaunch ?? loop.now, loop.now)
        session.launchTimer = loop.schedule(at: time) { [weak self, weak session] in
            guard let self, let session else { return }
            session.launchTimer = nil
            if !session.isWanted, isNeeded(session) {
                session.nextLaunch = loop.now.advanced(bySeconds: session.launchPause.next())
                environment.launch(command, session.description)
            }
            checkIdleness()
        }
    }

    private func isNeeded(_ session: ServiceSession) -> Bool {
        if session.transfers.isEmpty { return !session.ended.isEmpty }
        return session.transfers.values.contains { $0.state.phase == .needsProgram }
    }
}
