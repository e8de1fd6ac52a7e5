import LoadingKitPrimitives

/// Something that an event loop calls at a time. Confined to its loop.
///
/// What waits for one time at most inherits this: to be scheduled costs no allocation then. Open, as Swift has no classes that
/// a package's modules alone may inherit from.
open class LoopDeadline {
    /// Where it is in the loop's heap; negative when it is not there.
    @exclusivity(unchecked) final var heapIndex = -1  // read and replaced, never changed in place

    /// Makes one that is not scheduled.
    public init() {}

    /// Whether it waits for its time.
    package final var isScheduled: Bool { heapIndex >= 0 }

    /// Its time has come.
    open func deadlineDidPass() {}
}

/// Work that an event loop does at a time. Confined to its loop.
package final class LoopTimer: LoopDeadline {
    private let loop: EventLoop
    private var work: (() -> Void)?

    init(loop: EventLoop, work: @escaping () -> Void) {
        self.loop = loop
        self.work = work
    }

    /// The timer does not fire any more, and lets go of its work.
    package func cancel() {
        loop.unschedule(self)
        work = nil
    }

    /// Moves the timer to another time. From within its own work this makes it fire again; once it is over (fired or
    /// cancelled), nothing happens.
    package func reschedule(at time: MonotonicTime) {
        guard work != nil else { return }
        loop.schedule(self, at: time)
    }

    public override func deadlineDidPass() {
        work?()
        // Unless it was set again meanwhile it is over: its work may hold the timer's owner.
        if !isScheduled { work = nil }
    }
}
