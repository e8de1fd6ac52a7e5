import Foundation

/// A date in a HAR file: ISO 8601 with a time and a time zone, such as `2026-01-31T10:20:30.123+01:00`.
public struct HARDate: Sendable, Hashable, CustomStringConvertible {
    /// The time.
    public let date: Date
    /// The text's time zone offset, in minutes east of UTC. Dates that are made here have 0.
    public let offset: Int

    /// Makes a date, written in UTC.
    public init(_ date: Date) {
        self.date = date
        offset = 0
    }

    /// Parses a text; nil where it is not a date. A date without a time zone counts as UTC. Fractions of a second may
    /// have any number of digits.
    public init?(_ text: String) {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        guard let year = scanner.number(digits: 4), scanner.take("-"), let month = scanner.number(digits: 2),
            scanner.take("-"), let day = scanner.number(digits: 2), scanner.take("T") || scanner.take(" "),
            let hour = scanner.number(digits: 2), scanner.take(":"), let minute = scanner.number(digits: 2),
            (1...12).contains(month), (1...31).contains(day), hour <= 24, minute < 60
        else { return nil }
        var seconds = 0.0
        if scanner.take(":") {
            guard let whole = scanner.number(digits: 2), whole <= 60 else { return nil }
            seconds = Double(whole)
            if scanner.take(".") || scanner.take(",") {
                guard let fraction = scanner.fraction() else { return nil }
                seconds += fraction
            }
        }
        guard let offset = scanner.offset(), scanner.rest.isEmpty else { return nil }
        let days = Self.days(year, month, day)
        let time = Double(days * 86_400 + hour * 3_600 + minute * 60 - offset * 60) + seconds
        self.offset = offset
        date = Date(timeIntervalSince1970: time)
    }

    /// The date with milliseconds, and `Z` for UTC.
    public var description: String {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded() + Double(offset) * 60_000
        // The years 0 to 9999 have four digits.
        let bounded = Int64(min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999))
        let day = bounded >= 0 ? bounded / 86_400_000 : (bounded + 1) / 86_400_000 - 1
        let time = Int(bounded - day * 86_400_000)
        let (year, month, date) = Self.civil(Int(day))
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(count - text.count, 0)) + text
        }
        let clock = [time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60].map { digits($0, 2) }
        let zone =
            offset == 0
            ? "Z" : (offset < 0 ? "-" : "+") + digits(abs(offset) / 60, 2) + ":" + digits(abs(offset) % 60, 2)
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(date, 2))T\(clock.joined(separator: ":"))"
            + ".\(digits(time % 1_000, 3))\(zone)"
    }

    /// Days from 1970-01-01 in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(digits: Int) -> Int? {
            let text = rest.prefix(digits)
            guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }

        mutating func fraction() -> Double? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            return digits.isEmpty ? nil : Double("0." + String(decoding: digits, as: UTF8.self))
        }

        /// The offset in minutes east of UTC.
        mutating func offset() -> Int? {
            if rest.isEmpty || take("Z") || take("z") { return 0 }
            let isWest = take("-")
            guard isWest || take("+"), let hours = number(digits: 2) else { return nil }
            _ = take(":")
            let minutes = rest.isEmpty ? 0 : number(digits: 2)
            guard let minutes, hours < 24, minutes < 60 else { return nil }
            return (isWest ? -1 : 1) * (hours * 60 + minutes)
        }
    }
}
