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

    func setExpiry(_ key: TransferKey, _ session: ServiceSession) {
        guard let entry = session.transfers[key.identifier] else { return }
        var expiry = entry.clock.expiry(session.settings.timeoutIntervalForResource)
        if let deadline = entry.challengeDeadline { expiry = min(expiry, deadline) }
        if expiry == .distantFuture { expirations.remove(key) } else { expirations.set(expiry, for: key) }
        scheduleAlarm()
    }

    func setChallengeDeadline(_ key: TransferKey, _ session: ServiceSession, after seconds: TimeInterval) {
        session.transfers[key.identifier]?.challengeDeadline = loop.now.advanced(bySeconds: seconds)
        setExpiry(key, session)
    }

    func removeTimes(_ key: TransferKey) {
        expirations.remove(key)
        pauses.remove(key)
        dates.remove(key)
    }

    func scheduleAlarm() {
        var next = min(expirations.next ?? .distantFuture, pauses.next ?? .distantFuture)
        if let date = dates.next {
            let seconds = date.timeIntervalSince(environment.wallClock.now)
            next = min(next, loop.now.advanced(bySeconds: min(max(seconds, 0), Self.longestLook)))
        }
        alarm?.cancel()
        alarm = next == .distantFuture ? nil : loop.schedule(at: next) { [weak self] in self?.alarmDidRing() }
    }

    private func alarmDidRing() {
        alarm = nil
        while let key = expirations.popDue(loop.now) { didExpire(key) }
        while let key = pauses.popDue(loop.now) {
            if let session = sessions[key.session] { input(key.identifier, session) { $0.pauseDidEnd() } }
        }
        while let key = dates.popDue(environment.wallClock.now) {
            guard let session = sessions[key.session] else { continue }
            let isAttached = session.client != nil
            input(key.identifier, session) { $0.dateDidCome(isAttached: isAttached) }
        }
        scheduleAlarm()
        checkIdleness()
    }

    private func didExpire(_ key: TransferKey) {
        guard let session = sessions[key.session], let entry = session.transfers[key.identifier] else { return }
        if entry.state.phase == .needsProgram {
            let text = "the server asks for a credential, and the program that has it has not come back in time"
            return input(key.identifier, session) {
                $0.timeDidExpire(TransferError(.userAuthenticationRequired, text))
            }
        }
        let seconds = session.settings.timeoutIntervalForResource
        let text = "the transfer took more than \(seconds) seconds (timeoutIntervalForResource)"
        input(key.identifier, session) { $0.timeDidExpire(TransferError(.timedOut, text)) }
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
            guard queue.hasWaiting(session.number) || !session.live.isEmpty else {
                return queue.hold(session.number, false)
            }
            queue.hold(session.number, !environment.conditions.areGoodForDiscretionaryWork)
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
