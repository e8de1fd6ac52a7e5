#if !THREAD_SANITIZER
    import Synchronization

    /// A value that only one thread at a time can access.
    ///
    /// ThreadSanitizer does not recognise the slow path of the standard library's `Mutex`, and reports the guarded
    /// value as unguarded. A build with `-D THREAD_SANITIZER` therefore uses a system lock under this name.
    package typealias Guarded<Value> = Mutex<Value>
#else
    import Glibc

    package struct Guarded<Value>: ~Copyable, @unchecked Sendable {  // the lock guards the value
        private final class Storage {
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

        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(storage.lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(storage.lock) }
            return try body(&storage.value)
        }
    }
#endif

/// Replaces a value, and returns the old one. What a lock guards may be a program's object, whose release runs the
/// program's code: the old value is released after the lock.
@inlinable  // each load calls it; without the type a copy costs 100 instructions
package func exchange<Value>(_ value: inout Value, for new: Value) -> Value {
    let old = value
    value = new
    return old
}
