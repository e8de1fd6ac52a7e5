import Glibc

/// Whose turn it is: a lock that its holder can give up until another holder has said that something happened.
final class Turn: @unchecked Sendable {  // the C library's own
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

    /// Runs `body` when it is the thread's turn.
    func take<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Lets others have their turn while `body` runs. In ``take(_:)`` only.
    func give<Result>(_ body: () throws -> Result) rethrows -> Result {
        pthread_mutex_unlock(mutex)
        defer { pthread_mutex_lock(mutex) }
        return try body()
    }

    /// Waits until another has called ``tell()``. In ``take(_:)`` only.
    func wait() { pthread_cond_wait(condition, mutex) }

    func tell() { pthread_cond_broadcast(condition) }
}
