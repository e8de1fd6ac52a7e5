import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

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
            let start = CivilTime(year: year, month: month, day: 1), (1...31).contains(day), hour <= 24, minute < 60
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
        let days = (day - 1) * 86_400
        let time = Double(start.secondsSince1970 + days + hour * 3_600 + minute * 60 - offset * 60) + seconds
        self.offset = offset
        date = Date(timeIntervalSince1970: time)
    }

    /// The date with milliseconds, and `Z` for UTC.
    public var description: String {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded() + Double(offset) * 60_000
        // The years 0 to 9999 have four digits.
        let bounded = Int64(min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999))
        let fraction = (bounded % 1_000 + 1_000) % 1_000
        let text = CivilTime(secondsSince1970: Double((bounded - fraction) / 1_000)).timestamp.dropLast()
        func digits(_ value: Int, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(count - text.count, 0)) + text
        }
        let zone =
            offset == 0
            ? "Z" : (offset < 0 ? "-" : "+") + digits(abs(offset) / 60, 2) + ":" + digits(abs(offset) % 60, 2)
        return "\(text).\(digits(Int(fraction), 3))\(zone)"
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

extension HARDate: HARValue {
    /// Replaces a missing date: 1970.
    static let unknown = HARDate(Date(timeIntervalSince1970: 0))

    init(_ json: JSONValue, at place: String) throws(HARError) {
        let text = try String(json, at: place)
        guard let date = text.isEmpty ? .unknown : HARDate(text) else {
            throw HARError("\(place): \"\(text.prefix(60))\" is no ISO 8601 date with a time")
        }
        self = date
    }

    var json: JSONValue? { .string(description) }
}
