import Foundation
import Synchronization

/// Keeps a source's credentials until shortly before their expiry, and calls the source once for all waiting callers.
///
/// ``S3Client`` wraps its source in such an object. A program that passes one object to several clients makes them
/// share it.
public final class S3CachedCredentials: S3CredentialsProvider {
    private typealias Waiter = CheckedContinuation<S3Credentials, any Error>

    private struct State: Sendable {
        var credentials = CredentialsState()
        var waiters: [UInt64: Waiter] = [:]
        var lastIdentifier: UInt64 = 0
    }

    private let source: any S3CredentialsProvider
    private let clock: S3Clock
    private let state = Mutex(State())

    /// Makes a cache for a source's credentials.
    public init(_ source: any S3CredentialsProvider, clock: S3Clock = .system) {
        self.source = source
        self.clock = clock
    }

    /// The number of waiting callers.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// The currently valid credentials. New ones are requested 5 minutes before the expiry, while the old ones are
    /// still used; in the last minute all callers wait.
    ///
    /// - Throws: the source's error, to all waiting callers, where the old credentials have expired; the next call
    ///   calls the source again. `CancellationError`.
    public func credentials() async throws -> S3Credentials {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastIdentifier &+= 1
            return state.lastIdentifier
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in enter(waiter, id) }
        } onCancel: {
            leave(id)
        }
    }

    /// The server has refused the credentials as expired or unknown: the source is called again.
    func reject(_ credentials: S3Credentials) { state.withLock { $0.credentials.reject(credentials) } }

    private func enter(_ waiter: Waiter, _ id: UInt64) {
        let date = clock.date()
        let step = state.withLock { state in
            let step = state.credentials.next(at: date)
            if case .wait = step { state.waiters[id] = waiter }
            return step
        }
        switch step {
        case .use(let credentials, let begins):
            if begins { Task { await self.refresh() } }
            waiter.resume(returning: credentials)
        case .wait(let begins):
            if begins { Task { await self.refresh() } }
            if Task.isCancelled { leave(id) }
        }
    }

    private func leave(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }

    private func refresh() async {
        let result: Result<S3Credentials, any Error>
        do {
            let credentials = try await source.credentials()
            guard credentials.isWellFormed else {
                throw S3CredentialsError.malformed(
                    source: "\(type(of: source))",
                    reason: "a key or token is empty, or has characters that it cannot have")
            }
            result = .success(credentials)
        } catch {
            result = .failure(error)
        }
        let date = clock.date()
        let (waiters, rest) = state.withLock { state in
            state.credentials.refreshDidEnd(try? result.get(), at: date)
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), state.credentials.rest(at: date))
        }
        for waiter in waiters {
            if let rest { waiter.resume(returning: rest) } else { waiter.resume(with: result) }
        }
    }
}
