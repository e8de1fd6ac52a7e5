import Foundation
import LoadingKit

/// Sends a user's bearer token with requests to certain origins, and has it refreshed when it expires or is refused.
///
/// Regardless of the number of requests that need a new token, the source is called once, and all of them wait. When it
/// fails, all of them are sent with the old token, or fail with ``BearerTokenError`` where that has expired or was
/// refused; the next request calls the source again. A request that was answered with 401 is sent once more with a new
/// token, unless its body is a stream. A token is sent to no other origin than the given ones, even after a redirect:
/// each redirected request passes through this interceptor again. One object is for one user.
///
/// A request with the program's own `Authorization` keeps it.
public final class BearerTokens: ResilienceInterceptor {
    private typealias Waiter = CheckedContinuation<BearerToken, any Error>

    private struct State: Sendable {
        var tokens: BearerTokenState
        var waiters: [UInt64: Waiter] = [:]
        var lastIdentifier: UInt64 = 0
    }

    private let origins: Set<RequestOrigin>
    private let clock: ResilienceClock
    private let refresh: @Sendable (BearerToken?) async throws -> BearerToken
    private let state: Locked<State>

    /// Makes an interceptor for the tokens of one user.
    ///
    /// - Parameters:
    ///   - origins: The origins to which tokens may be sent. A scheme, host and port each: `https` is not `http`.
    ///   - token: The first token; nil: it is requested from the source.
    ///   - refreshesBefore: Seconds before a token's expiry from which on a new one is requested. Default 30.
    ///   - refresh: Returns a new token in place of the last one. It runs in a separate task, which continues when the
    ///     waiting requests are cancelled: a refresh token may be valid for one use only. It should not load through
    ///     this interceptor.
    public init(
        origins: Set<RequestOrigin>, token: BearerToken? = nil, refreshesBefore: TimeInterval = 30,
        clock: ResilienceClock = .system, refresh: @escaping @Sendable (BearerToken?) async throws -> BearerToken
    ) {
        self.origins = origins
        self.clock = clock
        self.refresh = refresh
        state = Locked(State(tokens: BearerTokenState(margin: refreshesBefore, current: token)))
    }

    /// The number of requests that wait for a token.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Whether the request's origin may get a token, or the request has a token from before a redirect that its origin
    /// must not get.
    public func canIntercept(_ request: URLRequest) -> Bool {
        if let present = request.value(forHTTPHeaderField: "Authorization") {
            return state.withLock { $0.tokens.isOwn(present) }
        }
        return mayHaveToken(request)
    }

    private func mayHaveToken(_ request: URLRequest) -> Bool {
        request.url.flatMap { RequestOrigin($0) }.map { origins.contains($0) } ?? false
    }

    /// Forwards the request with a token, where its origin may get one.
    public func load(_ load: LoadContext) async throws {
        var request = load.request
        if let present = request.value(forHTTPHeaderField: "Authorization") {
            guard state.withLock({ $0.tokens.isOwn(present) }) else { return try await load.forward(request) }
            // The redirected request still has the token.
            request.setValue(nil, forHTTPHeaderField: "Authorization")
        }
        guard mayHaveToken(request) else { return try await load.forward(request) }
        let token = try await self.token(rejected: nil)
        let loaded = try await load.next.load(try request.bearing(token))
        guard loaded.statusCode == 401 else { return try await load.receive(loaded) }
        guard request.httpBodyStream == nil else {
            state.withLock { $0.tokens.reject(token.value) }
            return try await load.receive(loaded)
        }
        let fresh = try await loaded.body.discarding(upTo: 64 << 10) { try await self.token(rejected: token.value) }
        try await load.forward(try request.bearing(fresh))
    }

    private func token(rejected: String?) async throws -> BearerToken {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastIdentifier &+= 1
            return state.lastIdentifier
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in enter(waiter, id, rejected) }
        } onCancel: {
            leave(id)
        }
    }

    private func enter(_ waiter: Waiter, _ id: UInt64, _ rejected: String?) {
        let date = clock.date()
        let (step, last) = state.withLock { state in
            let step = state.tokens.next(rejected: rejected, at: date)
            if case .wait = step { state.waiters[id] = waiter }
            return (step, state.tokens.current)
        }
        switch step {
        case .use(let token): waiter.resume(returning: token)
        case .wait(let begins):
            if begins { Task { await self.refreshToken(last) } }
            if Task.isCancelled { leave(id) }
        }
    }

    private func leave(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }

    private func refreshToken(_ last: BearerToken?) async {
        let result: Result<BearerToken, any Error>
        do {
            let token = try await refresh(last)
            result = token.isWellFormed ? .success(token) : .failure(BearerTokenError.malformedToken)
        } catch {
            result = .failure(BearerTokenError.refreshFailed(error))
        }
        let date = clock.date()
        let (waiters, rest) = state.withLock { state -> ([Waiter], BearerToken?) in
            state.tokens.refreshDidEnd(try? result.get())
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), state.tokens.rest(at: date))
        }
        for waiter in waiters {
            if let rest { waiter.resume(returning: rest) } else { waiter.resume(with: result) }
        }
    }
}

extension URLRequest {
    fileprivate func bearing(_ token: BearerToken) throws -> URLRequest {
        guard token.isWellFormed else { throw BearerTokenError.malformedToken }
        var request = self
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        return request
    }
}
