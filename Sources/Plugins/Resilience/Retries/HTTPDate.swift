import Foundation

/// Dates in HTTP's fields, in the three forms that a recipient must accept (RFC 9110 §5.6.7).
enum HTTPDate {
    /// - Parameter now: the date that determines the century of a two-digit year.
    static func parse(_ text: String, now: Date) -> Date? {
        var scanner = Scanner(bytes: Array(text.utf8))
        if let date = scanner.fixed() { return date }
        scanner.position = 0
        if let date = scanner.asctime() { return date }
        scanner.position = 0
        return scanner.rfc850(now)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        /// `Sun, 06 Nov 1994 08:49:37 GMT`
        mutating func fixed() -> Date? {
            guard name(days.map { String($0.prefix(3)) }) != nil, skip(", "), let day = number(2), skip(" "),
                let month = name(months), skip(" "), let year = number(4), skip(" "), let time = time(), skip(" gmt"),
                position == bytes.count
            else { return nil }
            return date(year, month + 1, day, time)
        }

        /// `Sun Nov  6 08:49:37 1994`
        mutating func asctime() -> Date? {
            guard name(days.map { String($0.prefix(3)) }) != nil, skip(" "), let month = name(months), skip(" "),
                let day = skip(" ") ? number(1) : number(2), skip(" "), let time = time(), skip(" "),
                let year = number(4), position == bytes.count
            else { return nil }
            return date(year, month + 1, day, time)
        }

        /// `Sunday, 06-Nov-94 08:49:37 GMT`
        mutating func rfc850(_ now: Date) -> Date? {
            guard name(days) != nil, skip(", "), let day = number(2), skip("-"), let month = name(months), skip("-"),
                let short = number(2), skip(" "), let time = time(), skip(" gmt"), position == bytes.count
            else { return nil }
            // A year more than 50 years in the future is the most recent past year with the same last two digits
            // (RFC 9110 §5.6.7).
            let seconds = now.timeIntervalSince1970.bounded(0, 253_402_300_799)
            let latest = 1970 + Int(seconds / 31_556_952) + 50
            return date(latest - (latest - short) % 100, month + 1, day, time)
        }

        /// Skips a text in lower case; the bytes may have any case.
        private mutating func skip(_ text: String) -> Bool {
            let expected = Array(text.utf8)
            guard bytes.count - position >= expected.count else { return false }
            for (byte, wanted) in zip(bytes[position...], expected) {
                let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
                if lower != wanted { return false }
            }
            position += expected.count
            return true
        }

        private mutating func name(_ names: [String]) -> Int? {
            for (index, name) in names.enumerated() where skip(name) { return index }
            return nil
        }

        private mutating func number(_ digits: Int) -> Int? {
            guard bytes.count - position >= digits else { return nil }
            var number = 0
            for byte in bytes[position..<position + digits] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                number = number * 10 + Int(byte - 0x30)
            }
            position += digits
            return number
        }

        /// Seconds since midnight. A minute may have a leap second.
        private mutating func time() -> Int? {
            guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2), hour < 24,
                minute < 60, second <= 60
            else { return nil }
            return hour * 3600 + minute * 60 + second
        }

        /// Nil for a day that does not exist in the month.
        private func date(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Date? {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            guard (1...12).contains(month), day >= 1, day <= lengths[month - 1] else { return nil }
            // After Howard Hinnant's `days_from_civil`: years begin in March, so that the leap day is the last.
            let shifted = month <= 2 ? year - 1 : year
            let era = (shifted >= 0 ? shifted : shifted - 399) / 400
            let yearOfEra = shifted - era * 400
            let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
            let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
            return Date(timeIntervalSince1970: Double(days) * 86400 + Double(time))
        }
    }
}
