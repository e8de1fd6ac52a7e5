import Glibc
import LoadingKitPrimitives
import Synchronization

/// The idle connections of all sessions in the process, and a limit on their number: a program that loads from a
/// thousand hosts does not keep a thousand descriptors open.
///
/// Above the limit, the connections that have been idle longest are closed, each on its own event loop. The same
/// happens if the system has no descriptor left for a new object (`EMFILE`, `ENFILE`).
package final class IdleConnections: Sendable {
    /// The process's instance. Its limit is half of the descriptors that the process may have (`RLIMIT_NOFILE`, read
    /// when the first connection is opened), and at most 10,000.
    package static let shared = IdleConnections(limit: limit(ofDescriptors: SystemCalls.descriptorLimit()))

    package static func limit(ofDescriptors count: Int) -> Int { min(max(count / 2, 1), 10_000) }

    /// A connection's membership in the process's idle connections, while this object exists. Used on the connection's
    /// loop. It retains the connection, which releases it when it is closed.
    package final class Membership {
        private let connections: IdleConnections
        private let entry: Entry

        /// - Parameter close: Closes the connection, if it is idle and ``isChosen``. Called on the loop.
        package init(on loop: EventLoop, close: @escaping @Sendable () -> Void) {
            connections = loop.idleConnections
            entry = Entry(loop, close: close)
            connections.add(entry)
        }

        deinit { connections.remove(entry) }

        /// Whether the idle connection must be closed: it has not been used since it was chosen.
        package var isChosen: Bool { entry.idleSince.load(ordering: .relaxed) == 0 }

        package func connectionDidBecomeIdle() { connections.entryDidBecomeIdle(entry) }

        package func connectionDidBecomeActive() { connections.entryDidBecomeActive(entry) }
    }

    private final class Entry: Sendable {
        let loop: EventLoop
        let close: @Sendable () -> Void
        /// The time since which the connection is idle, in nanoseconds of the monotonic clock; 0 while it is not idle,
        /// and after it was chosen to be closed.
        let idleSince = Atomic<UInt64>(0)
        /// The index among the entries. Guarded by their lock.
        nonisolated(unsafe) var index = -1

        init(_ loop: EventLoop, close: @escaping @Sendable () -> Void) {
            self.loop = loop
            self.close = close
        }
    }

    package let limit: Int
    private let entries = Guarded<[Entry]>([])
    private let idleCount = Atomic<Int>(0)

    package init(limit: Int) { self.limit = limit }

    package var count: Int { idleCount.load(ordering: .relaxed) }

    // MARK: From memberships, each on its connection's loop

    private func add(_ entry: Entry) {
        entries.withLock { entries in
            entry.index = entries.count
            entries.append(entry)
        }
    }

    private func remove(_ entry: Entry) {
        entryDidBecomeActive(entry)
        entries.withLock { entries in
            guard entries.indices.contains(entry.index), let last = entries.popLast() else { return }
            if last !== entry {
                entries[entry.index] = last
                last.index = entry.index
            }
            entry.index = -1
        }
    }

    private func entryDidBecomeIdle(_ entry: Entry) {
        let now = max(entry.loop.now.nanoseconds, 1)
        guard entry.idleSince.exchange(now, ordering: .relaxed) == 0 else { return }
        guard idleCount.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return }
        // Closes several at once, so that the entries are not searched for each one.
        closeOldest(1 + limit / 8) { _ in }
    }

    private func entryDidBecomeActive(_ entry: Entry) {
        if entry.idleSince.exchange(0, ordering: .relaxed) != 0 { idleCount.wrappingSubtract(1, ordering: .relaxed) }
    }

    // MARK: Closing

    /// Closes the connections that have been idle longest. Calls back from any thread with the number of chosen
    /// connections, after their loops have closed them.
    package func closeOldest(_ count: Int, _ completion: @escaping @Sendable (Int) -> Void) {
        let chosen = choose(count)
        guard !chosen.isEmpty else { return completion(0) }
        let open = Countdown(chosen.count) { completion(chosen.count) }
        for entry in chosen {
            let isAccepted = entry.loop.submit(
                .closure {
                    entry.close()
                    open.step()
                })
            // The loop has ended together with the connection.
            if !isAccepted { open.step() }
        }
    }

    private func choose(_ count: Int) -> [Entry] {
        let idle = entries.withLock { entries in
            entries.compactMap { entry -> (entry: Entry, since: UInt64)? in
                let since = entry.idleSince.load(ordering: .relaxed)
                return since == 0 ? nil : (entry, since)
            }
        }
        let oldest = idle.sorted { $0.since < $1.since }.prefix(count)
        // A connection that was used meanwhile is not closed.
        return oldest.compactMap { entry, since in
            let isStillIdle = entry.idleSince.compareExchange(expected: since, desired: 0, ordering: .relaxed).exchanged
            guard isStillIdle else { return nil }
            idleCount.wrappingSubtract(1, ordering: .relaxed)
            return entry
        }
    }

    /// Calls back after `count` steps. Each step may be on any thread.
    private final class Countdown: Sendable {
        private let left: Atomic<Int>
        private let completion: @Sendable () -> Void

        init(_ count: Int, _ completion: @escaping @Sendable () -> Void) {
            left = Atomic(count)
            self.completion = completion
        }

        func step() { if left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { completion() } }
    }
}

extension EventLoop {
    /// Closes idle connections, so that there may be descriptors again. Calls back on the loop, with whether there were
    /// any.
    func closeIdleConnections(_ completion: @escaping (Bool) -> Void) {
        let confined = LoopTransfer(completion)
        // Other attempts may need descriptors, too.
        idleConnections.closeOldest(4) { [self] count in execute { confined.value(count > 0) } }
    }
}
