import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

// What happens at a time: pauses end, dates come, transfers have taken too long.
extension TransferService {
    /// A challenge waits so long for the program, in seconds.
    static let longestChallenge = 86_400.0
    /// The time of day is looked at so often while a date is waited for, in seconds: it may be set.
    private static let longestLook = 60.0

    /// Has a transfer looked at when the next thing of it is due.
    func setAlarm(_ transfer: ServiceTransfer) {
        transfer.alarm?.cancel()
        transfer.alarm = nil
        guard transfer.state.phase != .over else { return }
        var next = min(expiry(transfer), transfer.pauseEnd ?? .distantFuture)
        if transfer.state.phase == .delayed, let date = transfer.row.earliestBeginDate {
            let seconds = date.timeIntervalSince(environment.wallClock.now)
            next = min(next, loop.now.advanced(bySeconds: min(max(seconds, 0), Self.longestLook)))
        }
        guard next != .distantFuture else { return }
        transfer.alarm = loop.schedule(at: next) { [weak self, weak transfer] in
            if let self, let transfer { alarmDidRing(transfer) }
        }
    }

    private func expiry(_ transfer: ServiceTransfer) -> MonotonicTime {
        min(
            transfer.clock.expiry(transfer.session.settings.timeoutIntervalForResource),
            transfer.challengeDeadline ?? .distantFuture)
    }

    private func alarmDidRing(_ transfer: ServiceTransfer) {
        let (now, session) = (loop.now, transfer.session)
        if expiry(transfer) <= now {
            let isChallenged = transfer.state.phase == .needsProgram
            let seconds = session.settings.timeoutIntervalForResource
            let error =
                isChallenged
                ? TransferError(
                    .userAuthenticationRequired,
                    "the server asks for a credential, and the program that has it has not come back in time")
                : TransferError(
                    .timedOut, "the transfer took more than \(seconds) seconds (timeoutIntervalForResource)")
            input(transfer) { $0.timeDidExpire(error) }
        } else if let end = transfer.pauseEnd, end <= now {
            transfer.pauseEnd = nil
            input(transfer) { $0.pauseDidEnd() }
        } else if let date = transfer.row.earliestBeginDate, date <= environment.wallClock.now {
            let isAttached = session.isWanted
            input(transfer) { $0.dateDidCome(isAttached: isAttached) }
        } else {
            setAlarm(transfer)
        }
        checkIdleness()
    }

    // MARK: Discretion

    /// In seconds.
    private static let longestSpread = 60.0
    private static let pauseBetweenLooks = 300.0

    /// Transfers at the system's discretion begin a while after they are there, and when it suits.
    func holdIfDiscretionary(_ session: ServiceSession) {
        guard session.settings.isDiscretionary, session.discretionTimer == nil else { return }
        queue.hold(session.number, true)
        look(at: session, after: environment.random() * Self.longestSpread)
    }

    func endDiscretion(_ session: ServiceSession) {
        session.discretionTimer?.cancel()
        session.discretionTimer = nil
        queue.hold(session.number, false)
        scheduleStarts()
    }

    private func look(at session: ServiceSession, after seconds: Double) {
        session.discretionTimer = loop.schedule(at: loop.now.advanced(bySeconds: seconds)) {
            [weak self, weak session] in
            guard let self, let session else { return }
            session.discretionTimer = nil
            let isBusy = session.transfers.values.contains { $0.attemptNumber != nil }
            guard isBusy || queue.hasWaiting(session.number) else { return queue.hold(session.number, false) }
            queue.hold(session.number, !environment.areConditionsGood())
            look(at: session, after: Self.pauseBetweenLooks)
            scheduleStarts()
        }
    }

    // MARK: Starting the program

    /// Where the program is not there, and its transfers are done, or one needs it.
    func launchIfNeeded(_ session: ServiceSession) {
        guard !session.isWanted, session.launchTimer == nil, let command = session.settings.backgroundLaunchCommand,
            isNeeded(session)
        else { return }
        session.launchTimer = loop.schedule(at: session.launching.earliest(loop.now)) { [weak self, weak session] in
            guard let self, let session else { return }
            session.launchTimer = nil
            if !session.isWanted, isNeeded(session) {
                session.launching.didLaunch(loop.now)
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
