import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// The queue or the run loops in which a stream is scheduled. The stream calls its delegate's methods there.
///
/// The stream has a timer in each run loop. The timer keeps the run loop alive, which would end without a source. When
/// there is an event, the timer is set to fire at once: adding a block to a run loop does not wake it.
final class StreamSchedule: @unchecked Sendable {  // its state is guarded by its mutex
    private struct Entry: @unchecked Sendable {  // a run loop's timers may be set from any thread
        let loop: RunLoop
        let mode: RunLoop.Mode
        let timer: Timer
    }

    private struct Waiting {
        let isReadiness: Bool
        let body: @Sendable () -> Void
    }

    private struct State {
        var entries: [Entry] = []
        var queue: DispatchQueue?
        /// The queue on which a report of readiness waits.
        var readyQueue: DispatchQueue?
        /// Waits for a run loop.
        var waiting: [Waiting] = []
    }

    /// In seconds. The timer is set to fire earlier when there is an event.
    private static let longTime: TimeInterval = 1_000_000_000

    private let state = Guarded(State())

    deinit { for entry in state.withLock({ $0.entries }) { entry.timer.invalidate() } }

    func add(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        let timer = Timer(fire: .distantFuture, interval: Self.longTime, repeats: true) { [weak self] _ in
            self?.runWaiting()
        }
        loop.add(timer, forMode: mode)
        let entry = Entry(loop: loop, mode: mode, timer: timer)
        state.withLock { $0.entries.append(entry) }
    }

    func remove(_ loop: RunLoop, _ mode: RunLoop.Mode) {
        let loop = LoopTransfer(loop)
        invalidate { $0.loop === loop.value && $0.mode == mode }
    }

    /// Sets the queue, which is used instead of the run loops; nil: the run loops are used.
    func set(_ queue: DispatchQueue?) { state.withLock { $0.queue = queue } }

    func removeAll() {
        set(nil)
        invalidate { _ in true }
    }

    private func invalidate(_ isRemoved: @Sendable (Entry) -> Bool) {
        let removed = state.withLock { state -> [Entry] in
            defer { state.entries.removeAll(where: isRemoved) }
            return state.entries.filter(isRemoved)
        }
        for entry in removed { entry.timer.invalidate() }
    }

    /// Runs `body` on the queue, or else in one of the run loops. Does nothing where there is neither.
    ///
    /// - Parameter isReadiness: whether `body` reports that a read or write would not block. At most one such report
    ///   waits: another one is dropped until the first has begun. A fast peer would otherwise fill the memory.
    func perform(isReadiness: Bool = false, _ body: @escaping @Sendable () -> Void) {
        let (queue, entry) = state.withLock { state -> (DispatchQueue?, Entry?) in
            if let queue = state.queue {
                guard isReadiness else { return (queue, nil) }
                if state.readyQueue === queue { return (nil, nil) }
                state.readyQueue = queue
                return (queue, nil)
            }
            guard let first = state.entries.first else { return (nil, nil) }
            if !isReadiness || !state.waiting.contains(where: \.isReadiness) {
                state.waiting.append(Waiting(isReadiness: isReadiness, body: body))
            }
            return (nil, first)
        }
        if let queue, isReadiness {
            queue.async { [weak self] in
                self?.readinessWillBeReported(on: queue)
                body()
            }
        } else {
            queue?.async(execute: body)
        }
        entry?.timer.fireDate = Date()
    }

    /// Bytes or room that come from now on are reported anew.
    private func readinessWillBeReported(on queue: DispatchQueue) {
        state.withLock { if $0.readyQueue === queue { $0.readyQueue = nil } }
    }

    private func runWaiting() {
        for next in state.withLock({ exchange(&$0.waiting, for: []) }) { next.body() }
    }
}
