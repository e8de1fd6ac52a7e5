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

/// The state of the current credentials and of the request for new ones: a value.
struct CredentialsState: Sendable {
    enum Step: Equatable {
        /// The credentials are valid. `begins`: new ones have to be requested in the meantime.
        case use(S3Credentials, begins: Bool)
        /// New credentials are being requested, by this caller or an earlier one.
        case wait(begins: Bool)
    }

    /// Seconds before the expiry from which on new credentials are requested while the old ones are used.
    static let earlyMargin: TimeInterval = 300
    /// Seconds before the expiry from which on the old credentials are not used.
    static let lateMargin: TimeInterval = 60
    /// Seconds after a failure in which the source is not called while the old credentials are valid.
    static let pauseAfterFailure: TimeInterval = 30

    private(set) var current: S3Credentials?
    private var isRefreshing = false
    private var isRejected = false
    private var lastFailure: Date?

    mutating func next(at date: Date) -> Step {
        guard let current, !isRejected else { return wait() }
        guard let rest = current.expiry?.timeIntervalSince(date) else { return .use(current, begins: false) }
        if rest > Self.earlyMargin { return .use(current, begins: false) }
        let isPaused = lastFailure.map { (0..<Self.pauseAfterFailure).contains(date.timeIntervalSince($0)) } ?? false
        if rest > Self.lateMargin || (rest > 0 && isPaused) {
            let begins = !isRefreshing && !isPaused
            isRefreshing = isRefreshing || begins
            return .use(current, begins: begins)
        }
        return wait()
    }

    private mutating func wait() -> Step {
        defer { isRefreshing = true }
        return .wait(begins: !isRefreshing)
    }

    /// The server has refused credentials as expired or unknown. The refusal of earlier ones does not affect the
    /// current ones.
    mutating func reject(_ refused: S3Credentials) {
        if current == refused { isRejected = true }
    }

    /// The credentials that may still be used where there are no new ones; nil where they have expired, or were
    /// refused.
    func rest(at date: Date) -> S3Credentials? {
        guard let current, !isRejected, current.expiry.map({ $0 > date }) ?? true else { return nil }
        return current
    }

    mutating func refreshDidEnd(_ credentials: S3Credentials?, at date: Date) {
        isRefreshing = false
        guard let credentials else {
            lastFailure = date
            return
        }
        current = credentials
        isRejected = false
        lastFailure = nil
    }
}
