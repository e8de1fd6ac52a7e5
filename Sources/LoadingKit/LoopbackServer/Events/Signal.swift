import Dispatch
import LoadingKitPrimitives

/// An event that happens once. A thread or task that starts to wait after the event does not wait.
public final class Signal: Sendable {
    private struct State {
        var hasFired = false
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var nextIdentifier: UInt64 = 0
    }

    private let state = Guarded(State())

    /// Makes an event that has not happened yet.
    public init() {}

    /// Whether the event has happened.
    public var hasFired: Bool { state.withLock { $0.hasFired } }

    /// Wakes all waiting threads and tasks. Firing again has no effect.
    public func fire() {
        let woken: [@Sendable () -> Void] = state.withLock { state in
            defer { state.waiters = [:] }
            state.hasFired = true
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in woken { waiter() }
    }

    /// Suspends until the event, or until the task is cancelled: then it returns early, and `hasFired` is false.
    public func wait() async {
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        let registration = observe { continuation.finish() }
        for await _ in events {}
        forget(registration)
    }

    /// Blocks this thread until the event.
    public func waitBlocking() { _ = waitBlocking(interruptedBy: nil) }

    /// Blocks this thread until this event or the other one; returns whether this one has happened.
    public func waitBlocking(interruptedBy interruption: Signal?) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let registration = observe { semaphore.signal() }
        let interruptionRegistration = interruption?.observe { semaphore.signal() }
        semaphore.wait()
        forget(registration)
        interruption?.forget(interruptionRegistration)
        return hasFired
    }

    /// Calls the closure once: at the event, on the thread that fires it, or at once where the event has happened.
    private func observe(_ body: @escaping @Sendable () -> Void) -> UInt64? {
        let identifier: UInt64? = state.withLock { state in
            if state.hasFired { return nil }
            state.nextIdentifier &+= 1
            state.waiters[state.nextIdentifier] = body
            return state.nextIdentifier
        }
        if identifier == nil { body() }
        return identifier
    }

    private func forget(_ identifier: UInt64?) {
        guard let identifier else { return }
        state.withLock { state in _ = state.waiters.removeValue(forKey: identifier) }
    }
}
