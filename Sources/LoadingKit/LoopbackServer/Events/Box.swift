import LoadingKitPrimitives

/// A value that several threads may read and change.
package final class Box<Value: Sendable>: Sendable {
    private let storage: Guarded<Value>

    package init(_ value: Value) {
        storage = Guarded(value)
    }

    package var value: Value {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    /// Changes the value in one step. Must not call out to code that takes the same box.
    package func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { value in body(&value) }
    }
}
