import Foundation
import LoadingKitPrimitives

/// How long a response is fresh, and how old it is (RFC 9111 §4.2).
struct Freshness: Equatable, Sendable {
    /// The part of the time since its last change for which a response of unknown lifetime counts as fresh (§4.2.2).
    static let heuristicFraction = 0.1

    /// The longest that a response is taken for fresh on a guess, in seconds: a week.
    static let longestHeuristic: TimeInterval = 7 * 24 * 3600

    /// Seconds from the response's generation for which it is fresh.
    let lifetime: TimeInterval
    /// Seconds since its generation, or since a server last said that it is current.
    let age: TimeInterval

    var isFresh: Bool { lifetime > age }

    /// Seconds since the response went stale.
    var staleness: TimeInterval { max(0, age - lifetime) }

    init(lifetime: TimeInterval, age: TimeInterval) {
        self.lifetime = lifetime
        self.age = age
    }

    /// - Parameters:
    ///   - requestTime: when the request was sent, on this side's clock.
    ///   - responseTime: when the response's head came, on the same clock.
    init(
        status: Int, fields: HTTPFields, control: CacheControl, requestTime: Date, responseTime: Date, now: Date
    ) {
        let date = fields.date(.date, now: responseTime) ?? responseTime
        lifetime = Self.lifetime(status: status, fields: fields, control: control, date: date)
        age = Self.age(fields: fields, date: date, requestTime: requestTime, responseTime: responseTime, now: now)
    }

    /// §4.2.1, for a private cache, to which `s-maxage` says nothing.
    private static func lifetime(
        status: Int, fields: HTTPFields, control: CacheControl, date: Date
    ) -> TimeInterval {
        if let maxAge = control.maxAge { return maxAge }
        if fields.contains(.expires) {
            // What is no date, `0` above all, lies in the past (§5.3).
            return fields.date(.expires, now: date).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        guard StoragePermission.isHeuristicallyCacheable(status) || control.has(.isPublic),
            let modified = fields.date(.lastModified, now: date)
        else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) * heuristicFraction, longestHeuristic)
    }

    /// §4.2.3. A clock that was set back makes no response younger than it was on arrival.
    private static func age(
        fields: HTTPFields, date: Date, requestTime: Date, responseTime: Date, now: Date
    ) -> TimeInterval {
        let apparent = max(0, responseTime.timeIntervalSince(date))
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        let initial = max(apparent, (fields.age ?? 0) + delay)
        return initial + max(0, now.timeIntervalSince(responseTime))
    }
}

extension HTTPFields {
    /// The date in the first field of that name; nil when there is none, or it is no date.
    func date(_ name: KnownField, now: Date) -> Date? {
        guard let index = firstIndex(of: name) else { return nil }
        return withBytes(at: index) { _, value, _ in HTTPDate.parse(value.trimmingSpaces, now: now) }
    }

    /// The first number of `Age`, in seconds; nil when there is none (RFC 9111 §5.1).
    fileprivate var age: TimeInterval? {
        guard let index = firstIndex(of: .age) else { return nil }
        return withBytes(at: index) { _, value, _ in
            let first = value.firstIndex(of: UInt8(ascii: ",")).map { value[..<$0] } ?? value[...]
            return DeltaSeconds.parse(UnsafeRawBufferPointer(rebasing: first).trimmingSpaces)
        }
    }
}
