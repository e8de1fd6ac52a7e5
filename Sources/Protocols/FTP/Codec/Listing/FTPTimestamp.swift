@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A time as FTP servers report it: with a known precision, and in UTC or in the server's time zone, which is not
/// known.
public struct FTPTimestamp: Sendable, Hashable {
    /// The smallest unit of a time that the server reports.
    public enum Precision: Int, Sendable, Comparable {
        case day, minute, second

        /// Whether `a` is less precise than `b`.
        public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    private let time: CivilTime
    /// The precision of the server's time; smaller units are 0.
    public let precision: Precision
    /// Whether the time is in UTC, as in MLSD and MDTM (RFC 3659 §2.3). Otherwise it is in the server's time zone,
    /// which LIST does not report.
    public let isUTC: Bool

    /// The year, from 1 to 9999, in the Gregorian calendar.
    public var year: Int { time.year }
    /// The month, from 1 to 12.
    public var month: Int { time.month }
    /// The day of the month, from 1 to 31.
    public var day: Int { time.day }
    /// The hour, from 0 to 23; 0 if the precision is a day.
    public var hour: Int { time.hour }
    /// The minute, from 0 to 59; 0 if the precision is a day.
    public var minute: Int { time.minute }
    /// The second, from 0 to 60 (60 is a leap second); 0 if the precision is a minute or a day.
    public var second: Int { time.second }

    /// Creates a time from its parts. Nil if there is no such day or time.
    public init?(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, precision: Precision,
        isUTC: Bool
    ) {
        guard year > 0,
            let whole = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second),
            let time = CivilTime(
                year: year, month: month, day: day, hour: precision >= .minute ? whole.hour : 0,
                minute: precision >= .minute ? whole.minute : 0, second: precision >= .second ? whole.second : 0)
        else { return nil }
        (self.time, self.precision, self.isUTC) = (time, precision, isUTC)
    }

    /// Creates a time in UTC with the precision of a second. Nil outside the years 1 to 9999.
    public init?(secondsSince1970 seconds: Int64) {
        // The first second of the year 1, and the last second of the year 9999.
        guard -62_135_596_800...253_402_300_799 ~= seconds else { return nil }
        (time, precision, isUTC) = (CivilTime(secondsSince1970: Double(seconds)), .second, true)
    }

    /// Parses RFC 3659's `YYYYMMDDHHMMSS`, with or without `.` and a fraction, which is ignored (§2.3). It occurs in
    /// MDTM's reply, and in the facts `modify` and `create`. Nil for any other text.
    public init?(digits bytes: some Collection<UInt8>) {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard 1...2 ~= parts.count, parts[0].count == 14, parts.allSatisfy({ $0.allSatisfy(ASCII.isDigit) }) else {
            return nil
        }
        let digits = parts[0].map { Int($0 &- ASCII.zero) }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        self.init(
            year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10),
            minute: number(10..<12),
            second: number(12..<14), precision: .second, isUTC: true)
    }

    /// The seconds since the beginning of 1970 in UTC. A time in the server's time zone is treated as UTC, so that the
    /// result may be wrong by up to 14 hours.
    public var secondsSince1970: Int64 { Int64(time.secondsSince1970) }
}

extension FTPTimestamp: CustomStringConvertible {
    /// The time in ISO 8601, with its precision, and with `Z` if it is in UTC: `2026-01-31`, `2026-01-31T23:05`,
    /// `2026-01-31T23:05:09Z`.
    public var description: String {
        let text = time.timestamp
        switch precision {
        case .day: return String(text.prefix(10))
        case .minute: return "\(text.prefix(16))\(isUTC ? "Z" : "")"
        case .second: return isUTC ? text : String(text.dropLast())
        }
    }
}
