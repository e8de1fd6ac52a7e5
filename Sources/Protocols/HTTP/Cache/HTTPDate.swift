import Foundation
import LoadingKitPrimitives

/// Dates in HTTP's fields (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Reads the three formats that a recipient must accept, and no others.
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT    IMF-fixdate
    ///     Sunday, 06-Nov-94 08:49:37 GMT   RFC 850
    ///     Sun Nov  6 08:49:37 1994         asctime
    ///
    /// - Parameter now: the date that determines the century of the second format's two-digit year.
    static func parse(_ bytes: UnsafeRawBufferPointer, now: Date) -> Date? {
        fixed(bytes) ?? asctime(bytes) ?? rfc850(bytes, now: now)
    }

    /// Reads a date from a string.
    static func parse(_ text: String, now: Date) -> Date? {
        var text = text
        return text.withUTF8 { parse(UnsafeRawBufferPointer($0), now: now) }
    }

    /// The date as IMF-fixdate. A date outside the years 0 to 9999 is replaced by the first or last date within them.
    package static func string(_ date: Date) -> String {
        let bounded = min(max(date.timeIntervalSince1970.rounded(.down), -62_167_219_200), 253_402_300_799)
        let seconds = bounded.isNaN ? 0 : Int(bounded)
        let civil = CivilDate(secondsSince1970: seconds)
        let text = { (number: Int, width: Int) in
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(weekdays[civil.weekday].prefix(3)), \(text(civil.day, 2)) \(months[civil.month - 1]) "
            + "\(text(civil.year, 4)) \(text(civil.hour, 2)):\(text(civil.minute, 2)):\(text(civil.second, 2)) GMT"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let shortWeekdayBytes = weekdays.map { Array($0.utf8.prefix(3)) }
    private static let weekdayBytes = weekdays.map { Array($0.utf8) }
    private static let monthBytes = months.map { Array($0.utf8) }

    private static func fixed(_ bytes: UnsafeRawBufferPointer) -> Date? {
        var text = DateScanner(bytes)
        guard text.skipName(shortWeekdayBytes) != nil, text.skip(", "), let day = text.number(2), text.skip(" "),
            let month = text.skipName(monthBytes), text.skip(" "), let year = text.number(4), text.skip(" "),
            let time = text.time(), text.skipZone(), text.isAtEnd
        else { return nil }
        return CivilDate.date(year, month + 1, day, time)
    }

    private static func asctime(_ bytes: UnsafeRawBufferPointer) -> Date? {
        var text = DateScanner(bytes)
        guard text.skipName(shortWeekdayBytes) != nil, text.skip(" "), let month = text.skipName(monthBytes),
            text.skip(" "), let day = text.skip(" ") ? text.number(1) : text.number(2), text.skip(" "),
            let time = text.time(), text.skip(" "), let year = text.number(4), text.isAtEnd
        else { return nil }
        return CivilDate.date(year, month + 1, day, time)
    }

    private static func rfc850(_ bytes: UnsafeRawBufferPointer, now: Date) -> Date? {
        var text = DateScanner(bytes)
        guard text.skipName(weekdayBytes) != nil, text.skip(", "), let day = text.number(2), text.skip("-"),
            let month = text.skipName(monthBytes), text.skip("-"), let short = text.number(2), text.skip(" "),
            let time = text.time(), text.skipZone(), text.isAtEnd
        else { return nil }
        // A two-digit year that would be more than 50 years in the future is the last year in the past with these
        // digits.
        let latest = CivilDate(secondsSince1970: Int(clampedSeconds(now))).year + 50
        return CivilDate.date(latest - (latest - short) % 100, month + 1, day, time)
    }

    private static func clampedSeconds(_ date: Date) -> Double {
        let seconds = date.timeIntervalSince1970
        return seconds.isNaN ? 0 : min(max(seconds, 0), 253_402_300_799)
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

    /// The time in seconds since midnight. A minute may have a leap second.
    mutating func time() -> Int? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}

/// A day of the Gregorian calendar and a time, in UTC.
private struct CivilDate {
    let year, month, day, hour, minute, second, weekday: Int

    /// After Howard Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last day of a year.
    init(secondsSince1970 seconds: Int) {
        let days = Int((Double(seconds) / 86400).rounded(.down))
        let time = seconds - days * 86400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
        weekday = ((days + 4) % 7 + 7) % 7  // 1 January 1970 was a Thursday
    }

    /// Nil for a day that the month does not have.
    static func date(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Date? {
        guard day >= 1, day <= GregorianCalendar.days(of: month, in: year) else { return nil }
        return Date(timeIntervalSince1970: Double(GregorianCalendar.daysSince1970(year, month, day) * 86400 + time))
    }
}
