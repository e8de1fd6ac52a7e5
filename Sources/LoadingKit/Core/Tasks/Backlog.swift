import Synchronization

/// Counts bytes that were handed to another thread and are not yet consumed there.
final class Backlog: Sendable {
    private let count = Atomic<Int>(0)

    /// Adds bytes, and gives how many there are now.
    func add(_ bytes: Int) -> Int { count.wrappingAdd(bytes, ordering: .relaxed).newValue }

    /// Takes bytes away, and says whether that brought the count from at or over `mark` to under it.
    func remove(_ bytes: Int, wakesBelow mark: Int) -> Bool {
        let (old, new) = count.wrappingSubtract(bytes, ordering: .relaxed)
        return old >= mark && new < mark
    }
}
