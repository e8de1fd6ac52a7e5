import LoadingKitPrimitives

/// A value that several threads may read and change.
public final class Box<Value: Sendable>: Sendable {
    private let storage: Guarded<Value>

    /// Makes a box with the value.
    public init(_ value: Value) {
        storage = Guarded(value)
    }

    /// The current value. For a change that depends on it see ``update(_:)``.
    public var value: Value {
        get { storage.withLock { $0 } }
        set {
            // The former value is destroyed after the lock is released: its `deinit` may use the box.
            withExtendedLifetime(storage.withLock { exchange(&$0, for: newValue) }) {}
        }
    }

    /// Changes the value in one step. The closure must not call code that uses the same box.
    public func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { value in body(&value) }
    }
}
