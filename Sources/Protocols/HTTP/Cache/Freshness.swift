import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// How long a response is fresh, and how old it is (RFC 9111 §4.2).
struct Freshness: Equatable, Sendable {
    /// The lifetime of a response that states none, as a fraction of the time since its last change (§4.2.2).
    static let heuristicFraction = 0.1

    /// The longest lifetime by this fraction, in seconds: a week.
    static let longestHeuristic: TimeInterval = 7 * 24 * 3600

    /// In seconds since the response was generated.
    let lifetime: TimeInterval
    /// In seconds since the response was generated or last validated by the server.
    let age: TimeInterval

    var isFresh: Bool { lifetime > age }

    /// In seconds.
    var staleness: TimeInterval { max(0, age - lifetime) }

    init(lifetime: TimeInterval, age: TimeInterval) {
        self.lifetime = lifetime
        self.age = age
    }

    /// - Parameters:
    ///   - requestTime: the time at which the request was sent, by the client's clock.
    ///   - responseTime: the time at which the response's head was received, by the same clock.
    init(
        status: Int, fields: HTTPFields, control: CacheControl, requestTime: Date, responseTime: Date, now: Date
    ) {
        let date = fields.date(.date, now: responseTime) ?? responseTime
        lifetime = Self.lifetime(status: status, fields: fields, control: control, date: date)
        age = Self.age(fields: fields, date: date, requestTime: requestTime, responseTime: responseTime, now: now)
    }

    /// §4.2.1, for a private cache, in which `s-maxage` has no meaning.
    private static func lifetime(
        status: Int, fields: HTTPFields, control: CacheControl, date: Date
    ) -> TimeInterval {
        if let maxAge = control.maxAge { return maxAge }
        if fields.contains(.expires) {
            // An invalid date, such as `0`, counts as a date in the past (§5.3).
            return fields.date(.expires, now: date).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        guard StoragePermission.isHeuristicallyCacheable(status) || control.has(.isPublic),
            let modified = fields.date(.lastModified, now: date)
        else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) * heuristicFraction, longestHeuristic)
    }

    /// The age (§4.2.3). If the clock is set back, the response is at least as old as it was on receipt.
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
    /// The date in the first field of this name; nil if there is none.
    func date(_ name: KnownField, now: Date) -> Date? {
        guard let index = firstIndex(of: name) else { return nil }
        let seconds = withBytes(at: index) { _, value, _ in
            HTTPDate.parse(value.trimmingSpaces, now: now.timeIntervalSince1970)
        }
        return seconds.map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// The first number of `Age`, in seconds (RFC 9111 §5.1).
    fileprivate var age: TimeInterval? {
        guard let index = firstIndex(of: .age) else { return nil }
        return withBytes(at: index) { _, value, _ in
            let first = value.firstIndex(of: UInt8(ascii: ",")).map { value[..<$0] } ?? value[...]
            return DeltaSeconds.parse(UnsafeRawBufferPointer(rebasing: first).trimmingSpaces)
        }
    }
}

extension StoredResponse {
    /// The response's age and lifetime, for readers.
    func freshnessText(now: Date) -> String {
        let freshness = freshness(now: now)
        return "age \(DeltaSeconds.string(freshness.age)) s, lifetime \(DeltaSeconds.string(freshness.lifetime)) s"
    }
}
