import LoadingKitPrimitives

/// A list to which threads append, and which a test awaits.
public final class Recorder<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// The waiting tasks, with the count that each waits for.
        var waiters: [(count: Int, signal: Signal)] = []
    }

    private let state = Guarded(State())

    /// Makes an empty list.
    public init() {}

    /// The elements recorded up to now, in order.
    public var snapshot: [Element] { state.withLock { $0.elements } }

    /// The current number of elements.
    public var count: Int { state.withLock { $0.elements.count } }

    /// The last element; nil when there is none.
    public var last: Element? { state.withLock { $0.elements.last } }

    /// The element at an index; nil when it is not recorded yet.
    public subscript(index: Int) -> Element? {
        state.withLock { $0.elements.indices.contains(index) ? $0.elements[index] : nil }
    }

    /// Appends an element, and wakes the tasks that waited for it.
    public func append(_ element: Element) {
        let reached: [Signal] = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            let reached = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return reached.map(\.signal)
        }
        for signal in reached { signal.fire() }
    }

    /// Removes all elements. Counts begin at 0 again.
    public func removeAll() {
        // They are destroyed after the lock is released: a `deinit` may use the list.
        withExtendedLifetime(state.withLock { exchange(&$0.elements, for: []) }) {}
    }

    /// Suspends until there are `count` elements, or the task is cancelled; returns the elements at that time.
    @discardableResult
    public func count(reaches count: Int) async -> [Element] {
        let signal = Signal()
        let isReached = state.withLock { state in
            if state.elements.count < count { state.waiters.append((count, signal)) }
            return state.elements.count >= count
        }
        if !isReached { await signal.wait() }
        return snapshot
    }

    /// Suspends until `isEnough` is true of the elements, or the task is cancelled; returns the elements at that time.
    public func contents(once isEnough: ([Element]) -> Bool) async -> [Element] {
        var contents = snapshot
        while !isEnough(contents), !Task.isCancelled { contents = await count(reaches: contents.count + 1) }
        return contents
    }

    /// Suspends until the element at this index is recorded; nil when the task is cancelled before.
    public func element(at index: Int) async -> Element? {
        await count(reaches: index &+ 1)
        return self[index]
    }
}
