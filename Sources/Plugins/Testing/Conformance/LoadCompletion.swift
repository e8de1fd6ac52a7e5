import Foundation
import Synchronization

/// The result of a load with a completion handler. The handler may be called before anyone waits for it, as a task may be
/// cancelled before it is started.
final class LoadCompletion: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Data, any Error>)
        case ended(Result<Data, any Error>)
    }

    private let state = Mutex(State.open)

    func end(with result: Result<Data, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Data, any Error>? in
            defer { state = .ended(result) }
            if case .awaited(let waiter) = state { return waiter }
            return nil
        }
        waiter?.resume(with: result)
    }

    /// Starts the load, unless it has ended, and waits for its result. Called once.
    func result(_ start: @Sendable () -> Void) async throws -> Data {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            let ended = state.withLock { state -> Result<Data, any Error>? in
                if case .ended(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let ended { continuation.resume(with: ended) } else { start() }
        }
    }
}
