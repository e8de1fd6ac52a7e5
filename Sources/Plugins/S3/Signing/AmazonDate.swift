import Foundation

/// Dates in the formats of Amazon and HTTP. Without formatters, which are slow, and which a program's locale may
/// change.
enum AmazonDate {
    /// `20150830T123600Z` (ISO 8601, basic form).
    static func basic(_ date: Date) -> String {
        let (year, month, day, seconds) = parts(date)
        return "\(digits(year, 4))\(digits(month, 2))\(digits(day, 2))T"
            + "\(digits(seconds / 3600, 2))\(digits(seconds / 60 % 60, 2))\(digits(seconds % 60, 2))Z"
    }

    /// A date of ISO 8601's extended form in UTC, such as `2026-01-31T12:00:00.000Z`; nil for another text.
    static func parse(extended text: String) -> Date? {
        var scanner = DateScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("T"), let time = scanner.time()
        else { return nil }
        let fraction = scanner.skip(".") ? scanner.fraction() : 0
        guard scanner.skip("Z") || scanner.skip("+00:00"), scanner.isAtEnd else { return nil }
        return days(year, month, day).map { Date(timeIntervalSince1970: Double($0) * 86400 + Double(time) + fraction) }
    }

    /// A `Date` field in the only form that is sent today, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    static func parse(httpDate text: String) -> Date? {
        var scanner = DateScanner(text)
        guard scanner.skip(upTo: ", "), let day = scanner.number(2), scanner.skip(" "),
            let month = months.firstIndex(where: { scanner.skip($0) }), scanner.skip(" "),
            let year = scanner.number(4), scanner.skip(" "), let time = scanner.time(), scanner.skip(" GMT"),
            scanner.isAtEnd
        else { return nil }
        return days(year, month + 1, day).map { Date(timeIntervalSince1970: Double($0) * 86400 + Double(time)) }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// Year, month, day and the second of the day. Dates before 1970 and after 9999 become the nearest of these.
    private static func parts(_ date: Date) -> (Int, Int, Int, Int) {
        let seconds = date.timeIntervalSince1970
        let whole = seconds.isNaN ? 0 : Int(min(max(seconds, 0), 253_402_300_799))
        var day = whole / 86400
        var year = 1970
        while day >= length(year) {
            day -= length(year)
            year += 1
        }
        var month = 1
        for length in lengths(year) {
            guard day >= length else { break }
            day -= length
            month += 1
        }
        return (year, month, day + 1, whole % 86400)
    }

    /// Days since 1970; nil for an invalid day, or one before 1970.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard year >= 1970, (1...12).contains(month), day >= 1, day <= lengths(year)[month - 1] else { return nil }
        return (1970..<year).reduce(0) { $0 + length($1) } + lengths(year).prefix(month - 1).reduce(0, +) + day - 1
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
    private static func length(_ year: Int) -> Int { isLeap(year) ? 366 : 365 }
    private static func lengths(_ year: Int) -> [Int] {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    }
}

/// Parses a date's text.
private struct DateScanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    mutating func skip(upTo text: String) -> Bool {
        while !rest.isEmpty {
            if skip(text) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    mutating func number(_ count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        var number = 0
        for byte in rest.prefix(count) {
            guard let digit = Self.digit(byte) else { return nil }
            number = number * 10 + digit
        }
        rest = rest.dropFirst(count)
        return number
    }

    /// The digits after a decimal point.
    mutating func fraction() -> Double {
        var value = 0.0
        var unit = 0.1
        while let digit = rest.first.flatMap(Self.digit) {
            value += Double(digit) * unit
            unit /= 10
            rest = rest.dropFirst()
        }
        return value
    }

    /// Seconds since midnight. A minute may have a leap second.
    mutating func time() -> Int? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func digit(_ byte: UInt8) -> Int? {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
