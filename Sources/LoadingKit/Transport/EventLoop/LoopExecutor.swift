import CLoadingKitShims

/// Runs tasks on an event loop that prefer it (`Task(executorPreference:)`).
///
/// Not the loop itself: whatever the loop runs as a serial executor counts as isolated to it, and a task that is isolated
/// to nothing would be put into its queue once more to leave that isolation.
package final class LoopExecutor: TaskExecutor, SerialExecutor, @unchecked Sendable {  // set once, before it is shared
    /// The loop owns this.
    private unowned(unsafe) var loop: EventLoop?

    func attach(to loop: EventLoop) { self.loop = loop }

    package func enqueue(_ job: consuming ExecutorJob) { loop?.submit(.taskJob(UnownedJob(job))) }

    /// Actors live on the loop itself.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        loop?.asUnownedSerialExecutor() ?? UnownedSerialExecutor(ordinary: self)
    }

    package func isSameExclusiveExecutionContext(other: LoopExecutor) -> Bool { self === other }

    package func checkIsolated() { loop?.checkIsolated() }

    /// Newer runtimes call this before ``checkIsolated()``.
    package func isIsolatingCurrentContext() -> Bool? { loop?.isCurrent }
}

extension EventLoop {
    /// Whether the calling thread runs on an event loop, whichever that is.
    package static var hasCallingThread: Bool { lk_thread_event_loop() != nil }

    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }

    package func checkIsolated() { preconditionCurrent() }

    /// Newer runtimes call this before ``checkIsolated()``.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
