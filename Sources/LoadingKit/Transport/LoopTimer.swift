import LoadingKitPrimitives

/// Work that an event loop does at a time. Confined to its loop.
package final class LoopTimer {
    private let loop: EventLoop
    private var work: (() -> Void)?
    /// Where the timer is in the loop's heap; negative when it is not there.
    var heapIndex = -1

    init(loop: EventLoop, work: @escaping () -> Void) {
        self.loop = loop
        self.work = work
    }

    /// Whether the timer waits for its time.
    package var isScheduled: Bool { heapIndex >= 0 }

    /// The timer does not fire any more, and lets go of its work.
    package func cancel() {
        assert(loop.isCurrent)
        loop.timers.remove(self)
        work = nil
    }

    /// Moves the timer to another time. From within its own work this makes it fire again; once it is over (fired or
    /// cancelled), nothing happens.
    package func reschedule(at time: MonotonicTime) {
        assert(loop.isCurrent)
        guard work != nil else { return }
        loop.timers.remove(self)
        loop.timers.insert(self, at: time)
    }

    func fire() {
        work?()
        // Unless it was set again meanwhile it is over: its work may hold the timer's owner.
        if heapIndex < 0 { work = nil }
    }
}
