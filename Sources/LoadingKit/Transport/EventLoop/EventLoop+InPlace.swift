import CLoadingKitShims

// The work of another thread that has taken the loop's turn.
extension EventLoop {
    /// The number of pieces of work after which another thread leaves the rest to the loop's thread.
    private static let maximumPiecesInPlace = 32

    /// Runs `work` on the loop, after work submitted earlier: at once in the calling thread if the loop is waiting and
    /// has no work. From any thread.
    ///
    /// - Parameter lendsThread: whether the caller waits for the effect of `work` anyway, so that the thread may be
    ///   used for it: see ``borrowThread(_:)``.
    package func perform(lendsThread: Bool = false, _ work: @escaping @Sendable () -> Void) {
        if !performInPlace(work, lendsThread: lendsThread) { submit(.closure(work)) }
    }

    /// Runs `work` in the calling thread if the turn is free. Returns whether it was free.
    private func performInPlace(_ work: () -> Void, lendsThread: Bool) -> Bool {
        guard mayBeFree.load(ordering: .relaxed), lk_thread_event_loop() == nil else { return false }
        Self.checkProcess()
        let rest = turnLock.withLockIfAvailable { _ -> Rest? in
            guard !outbox.isCrowded, takeTurn() else { return nil }
            mayBeFree.store(false, ordering: .relaxed)
            lk_set_thread_event_loop(Unmanaged.passUnretained(self).toOpaque())
            wakeUpTime = currentTime
            hasHandledEvents = false
            // A thread is lent only once: repeated lending from borrowed threads would exhaust the stack.
            isThreadLent = lendsThread && lk_thread_is_borrowed() == 0
            work()
            isThreadLent = false
            let borrower = borrower.take()
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

    /// Whether ``borrowThread(_:)`` would accept work now. On the loop only.
    package var canBorrowThread: Bool { isThreadLent }

    /// Runs `work` off the loop, in the thread that now runs on it, as soon as this thread has given back the turn.
    /// Returns false without running `work` if the thread was not lent. On the loop only.
    package func borrowThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard isThreadLent else { return false }
        isThreadLent = false
        borrower = work
        return true
    }

    /// The thread's actions after it has given back the turn, so that no other thread waits for the turn meanwhile.
    private struct Rest: Sendable {
        /// The descriptor that wakes the loop; -1 if it need not be woken.
        let wakeUp: Int32
        /// The work that runs on the lent thread.
        let borrower: (@Sendable () -> Void)?
    }

    /// Takes the turn only if the loop has no work: earlier work comes first.
    private func takeTurn() -> Bool {
        inbox.withLock { inbox in
            inbox.work.isEmpty && inbox.phase == .running && !inbox.hasFaultPlan && inbox.turn.take()
        }
    }

    /// Does the remaining work of `work`, and the work that other threads have submitted meanwhile. Tasks, and closures
    /// for the own thread, are not run here, as they may be the program's. The rest is left to the loop's thread:
    /// returns the descriptor that wakes it, or -1.
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

    /// `nil` if there is more work, and time for it.
    private func giveTurnBack(unlessWorkFor pieces: Int) -> Int32? {
        let isWaitTooLong = timers.nextTime.map { $0 < waitsUntil } ?? false
        return inbox.withLock { inbox in
            if pieces > 0, ready.isEmpty, !inbox.work.isEmpty, !inbox.hasFaultPlan {
                exchangeReady(&inbox.work)
                return nil
            }
            let leavesWork = hasWork || isWaitTooLong || !inbox.work.isEmpty
            return inbox.turn.giveBack(leavingWork: leavesWork) ? inbox.eventDescriptor : -1
        }
    }
}
