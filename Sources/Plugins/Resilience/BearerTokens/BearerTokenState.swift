import Foundation

/// The state of the current token and of the request for a new one: a value.
struct BearerTokenState: Sendable {
    enum Step: Equatable {
        case use(BearerToken)
        /// A new token is being requested, by this caller or an earlier one.
        case wait(begins: Bool)
    }

    /// The number of earlier tokens that are recognised as this object's own.
    private static let rememberedCount = 8

    private(set) var current: BearerToken?
    private var isRefreshing = false
    private var isRejected = false
    private var earlier: [String] = []
    /// Seconds before a token's expiry from which on a new one is requested.
    let margin: TimeInterval

    init(margin: TimeInterval, current: BearerToken? = nil) {
        self.margin = margin.bounded(0, 1e9)
        self.current = current
    }

    /// - Parameter rejected: the value that the server has just refused; nil before the first attempt.
    mutating func next(rejected: String?, at date: Date) -> Step {
        if let rejected { reject(rejected) }
        if let current, !isRejected, !isAboutToExpire(current, at: date) { return .use(current) }
        defer { isRefreshing = true }
        return .wait(begins: !isRefreshing)
    }

    /// A server has refused a token. The refusal of an earlier token does not affect the current one.
    mutating func reject(_ value: String) {
        if current?.value == value { isRejected = true }
    }

    /// The token that may still be used where there is no new one; nil where it has expired, or was refused.
    func rest(at date: Date) -> BearerToken? {
        guard let current, !isRejected, current.expiry.map({ $0 > date }) ?? true else { return nil }
        return current
    }

    mutating func refreshDidEnd(_ token: BearerToken?) {
        isRefreshing = false
        guard let token else { return }
        if let current, current.value != token.value {
            earlier = (earlier + [current.value]).suffix(Self.rememberedCount)
        }
        current = token
        isRejected = false
    }

    /// Whether a field's value has a token that this object has issued.
    func isOwn(_ field: String) -> Bool {
        guard field.hasPrefix("Bearer ") else { return false }
        let value = field.dropFirst("Bearer ".count)
        return current.map { $0.value == value } ?? false || earlier.contains { $0 == value }
    }

    private func isAboutToExpire(_ token: BearerToken, at date: Date) -> Bool {
        token.expiry.map { $0.timeIntervalSince(date) <= margin } ?? false
    }
}
