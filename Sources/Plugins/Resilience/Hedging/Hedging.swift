import Foundation
import LoadingKit

/// Starts a further attempt of a safe request when the first is slow. The first good response wins, and the other
/// attempts are cancelled.
///
/// A cancelled attempt costs an HTTP/1.1 connection, and a stream of an HTTP/2 connection.
public final class Hedging: ResilienceInterceptor {
    private enum Event: Sendable {
        case isTime
        case ended(Result<LoadedResponse, any Error>)
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

    /// Whether the policy permits sending the request, one of HTTP, more than once.
    public func canIntercept(_ request: URLRequest) -> Bool {
        request.isHTTP && policy.mayHedge(request)
    }

    /// Forwards the request, again after each delay until one attempt has a good response.
    public func load(_ load: LoadContext) async throws {
        guard policy.mayHedge(load.request), let origin = RequestOrigin(load.url) else {
            return try await load.forward(load.request)
        }
        try await load.receive(try await firstGood(load, origin))
    }

    /// The first good response; the last failure where there is none.
    private func firstGood(_ load: LoadContext, _ origin: RequestOrigin) async throws -> LoadedResponse {
        let latencies = state.withLock { state in
            state.budget?.deposit()
            return state.latencies[origin]
        }
        let delay = policy.delay(latencies)
        return try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            func attempt() {
                group.addTask { [self] in .ended(await result(load, origin)) }
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
            var failed: Result<LoadedResponse, any Error>?
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

    private func isGood(_ result: Result<LoadedResponse, any Error>) -> Bool {
        guard case .success(let loaded) = result else { return false }
        return loaded.statusCode.map { !policy.failedStatuses.contains($0) } ?? true
    }

    /// Loads the request, and records the time until a good response.
    private func result(_ load: LoadContext, _ origin: RequestOrigin) async -> Result<LoadedResponse, any Error> {
        let start = clock.now()
        do {
            let result = Result<LoadedResponse, any Error>.success(try await load.next.load(load.request))
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
