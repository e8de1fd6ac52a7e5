#if THREAD_SANITIZER
    import LoadingKitPrimitives

    /// Replaces the standard library's type of this name in a build with ThreadSanitizer.
    ///
    /// ThreadSanitizer does not detect the runtime's ordering for a continuation that is resumed before its task waits,
    /// and reports the result as unguarded. Here the result is passed under a lock.
    struct UnsafeContinuation<Value, Failure: Error>: Sendable {
        private final class Box: Sendable {
            let result = Guarded<Transfer?>(nil)
        }

        /// Set by one side for the other, once.
        private struct Transfer: @unchecked Sendable {  // the standard library's requires `sending`
            let result: Result<Value, Failure>
        }

        private let box: Box
        private let waiter: Swift.UnsafeContinuation<Void, Never>

        func resume(with result: Result<Value, Failure>) {
            let transfer = Transfer(result: result)
            box.result.withLock { $0 = transfer }
            waiter.resume()
        }

        func resume(returning value: Value) { resume(with: .success(value)) }

        func resume(throwing error: Failure) { resume(with: .failure(error)) }

        fileprivate static func result(
            isolation: isolated (any Actor)?, _ body: (Self) -> Void
        ) async -> Result<Value, Failure> {
            let box = Box()
            await Swift.withUnsafeContinuation { body(Self(box: box, waiter: $0)) }
            guard let transfer = box.result.withLock({ $0 }) else { preconditionFailure("resumed with nothing") }
            return transfer.result
        }
    }

    extension UnsafeContinuation where Value == Void {
        func resume() { resume(returning: ()) }
    }

    func withUnsafeContinuation<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (UnsafeContinuation<Value, Never>) -> Void
    ) async -> Value {
        await UnsafeContinuation.result(isolation: isolation, body).get()
    }

    func withUnsafeThrowingContinuation<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (UnsafeContinuation<Value, any Error>) -> Void
    ) async throws -> Value {
        try await UnsafeContinuation.result(isolation: isolation, body).get()
    }
#endif
