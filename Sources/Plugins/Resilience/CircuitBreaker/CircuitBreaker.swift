import Foundation
import LoadingKit

/// Sends no requests to an origin with too many failures, until some time has passed.
///
/// A refused request fails with ``CircuitOpenError`` at once. A call succeeds when its response's head has arrived with
/// a status that is not a failure; a later interruption of the body also counts as a failure. Cancelled calls, and
/// those that a redirect ended, do not count.
public final class CircuitBreaker: ResilienceInterceptor {
    private let policy: CircuitBreakerState.Policy
    private let clock: ResilienceClock
    private let isFailure: @Sendable (Result<URLResponse, any Error>) -> Bool
    private let states: Locked<OriginTable<CircuitBreakerState>>

    /// Makes a closed breaker for each origin. This object holds their states.
    ///
    /// - Parameters:
    ///   - maximumHosts: The largest number of recorded origins; the least recently used ones without failures are
    ///     removed first.
    ///   - isFailure: Whether the result of a call is the server's failure. Default ``isServerFailure(_:)``.
    public init(
        _ policy: CircuitBreakerState.Policy = .init(), maximumHosts: Int = 1_000, clock: ResilienceClock = .system,
        isFailure: @escaping @Sendable (Result<URLResponse, any Error>) -> Bool = CircuitBreaker.isServerFailure
    ) {
        self.policy = policy
        self.clock = clock
        self.isFailure = isFailure
        states = Locked(OriginTable(limit: maximumHosts) { $0.isIdle(at: $1) ? .first : .last })
    }

    /// True for statuses 500, 502, 503 and 504, and for the `URLError`s of ``RetryPolicy/defaultErrorCodes``.
    public static func isServerFailure(_ result: Result<URLResponse, any Error>) -> Bool {
        switch result {
        case .success(let response):
            (response as? HTTPURLResponse).map { [500, 502, 503, 504].contains($0.statusCode) } ?? false
        case .failure(let error as URLError): RetryPolicy.defaultErrorCodes.contains(error.code)
        case .failure: false
        }
    }

    /// The current phase of an origin's breaker.
    public func phase(of origin: RequestOrigin) -> CircuitBreakerState.Phase {
        states.withLock { $0[origin]?.phase ?? .closed }
    }

    /// Forwards the request unless the breaker is open.
    public func load(_ load: LoadContext) async throws {
        guard let origin = RequestOrigin(load.url) else { return try await load.forward(load.request) }
        let now = clock.now()
        let admission = states.withLock {
            $0.with(origin, at: now, or: { CircuitBreakerState(policy) }) { $0.admit(at: now) }
        }
        let ticket: CircuitBreakerState.Ticket
        switch admission {
        case .goes(let admitted): ticket = admitted
        case .refused(let wait): throw CircuitOpenError(origin: origin, wait: wait)
        }
        let loaded: LoadedResponse
        do {
            loaded = try await load.next.load(load.request)
        } catch {
            record(isServerFailure(error) ? .failure : .unknown, ticket, origin)
            throw error
        }
        record(isFailure(.success(loaded.response)) ? .failure : .success, ticket, origin)
        do {
            try await load.receive(loaded)
        } catch {
            if isServerFailure(error) { record(.failure, ticket, origin) }
            throw error
        }
    }

    /// The end of a cancelled load does not characterise the server.
    private func isServerFailure(_ error: any Error) -> Bool {
        !Task.isCancelled && !(error is CancellationError) && isFailure(.failure(error))
    }

    private func record(
        _ outcome: CircuitBreakerState.Outcome, _ ticket: CircuitBreakerState.Ticket, _ origin: RequestOrigin
    ) {
        let now = clock.now()
        states.withLock {
            $0.with(origin, at: now, or: { CircuitBreakerState(policy) }) { $0.record(outcome, ticket, at: now) }
        }
    }
}

/// The error for a request that was not sent, because too many before it failed.
public struct CircuitOpenError: LocalizedError, Sendable, Hashable {
    /// The origin of the request.
    public let origin: RequestOrigin
    /// Seconds until a request may be sent again; 0 while a probe is in progress.
    public let wait: TimeInterval

    /// The error in plain words.
    public var errorDescription: String? {
        "too many requests to \(origin) have failed: none is sent for \(wait) seconds, or until a probe has succeeded"
    }
}
