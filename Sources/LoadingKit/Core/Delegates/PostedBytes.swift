import Synchronization

/// The bytes that a call in a delegate's mailbox reports as sent or written. Further bytes are added until the call is
/// made, so that one call at a time waits for a busy delegate.
final class PostedBytes: Sendable {
    /// The number of bytes before these.
    private let start: Int64
    private let expected: Int64
    /// Negative once the call is made.
    private let count: Atomic<Int64>

    init(_ count: Int64, after start: Int64, of expected: Int64) {
        self.start = start
        self.expected = expected
        self.count = Atomic(count)
    }

    /// Adds bytes, on the loop. Returns false if they need a call of their own: this one is made, or they do not follow
    /// its bytes, because the body is sent again or the file is written anew.
    func add(_ more: Int64, after total: Int64, of expected: Int64) -> Bool {
        let known = count.load(ordering: .relaxed)
        guard known >= 0, start &+ known == total, self.expected == expected else { return false }
        return count.compareExchange(expected: known, desired: known &+ more, ordering: .relaxed).exchanged
    }

    /// The bytes up to now, and the number of all. Called once, when the call is made.
    func take() -> (count: Int64, total: Int64) {
        let count = self.count.exchange(-1, ordering: .relaxed)
        return (count, start &+ count)
    }
}
