import Dispatch
import LoadingKitPrimitives

/// A test waited longer than anything of its kind may take.
package struct TimeoutError: Error, Sendable, CustomStringConvertible {
    package var seconds: Double
    package var what: String

    package var description: String { "\(what) did not come to its end within \(seconds) seconds" }
}

/// A net for tests that would otherwise hang: fails them with a message. No test may depend on the time given here.
///
/// The operation is cancelled at that time, but not waited for, since what is being tested may ignore cancellation.
@discardableResult
package func withTimeout<Result: Sendable>(
    _ what: String = "the test", seconds: Double = 300, _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let race = Race<Result>()
    let task = Task { race.finish(await Swift.Result { try await operation() }) }
    // A timer of Dispatch's own: it fires even when all threads of the concurrency pool are blocked.
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler {
        task.cancel()
        race.finish(.failure(TimeoutError(seconds: seconds, what: what)))
    }
    timer.schedule(deadline: .now() + seconds)
    timer.activate()
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
        try await race.result()
    } onCancel: {
        task.cancel()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: @Sendable () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// The first of two outcomes.
private final class Race<Success: Sendable>: Sendable {
    private enum State {
        case open(CheckedContinuation<Success, any Error>?)
        case finished(Result<Success, any Error>)
    }

    private let state = Guarded(State.open(nil))

    func finish(_ result: Result<Success, any Error>) {
        let continuation: CheckedContinuation<Success, any Error>? = state.withLock { state in
            switch state {
            case .open(let continuation):
                state = .finished(result)
                return continuation
            case .finished:
                return nil
            }
        }
        continuation?.resume(with: result)
    }

    func result() async throws -> Success {
        try await withCheckedThrowingContinuation { continuation in
            let result: Result<Success, any Error>? = state.withLock { state in
                switch state {
                case .open:
                    state = .open(continuation)
                    return nil
                case .finished(let result):
                    return result
                }
            }
            if let result { continuation.resume(with: result) }
        }
    }
}
