import Synchronization

/// A value behind a lock, which closures and tasks can share.
final class Locked<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    /// Runs `body` with the value. The closure must not wait or call other code.
    func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock { value in try body(&value) }
    }
}
