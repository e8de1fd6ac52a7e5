import Foundation

/// The value of a `Retry-After` field (RFC 9110 §10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// So many seconds after the response.
    case seconds(TimeInterval)
    /// At a date.
    case date(Date)

    /// Reads a field's value; nil for what is neither a number of seconds nor a date in one of HTTP's three forms.
    ///
    /// - Parameter now: The date from which the century of a two-digit year follows.
    public init?(_ value: String, now: Date) {
        let text = value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
            // A number of any length is one; what no wait can be is bounded where it is used.
            self = .seconds(Double(text) ?? .infinity)
        } else if let date = HTTPDate.parse(text, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Seconds to wait from `now` on, never fewer than 0.
    public func delay(from now: Date) -> TimeInterval {
        switch self {
        case .seconds(let seconds): seconds.bounded(0, .infinity)
        case .date(let date): date.timeIntervalSince(now).bounded(0, .infinity)
        }
    }
}
