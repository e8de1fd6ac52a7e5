import Foundation

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
