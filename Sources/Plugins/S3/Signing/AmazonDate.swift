import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Dates as Amazon writes them. Without formatters, which are slow, and which a program's locale may change.
enum AmazonDate {
    /// `20150830T123600Z` (ISO 8601, basic form). Dates before 1970 and after 9999 become the nearest of these.
    static func basic(_ date: Date) -> String {
        CivilTime(secondsSince1970: max(date.timeIntervalSince1970, 0)).timestamp.filter { $0 != "-" && $0 != ":" }
    }

    /// A date of ISO 8601's extended form in UTC, such as `2026-01-31T12:00:00.000Z`; nil for another text.
    static func parse(extended text: String) -> Date? {
        var scanner = DateScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2), scanner.skip("-"),
            let day = scanner.number(2), scanner.skip("T"), let time = scanner.time(year, month, day)
        else { return nil }
        let fraction = scanner.skip(".") ? scanner.fraction() : 0
        guard scanner.skip("Z") || scanner.skip("+00:00"), scanner.isAtEnd else { return nil }
        return Date(timeIntervalSince1970: Double(time) + fraction)
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

    /// A time of a day, in seconds since 1970; nil before that.
    mutating func time(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard year >= 1970, let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?
            .secondsSince1970
    }

    private static func digit(_ byte: UInt8) -> Int? {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") ? Int(byte - UInt8(ascii: "0")) : nil
    }
}
