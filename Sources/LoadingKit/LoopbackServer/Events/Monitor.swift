import Glibc

/// A lock with a condition: its holder can give it up until another holder has reported that something happened.
final class Monitor: @unchecked Sendable {  // the C library's own
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the lock held.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Runs `body` with the lock released, so that other threads can take it. In ``withLock(_:)`` only.
    func withoutLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_unlock(mutex)
        defer { pthread_mutex_lock(mutex) }
        return try body()
    }

    /// Releases the lock until another thread has called ``notifyAll()``. In ``withLock(_:)`` only.
    func wait() { pthread_cond_wait(condition, mutex) }

    func notifyAll() { pthread_cond_broadcast(condition) }
}
