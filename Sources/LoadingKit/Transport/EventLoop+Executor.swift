extension EventLoop {
    package func enqueue(_ job: consuming ExecutorJob) {
        submit(.job(UnownedJob(job)))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }

    package func checkIsolated() { preconditionCurrent() }

    /// Asked by newer runtimes before ``checkIsolated()``.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
