import Foundation

/// Which credentials are good, and whether new ones are being asked for: a value.
struct CredentialsState: Sendable {
    enum Step: Equatable {
        /// These are good. `begins`: new ones are to be asked for meanwhile.
        case use(S3Credentials, begins: Bool)
        /// New ones are asked for, by this caller or an earlier one.
        case wait(begins: Bool)
    }

    /// Seconds before the expiry from which on new ones are asked for while the old ones are used.
    static let earlyMargin: TimeInterval = 300
    /// Seconds before the expiry from which on the old ones are not used.
    static let lateMargin: TimeInterval = 60
    /// Seconds after a failure in which the source is left alone while the old ones are good.
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

    /// The server has refused credentials as expired or unknown. Of earlier ones that says nothing about the current ones.
    mutating func reject(_ refused: S3Credentials) {
        if current == refused { isRejected = true }
    }

    /// What may still be used where new ones could not be had; nil where it is over, or refused.
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
