import CLoadingKitShims

// What another thread does that has taken the loop's turn.
extension EventLoop {
    /// After so many pieces of work another thread, which has work of its own, leaves the rest to the loop's.
    private static let maximumPiecesInPlace = 32

    /// Runs `work` here and now, where the turn is free; gives whether it was.
    func performInPlace(_ work: () -> Void, lendsThread: Bool) -> Bool {
        guard mayBeFree.load(ordering: .relaxed), lk_thread_event_loop() == nil else { return false }
        let rest = turnLock.withLockIfAvailable { _ -> Rest? in
            guard !outbox.isCrowded, takeTurn() else { return nil }
            mayBeFree.store(false, ordering: .relaxed)
            lk_set_thread_event_loop(Unmanaged.passUnretained(self).toOpaque())
            now = currentTime
            // Once: the work that borrows a thread may lend it in turn, and that way exhaust the stack.
            if lendsThread, lk_thread_is_borrowed() == 0 { lentThread = .available }
            work()
            let borrower = lentThread.end()
            let wakeUp = finishInPlace()
            lk_set_thread_event_loop(nil)
            mayBeFree.store(true, ordering: .relaxed)
            return Rest(wakeUp: wakeUp, borrower: borrower)
        }
        guard let rest = rest ?? nil else { return false }
        if rest.wakeUp >= 0 { SystemCalls.wakeUp(rest.wakeUp) }
        if let borrower = rest.borrower {
            lk_set_thread_is_borrowed(1)
            borrower()
            lk_set_thread_is_borrowed(0)
        }
        return true
    }

    /// Whether ``borrowThread(_:)`` would take work now. On the loop only.
    package var canBorrowThread: Bool { if case .available = lentThread { true } else { false } }

    /// Runs `work` off the loop, in the thread that runs on it now, as soon as that has given the turn back. False, and
    /// nothing is run, where the thread was not lent. On the loop only.
    package func borrowThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard case .available = lentThread else { return false }
        lentThread = .reserved(work)
        return true
    }

    /// What the thread does when it has given the turn back, so that no other thread waits for the turn meanwhile.
    private struct Rest: Sendable {
        /// The descriptor to wake the loop with; -1 when it need not be woken.
        let wakeUp: Int32
        /// The work that the thread is lent to.
        let borrower: (@Sendable () -> Void)?
    }

    /// Only where the loop has nothing to do: what was given to it before comes first.
    private func takeTurn() -> Bool {
        inbox.withLock { inbox in
            inbox.work.isEmpty && inbox.phase == .running && !inbox.hasFaultPlan && inbox.turn.take()
        }
    }

    /// Does what `work`, and other threads meanwhile, left to be done. Tasks are not run here, as they may be any program's.
    /// The rest is for the loop's thread: gives the descriptor to wake it with, or -1.
    private func finishInPlace() -> Int32 {
        var pieces = Self.maximumPiecesInPlace
        while true {
            while pieces > 0, !isShareUsed, case .closure(let body)? = ready.first {
                pieces -= 1
                ready.removeFirst()
                body()
            }
            if ready.isEmpty { outbox.flush() }
            if isShareUsed { pieces = 0 }
            if let wakeUp = giveTurnBack(unlessWorkFor: pieces) {
                isShareUsed = false
                return wakeUp
            }
        }
    }

    /// `nil` where there is more to do, and time for it.
    private func giveTurnBack(unlessWorkFor pieces: Int) -> Int32? {
        let isWaitTooLong = timers.nextTime.map { $0 < waitsUntil } ?? false
        return inbox.withLock { inbox in
            if pieces > 0, ready.isEmpty, !inbox.work.isEmpty {
                swap(&ready, &inbox.work)
                return nil
            }
            let leavesWork = hasWork || isWaitTooLong || !inbox.work.isEmpty
            return inbox.turn.giveBack(leavingWork: leavesWork) ? inbox.eventDescriptor : -1
        }
    }
}
