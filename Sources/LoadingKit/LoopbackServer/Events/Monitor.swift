import Glibc

/// A lock with a condition: its holder can release it until another holder has reported an event.
final class Monitor: @unchecked Sendable {  // the C library's types are thread-safe
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

    /// Runs `body` with the lock released, so that other threads can take it. Only within ``withLock(_:)``.
    func withoutLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_unlock(mutex)
        defer { pthread_mutex_lock(mutex) }
        return try body()
    }

    /// Releases the lock until another thread has called ``notifyAll()``. Only within ``withLock(_:)``.
    func wait() { pthread_cond_wait(condition, mutex) }

    func notifyAll() { pthread_cond_broadcast(condition) }
}
