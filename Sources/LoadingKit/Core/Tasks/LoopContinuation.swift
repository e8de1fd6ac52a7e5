import LoadingKitTransport

/// The continuation of a task that waits for a result from an event loop.
struct LoopContinuation<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, any Error>
    /// Whether the task runs on the loop.
    private let isOnLoop: Bool

    fileprivate init(_ continuation: UnsafeContinuation<Value, any Error>, isOnLoop: Bool) {
        self.continuation = continuation
        self.isOnLoop = isOnLoop
    }

    /// Resumes the task, once, from another thread.
    func resume(with result: Result<Value, any Error>) { continuation.resume(with: result) }

    /// Resumes the task, once. Called only on the loop.
    func resume(with result: Result<Value, any Error>, from loop: EventLoop) {
        if isOnLoop {
            loop.executeAtEndOfTurn { continuation.resume(with: result) }
        } else {
            loop.resumeAtEndOfTurn { continuation.resume(with: result) }
        }
    }
}

extension EventLoop {
    /// Calls `begin` on the loop with a continuation, and waits for the continuation's result.
    ///
    /// Inlined, because a call of an asynchronous function checks the task's executor preference.
    @inline(__always)
    func result<Value: Sendable>(
        _ begin: @escaping @Sendable (LoopContinuation<Value>) -> Void
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { continuation in
            if isCurrent {
                begin(LoopContinuation(continuation, isOnLoop: true))
            } else {
                // The thread has nothing to do but wait.
                perform(lendsThread: true) { begin(LoopContinuation(continuation, isOnLoop: false)) }
            }
        }
    }
}
