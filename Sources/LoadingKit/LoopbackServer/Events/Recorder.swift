import LoadingKitPrimitives

/// A list that threads append to, and that a test awaits.
package final class Recorder<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Who waits for how many.
        var waiters: [(count: Int, signal: Signal)] = []
    }

    private let state = Guarded(State())

    package init() {}

    /// What has been recorded up to now, in order.
    package var snapshot: [Element] { state.withLock { $0.elements } }

    package var count: Int { state.withLock { $0.elements.count } }

    package var last: Element? { state.withLock { $0.elements.last } }

    package subscript(index: Int) -> Element? {
        state.withLock { $0.elements.indices.contains(index) ? $0.elements[index] : nil }
    }

    package func append(_ element: Element) {
        let reached: [Signal] = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            let reached = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return reached.map(\.signal)
        }
        for signal in reached { signal.fire() }
    }

    /// Forgets what was recorded. Counts begin at nought again.
    package func removeAll() {
        state.withLock { $0.elements.removeAll() }
    }

    /// Suspends until so many elements are there, or the task is cancelled; gives what is there then.
    @discardableResult
    package func count(reaches count: Int) async -> [Element] {
        await signal(for: count).wait()
        return snapshot
    }

    /// Suspends until what is recorded is enough, or the task is cancelled; gives what is there then.
    package func contents(once isEnough: ([Element]) -> Bool) async -> [Element] {
        var contents = snapshot
        while !isEnough(contents), !Task.isCancelled { contents = await count(reaches: contents.count + 1) }
        return contents
    }

    /// Suspends until the element at this index is there; nil when the task is cancelled before.
    package func element(at index: Int) async -> Element? {
        await signal(for: index &+ 1).wait()
        return self[index]
    }

    private func signal(for count: Int) -> Signal {
        let signal = Signal()
        let isThere = state.withLock { state in
            if state.elements.count >= count { return true }
            state.waiters.append((count, signal))
            return false
        }
        if isThere { signal.fire() }
        return signal
    }
}
