import CLoadingKitShims

/// Runs tasks that prefer an event loop (`Task(executorPreference:)`).
///
/// It is not the loop itself: jobs that the loop runs as a serial executor count as isolated to it, and a nonisolated
/// task would be enqueued once more to leave this isolation.
package final class LoopExecutor: TaskExecutor, SerialExecutor, @unchecked Sendable {  // set once, before it is shared
    /// The loop owns this object.
    private unowned(unsafe) var loop: EventLoop?

    func attach(to loop: EventLoop) { self.loop = loop }

    package func enqueue(_ job: consuming ExecutorJob) { loop?.submit(.taskJob(UnownedJob(job))) }

    /// Actors run on the loop itself.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        loop?.asUnownedSerialExecutor() ?? UnownedSerialExecutor(ordinary: self)
    }

    package func isSameExclusiveExecutionContext(other: LoopExecutor) -> Bool { self === other }

    package func checkIsolated() { loop?.checkIsolated() }

    /// Newer runtimes call this method before ``checkIsolated()``.
    package func isIsolatingCurrentContext() -> Bool? { loop?.isCurrent }
}

extension EventLoop {
    package static var hasCallingThread: Bool { lk_thread_event_loop() != nil }

    package func enqueue(_ job: consuming ExecutorJob) { submit(.job(UnownedJob(job))) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }

    package func checkIsolated() { preconditionCurrent() }

    /// Newer runtimes call this method before ``checkIsolated()``.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
