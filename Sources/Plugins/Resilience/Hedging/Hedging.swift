import Foundation
import LoadingKit

/// Starts a further attempt of a safe request when the first is slow. The first good response wins, and the other
/// attempts are cancelled.
///
/// A cancelled attempt costs an HTTP/1.1 connection, and a stream of an HTTP/2 connection.
public final class Hedging: Interceptor {
    private enum Event: Sendable {
        case isTime
        case ended(Result<InterceptedResponse, any Error>)
    }

    private struct State: Sendable {
        var budget: RetryBudget?
        var latencies: OriginTable<LatencyWindow>
    }

    private let policy: HedgePolicy
    private let clock: ResilienceClock
    private let state: Locked<State>

    /// Makes an interceptor with a policy. The object holds the latencies and the budget.
    public init(_ policy: HedgePolicy = HedgePolicy(), clock: ResilienceClock = .system) {
        self.policy = policy
        self.clock = clock
        state = Locked(State(budget: policy.budget, latencies: OriginTable(limit: policy.maximumHosts)))
    }

    /// Whether the policy permits sending the request more than once.
    public func canIntercept(_ request: URLRequest) -> Bool { policy.mayHedge(request) }

    /// Forwards the request, again after each delay until one attempt has a good response.
    public func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse {
        guard policy.mayHedge(request), let origin = request.url.flatMap({ RequestOrigin($0) }) else {
            return try await next.load(request)
        }
        let latencies = state.withLock { state in
            state.budget?.deposit()
            return state.latencies[origin]
        }
        let delay = policy.delay(latencies)
        return try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            func attempt() {
                group.addTask { [self] in .ended(await result(request, next, origin)) }
            }
            func timer() {
                group.addTask { [clock] in
                    try? await clock.sleep(delay)
                    return .isTime
                }
            }
            attempt()
            timer()
            var (running, begun) = (1, 1)
            var failed: Result<InterceptedResponse, any Error>?
            while let event = try await group.next() {
                try Task.checkCancellation()
                switch event {
                case .isTime:
                    guard begun < policy.maximumAttempts, takesToken() else { continue }
                    attempt()
                    (running, begun) = (running + 1, begun + 1)
                    if begun < policy.maximumAttempts { timer() }
                case .ended(let result):
                    running -= 1
                    if isGood(result) { return try result.get() }
                    failed = result
                    if running == 0 { return try result.get() }
                }
            }
            guard let failed else { throw CancellationError() }
            return try failed.get()
        }
    }

    private func takesToken() -> Bool {
        let now = clock.now()
        return state.withLock { $0.budget?.withdraw(at: now) ?? true }
    }

    private func isGood(_ result: Result<InterceptedResponse, any Error>) -> Bool {
        guard case .success(let loaded) = result else { return false }
        return loaded.statusCode.map { !policy.failedStatuses.contains($0) } ?? true
    }

    /// Loads the request, and records the time until a good response.
    private func result(
        _ request: URLRequest, _ next: NextInterceptors, _ origin: RequestOrigin
    ) async -> Result<InterceptedResponse, any Error> {
        let start = clock.now()
        do {
            let result = Result<InterceptedResponse, any Error>.success(try await next.load(request))
            let latency = clock.now() - start
            if isGood(result) {
                state.withLock { $0.latencies.with(origin, or: { LatencyWindow() }) { $0.record(latency) } }
            }
            return result
        } catch {
            return .failure(error)
        }
    }
}
