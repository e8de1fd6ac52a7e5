import Dispatch
import LoadingKitPrimitives

/// An event that happens once. A thread or task that starts to wait after the event does not wait.
public final class Signal: Sendable {
    private enum State {
        case pending(waiters: [UInt64: @Sendable () -> Void], nextIdentifier: UInt64)
        case fired
    }

    private let state = Guarded(State.pending(waiters: [:], nextIdentifier: 0))

    /// Makes an event that has not happened yet.
    public init() {}

    /// Whether the event has happened.
    public var hasFired: Bool {
        state.withLock { state in
            switch state {
            case .pending: false
            case .fired: true
            }
        }
    }

    /// Wakes all waiting threads and tasks. Firing again has no effect.
    public func fire() {
        let woken: [@Sendable () -> Void] = state.withLock { state in
            switch state {
            case .pending(let waiters, _):
                state = .fired
                return waiters.sorted { $0.key < $1.key }.map(\.value)
            case .fired:
                return []
            }
        }
        for waiter in woken { waiter() }
    }

    /// Suspends until the event, or until the task is cancelled: then it returns early, and `hasFired` is false.
    public func wait() async {
        let resumption = Resumption()
        let registration = observe { resumption.resume() }
        await withTaskCancellationHandler {
            await resumption.wait()
        } onCancel: {
            resumption.resume()
        }
        forget(registration)
    }

    /// Blocks this thread until the event.
    public func waitBlocking() {
        _ = waitBlocking(interruptedBy: nil)
    }

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
            switch state {
            case .pending(var waiters, let identifier):
                waiters[identifier] = body
                state = .pending(waiters: waiters, nextIdentifier: identifier &+ 1)
                return identifier
            case .fired:
                return nil
            }
        }
        if identifier == nil { body() }
        return identifier
    }

    private func forget(_ identifier: UInt64?) {
        guard let identifier else { return }
        state.withLock { state in
            switch state {
            case .pending(var waiters, let next):
                waiters[identifier] = nil
                state = .pending(waiters: waiters, nextIdentifier: next)
            case .fired:
                break
            }
        }
    }
}

/// Resumes one waiting task once, for the first of several callers, before or after the task waits.
final class Resumption: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, Never>)
        case resumed
    }

    private let state = Guarded(State.idle)

    func resume() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            switch state {
            case .idle:
                state = .resumed
                return nil
            case .waiting(let continuation):
                state = .resumed
                return continuation
            case .resumed:
                return nil
            }
        }
        continuation?.resume()
    }

    /// Called once.
    func wait() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                switch state {
                case .idle, .waiting:
                    state = .waiting(continuation)
                    return false
                case .resumed:
                    return true
                }
            }
            if mayGoOn { continuation.resume() }
        }
    }
}
