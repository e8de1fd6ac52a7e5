import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The value of a `Retry-After` field (RFC 9110 §10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// Seconds after the response.
    case seconds(TimeInterval)
    /// A date.
    case date(Date)

    /// Parses a field's value; nil for a value that is neither a number of seconds nor a date in one of HTTP's three
    /// forms.
    ///
    /// - Parameter now: The date that determines the century of a two-digit year.
    public init?(_ value: String, now: Date) {
        switch HTTPDate.retryTime(value, now: now.timeIntervalSince1970) {
        // Values beyond any possible wait are limited where they are used.
        case .delay(let seconds): self = .seconds(seconds)
        case .date(let seconds): self = .date(Date(timeIntervalSince1970: Double(seconds)))
        case nil: return nil
        }
    }

    /// Seconds to wait from `now` on; never negative.
    public func delay(from now: Date) -> TimeInterval {
        switch self {
        case .seconds(let seconds): seconds.bounded(0, .infinity)
        case .date(let date): date.timeIntervalSince(now).bounded(0, .infinity)
        }
    }
}
