#if THREAD_SANITIZER
    import Glibc
#else
    import Synchronization
#endif

/// A value that threads have in turn.
///
/// It is the standard library's `Mutex`; but ThreadSanitizer cannot see that one's slow path, and takes what it guards
/// for unguarded, so a build with `-D THREAD_SANITIZER` has a lock of the system's instead.
package struct Guarded<Value>: ~Copyable {
    #if THREAD_SANITIZER
        private final class Storage: @unchecked Sendable {  // the lock guards the value
            let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
            var value: Value

            init(_ value: Value) {
                self.value = value
                pthread_mutex_init(lock, nil)
            }

            deinit {
                pthread_mutex_destroy(lock)
                lock.deallocate()
            }
        }

        private let storage: Storage

        package init(_ value: consuming sending Value) { storage = Storage(value) }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(storage.lock)
            defer { pthread_mutex_unlock(storage.lock) }
            return try body(&storage.value)
        }
    #else
        @usableFromInline
        let mutex: Mutex<Value>

        @inlinable
        package init(_ value: consuming sending Value) { mutex = Mutex(value) }

        /// What `body` returns, who alone has the value meanwhile. It must not block, nor call what may come back here.
        @inlinable
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    #endif
}

extension Guarded: @unchecked Sendable {}  // as Mutex: the lock guards the value
