import CLoadingKitShims

extension EventLoop {
    /// Whether the calling thread runs on an event loop, whichever that is.
    package static var hasCallingThread: Bool { lk_thread_event_loop() != nil }

    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }

    package func checkIsolated() { preconditionCurrent() }

    /// Asked by newer runtimes before ``checkIsolated()``.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
