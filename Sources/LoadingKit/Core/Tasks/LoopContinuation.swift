import LoadingKitTransport

/// A task that waits for what an event loop will have.
struct LoopContinuation<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Value, any Error>
    /// Whether the task runs on the loop.
    private let isOnLoop: Bool

    fileprivate init(_ continuation: UnsafeContinuation<Value, any Error>, isOnLoop: Bool) {
        self.continuation = continuation
        self.isOnLoop = isOnLoop
    }

    /// Goes on with the task, once, from another thread.
    func resume(with result: Result<Value, any Error>) { continuation.resume(with: result) }

    /// Goes on with the task, once. On the loop only.
    func resume(with result: Result<Value, any Error>, from loop: EventLoop) {
        if isOnLoop {
            loop.executeAtEndOfTurn { continuation.resume(with: result) }
        } else {
            loop.resumeAtEndOfTurn { continuation.resume(with: result) }
        }
    }
}

extension EventLoop {
    /// Waits for what the continuation is resumed with that `begin` gets, on the loop.
    ///
    /// Inlined, as to call an asynchronous function costs a look at where tasks prefer to run.
    @inline(__always)
    func result<Value: Sendable>(
        _ begin: @escaping @Sendable (LoopContinuation<Value>) -> Void
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { continuation in
            if isCurrent {
                begin(LoopContinuation(continuation, isOnLoop: true))
            } else {
                // It has nothing to do but wait.
                perform(lendsThread: true) { begin(LoopContinuation(continuation, isOnLoop: false)) }
            }
        }
    }
}
