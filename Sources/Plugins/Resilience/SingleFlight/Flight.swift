import Foundation
import LoadingKit

/// A load that several callers share.
///
/// The first caller leads: the load is made with its context, in a separate task. When the leader leaves before the
/// response has arrived, the next caller leads, and starts the load again; when the leader leaves later, the load
/// continues. When the last caller leaves, the load is cancelled.
final class Flight: Sendable {
    private let state: Locked<FlightState>
    private let clock: ResilienceClock
    private let maximumStall: TimeInterval
    private let didClose: @Sendable (Flight) -> Void

    /// - Parameter didClose: called when no further caller may join.
    init(
        bufferLimit: Int, maximumStall: TimeInterval, clock: ResilienceClock,
        didClose: @escaping @Sendable (Flight) -> Void
    ) {
        state = Locked(FlightState(bufferLimit: bufferLimit))
        self.maximumStall = maximumStall
        self.clock = clock
        self.didClose = didClose
    }

    /// Adds a caller. Nil where too much of the body has been read, or the load has ended.
    func join() -> UInt64? { state.withLock { $0.join() } }

    /// The number of callers.
    var callers: Int { state.withLock { $0.present.count } }

    /// Waits until the response has arrived, or the caller has to act.
    func head(for id: UInt64) async throws -> FlightOutcome {
        try await withCheckedThrowingContinuation { waiter in change { $0.wait(id, forHead: waiter) } }
    }

    /// The next piece of the body for a caller; nil at the end.
    func piece(for id: UInt64) async throws -> Data? {
        try await withCheckedThrowingContinuation { waiter in change { $0.wait(id, forPiece: waiter) } }
    }

    /// The leader starts the load.
    func begin(_ id: UInt64, _ load: LoadContext) {
        state.withLock { state in
            guard let generation = state.lead(id) else { return }
            state.carrier = Task { await self.carry(load, generation) }
        }
    }

    /// A caller leaves: it was cancelled, has read everything, or has released its response.
    func leave(_ id: UInt64, _ load: LoadContext) {
        guard state.withLock({ $0.leads(id) }) else { return change { $0.leave(id, isRedirected: false) } }
        Task {
            let isReplaced = await load.isReplaced()
            change { $0.leave(id, isRedirected: isReplaced) }
        }
    }

    private func carry(_ load: LoadContext, _ generation: UInt64) async {
        do {
            let loaded = try await load.next.load(load.request)
            var isCurrent = false
            change { isCurrent = $0.receive(loaded.response, generation) }
            guard isCurrent else { return }
            for try await piece in loaded.body {
                await withCheckedContinuation { waiter in change { $0.wait(forRoom: waiter, generation) } }
                try Task.checkCancellation()
                change { $0.append(piece, generation) }
            }
            change { $0.finish(.success(()), generation) }
        } catch {
            let isReplaced = await load.isReplaced()
            change { $0.fail(error, generation, isRedirected: isReplaced) }
        }
    }

    /// Changes the state, and then wakes the callers that the change concerns.
    private func change(_ body: (inout FlightState) -> Void) {
        let (wakes, isClosed, stall) = state.withLock { state -> (FlightState.Wakes, Bool, Task<Void, Never>?) in
            body(&state)
            defer { state.wakes = FlightState.Wakes() }
            if state.isStalled, state.stall == nil {
                let number = state.beginStall()
                state.stall = Task { await self.waitForSlowest(number) }
            }
            return (state.wakes, state.isClosed, state.isStalled ? nil : state.stall.take())
        }
        // After the lock: the clock's code runs where its sleep is cancelled.
        stall?.cancel()
        if isClosed { didClose(self) }
        wakes.perform()
    }

    private func waitForSlowest(_ stall: UInt64) async {
        guard (try? await clock.sleep(maximumStall)) != nil, !Task.isCancelled else { return }
        change { $0.dropSlowest(after: stall) }
    }
}

extension LoadContext {
    /// Whether a redirect has ended the load. A load that has timed out ends while its task is still running.
    fileprivate func isReplaced() async -> Bool {
        if case .replaced? = await ending() { return true }
        return false
    }
}
