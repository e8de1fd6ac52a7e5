import Foundation
import LoadingKitLoopbackServer
import LoadingKitResilience
import Synchronization

/// A clock that a test moves. Sleeps are recorded, so that a test can wait until one has begun.
final class ManualClock: Sendable {
    private struct State {
        var now: TimeInterval = 1_000
        var sleepers: [UInt64: (end: TimeInterval, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    /// The lengths of the sleeps that have begun.
    let sleeps = Recorder<TimeInterval>()
    private let passesAtOnce: Bool

    /// - Parameter passesAtOnce: each sleep moves the time and returns.
    init(passesAtOnce: Bool = false) { self.passesAtOnce = passesAtOnce }

    var now: TimeInterval { state.withLock { $0.now } }
    var sleeping: Int { state.withLock { $0.sleepers.count } }

    var clock: ResilienceClock {
        ResilienceClock(
            now: { self.now }, date: { Date(timeIntervalSince1970: 1_700_000_000 + self.now - 1_000) },
            sleep: { try await self.sleep($0) })
    }

    /// A clock with code of a program, which runs with each question for the time and where a sleep is cancelled.
    func running(_ code: @escaping @Sendable () -> Void) -> ResilienceClock {
        ResilienceClock(
            now: {
                code()
                return self.now
            }, date: clock.date,
            sleep: { seconds in
                try await withTaskCancellationHandler {
                    try await self.sleep(seconds)
                } onCancel: {
                    code()
                }
            })
    }

    func advance(by seconds: TimeInterval) {
        let woken = state.withLock { state in
            state.now += seconds
            let due = state.sleepers.filter { $0.value.end <= state.now + 1e-9 }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    private func sleep(_ seconds: TimeInterval) async throws {
        try Task.checkCancellation()
        if passesAtOnce {
            state.withLock { $0.now += seconds }
            sleeps.append(seconds)
            return
        }
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.sleepers[id] = ($0.now + seconds, continuation) }
                if Task.isCancelled { wake(id) }
                sleeps.append(seconds)
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: UInt64) {
        state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
    }
}
