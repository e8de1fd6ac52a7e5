import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Parses the date of an `Expires` attribute, in any of the forms that servers use (RFC 6265bis §5.1.1).
enum CookieDate {
    static func date(_ text: some StringProtocol) -> Date? { date(text.utf8) }

    static func date(_ bytes: some Sequence<UInt8>) -> Date? {
        var found = Fields()
        var token: [UInt8] = []
        for byte in bytes {
            if isDelimiter(byte) {
                found.take(token)
                token.removeAll(keepingCapacity: true)
            } else {
                token.append(byte)
            }
        }
        found.take(token)
        return found.date
    }

    /// The parts found up to here. Of several tokens of one kind, the first counts.
    private struct Fields {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?

        mutating func take(_ token: [UInt8]) {
            if time == nil, let found = CookieDate.time(token) {
                time = found
            } else if day == nil, let found = CookieDate.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = CookieDate.month(token) {
                month = found
            } else if year == nil, let found = CookieDate.number(token, digits: 2...4) {
                year = found
            }
        }

        var date: Date? {
            guard let time, let day, let month, var year else { return nil }
            if (70...99).contains(year) { year += 1900 }
            if (0...69).contains(year) { year += 2000 }
            guard year >= 1601, time.second <= 59,
                let civil = CivilTime(
                    year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
            else { return nil }
            return Date(timeIntervalSince1970: Double(civil.secondsSince1970))
        }
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number at the start of the token; nil unless it has a permitted number of digits.
    private static func number(_ token: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
        let leading = token.prefix { ASCII.isDigit($0) }
        guard digits.contains(leading.count) else { return nil }
        return leading.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Hour, minute and second. Characters after the digits of the second are ignored.
    private static func time(_ token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
        let parts = token.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].allSatisfy(ASCII.isDigit), parts[1].allSatisfy(ASCII.isDigit),
            let hour = number(parts[0], digits: 1...2), let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func month(_ token: [UInt8]) -> Int? {
        let start = token.prefix(3).map { ASCII.lowercased($0) }
        return months.firstIndex { $0.utf8.elementsEqual(start) }.map { $0 + 1 }
    }
}
