import Dispatch
import LoadingKitPrimitives

/// An event that happens once. Whoever waits later than it was fired does not wait.
package final class Signal: Sendable {
    private enum State {
        case pending(waiters: [UInt64: @Sendable () -> Void], nextIdentifier: UInt64)
        case fired
    }

    private let state = Guarded(State.pending(waiters: [:], nextIdentifier: 0))

    package init() {}

    package var hasFired: Bool {
        state.withLock { state in
            switch state {
            case .pending: false
            case .fired: true
            }
        }
    }

    /// Wakes everyone who waits. Firing again changes nothing.
    package func fire() {
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

    /// Suspends until the event, or until the task is cancelled: then it returns early, and `hasFired` tells.
    package func wait() async {
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
    package func waitBlocking() {
        _ = waitBlocking(interruptedBy: nil)
    }

    /// Blocks this thread until the event, or until the other one; says whether this one has happened.
    package func waitBlocking(interruptedBy interruption: Signal?) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let registration = observe { semaphore.signal() }
        let interruptionRegistration = interruption?.observe { semaphore.signal() }
        semaphore.wait()
        forget(registration)
        interruption?.forget(interruptionRegistration)
        return hasFired
    }

    /// Calls the closure once: at the event, on the thread that fires it, or at once where it has happened.
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
