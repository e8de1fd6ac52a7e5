/// Dates in HTTP's fields (RFC 9110 §5.6.7).
@_spi(LoadingKitPlugins)
public enum HTTPDate {
    /// Parses the three forms that a recipient must accept, and no other. Returns the seconds since 1970.
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT    IMF-fixdate
    ///     Sunday, 06-Nov-94 08:49:37 GMT   RFC 850
    ///     Sun Nov  6 08:49:37 1994         asctime
    ///
    /// - Parameter now: the current time, which determines the century of the second form's two-digit year.
    public static func parse(_ bytes: UnsafeRawBufferPointer, now: Double) -> Int? {
        (fixed(bytes) ?? asctime(bytes) ?? rfc850(bytes, now: now))?.secondsSince1970
    }

    /// Reads a date from a string.
    public static func parse(_ text: String, now: Double) -> Int? {
        var text = text
        return text.withUTF8 { parse(UnsafeRawBufferPointer($0), now: now) }
    }

    /// The seconds from `now` on that a value of `Retry-After` requires: a number or a date (RFC 9110 §10.2.3). Never
    /// negative; nil for any other value. A number of any length is accepted; 2^31 at most is
    /// returned, so that a program can wait for as long (RFC 9111 §1.2.2).
    public static func delay(ofRetryAfter text: String, now: Double) -> Double? {
        switch retryTime(text, now: now) {
        case .delay(let seconds): min(seconds, 0x1p31)
        case .date(let seconds): max(Double(seconds) - now, 0)
        case nil: nil
        }
    }

    /// A value of `Retry-After` (RFC 9110 §10.2.3).
    public enum RetryTime: Sendable {
        /// Seconds after the response. Infinity if the number is too large.
        case delay(Double)
        /// Seconds since 1970.
        case date(Int)
    }

    /// Reads a value of `Retry-After`; nil for one that is neither a number of seconds, of any length, nor a date.
    public static func retryTime(_ text: String, now: Double) -> RetryTime? {
        let field = String(Substring(ASCII.trimmingSpaces(text.utf8)))
        if !field.isEmpty, field.utf8.allSatisfy(ASCII.isDigit) { return .delay(Double(field) ?? .infinity) }
        return parse(field, now: now).map { .date($0) }
    }

    /// The date as IMF-fixdate. A date outside the years 0 to 9999 becomes the first or the last within them.
    public static func string(_ secondsSince1970: Double) -> String {
        let time = CivilTime(secondsSince1970: secondsSince1970)
        return "\(weekdays[time.weekday].prefix(3)), \(CivilTime.padded(time.day)) \(months[time.month - 1]) "
            + "\(CivilTime.padded(time.year, to: 4)) \(time.clock) GMT"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let shortWeekdayBytes = weekdays.map { Array($0.utf8.prefix(3)) }
    private static let weekdayBytes = weekdays.map { Array($0.utf8) }
    private static let monthBytes = months.map { Array($0.utf8) }

    private static func fixed(_ bytes: UnsafeRawBufferPointer) -> CivilTime? {
        var text = DateScanner(bytes)
        guard text.skipName(shortWeekdayBytes) != nil, text.skip(", "), let day = text.number(2), text.skip(" "),
            let month = text.skipName(monthBytes), text.skip(" "), let year = text.number(4), text.skip(" "),
            let time = text.time(), text.skipZone(), text.isAtEnd
        else { return nil }
        return CivilTime(year, month + 1, day, time)
    }

    private static func asctime(_ bytes: UnsafeRawBufferPointer) -> CivilTime? {
        var text = DateScanner(bytes)
        guard text.skipName(shortWeekdayBytes) != nil, text.skip(" "), let month = text.skipName(monthBytes),
            text.skip(" "), let day = text.skip(" ") ? text.number(1) : text.number(2), text.skip(" "),
            let time = text.time(), text.skip(" "), let year = text.number(4), text.isAtEnd
        else { return nil }
        return CivilTime(year, month + 1, day, time)
    }

    private static func rfc850(_ bytes: UnsafeRawBufferPointer, now: Double) -> CivilTime? {
        var text = DateScanner(bytes)
        guard text.skipName(weekdayBytes) != nil, text.skip(", "), let day = text.number(2), text.skip("-"),
            let month = text.skipName(monthBytes), text.skip("-"), let short = text.number(2), text.skip(" "),
            let time = text.time(), text.skipZone(), text.isAtEnd
        else { return nil }
        // A year that would be more than 50 years from now is the last one in the past with these digits.
        let latest = CivilTime(secondsSince1970: max(now, 0)).year + 50
        return CivilTime(latest - (latest - short) % 100, month + 1, day, time)
    }
}

/// Reads a date's bytes from the left.
private struct DateScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        let next = UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
        guard Bytes.areEqual(next, literal) else { return false }
        position += count
        return true
    }

    /// Skips the name at the current position, case-insensitively, and returns its index.
    mutating func skipName(_ names: [[UInt8]]) -> Int? {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        let found = names.firstIndex { name in
            name.withUnsafeBytes { name in
                rest.count >= name.count
                    && ASCII.equalsIgnoringCase(UnsafeRawBufferPointer(rebasing: rest.prefix(name.count)), name)
            }
        }
        if let found { position += names[found].count }
        return found
    }

    /// The zone's letters may be in lower case, as some servers send them.
    mutating func skipZone() -> Bool { skip(" ") && skipName([Array("GMT".utf8)]) != nil }

    mutating func number(_ digits: Int) -> Int? {
        guard bytes.count - position >= digits else { return nil }
        let number = ASCII.decimal(UnsafeRawBufferPointer(rebasing: bytes[position..<position + digits]))
        if number != nil { position += digits }
        return number.map { Int(clamping: $0) }
    }

    mutating func time() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2) else {
            return nil
        }
        return (hour, minute, second)
    }
}

extension CivilTime {
    fileprivate init?(_ year: Int, _ month: Int, _ day: Int, _ time: (hour: Int, minute: Int, second: Int)) {
        self.init(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }
}
