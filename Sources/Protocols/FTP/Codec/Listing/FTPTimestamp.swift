@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A time as FTP servers tell it: of a known precision, and in UTC or in a time zone that the server does not tell.
public struct FTPTimestamp: Sendable, Hashable {
    /// What the smallest unit is that the server told.
    public enum Precision: Int, Sendable, Comparable {
        case day, minute, second

        /// Whether `a` tells less of the time than `b`.
        public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    private let time: CivilTime
    /// What the server told; what is smaller is 0.
    public let precision: Precision
    /// Whether the time is in UTC, as MLSD and MDTM have it (RFC 3659 §2.3). Else it is in the server's time zone, which LIST does
    /// not tell.
    public let isUTC: Bool

    /// From 1 to 9999, of the Gregorian calendar.
    public var year: Int { time.year }
    /// From 1 to 12.
    public var month: Int { time.month }
    /// From 1 to 31.
    public var day: Int { time.day }
    /// From 0 to 23; 0 where the precision is a day.
    public var hour: Int { time.hour }
    /// From 0 to 59; 0 where the precision is a day.
    public var minute: Int { time.minute }
    /// From 0 to 60, which is a leap second; 0 where the precision is a minute or a day.
    public var second: Int { time.second }

    /// Nil where there is no such day or time.
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

    /// A time in UTC, to the second. Nil outside the years 1 to 9999.
    public init?(secondsSince1970 seconds: Int64) {
        // The first second of the year 1, and the last one of 9999.
        guard -62_135_596_800...253_402_300_799 ~= seconds else { return nil }
        (time, precision, isUTC) = (CivilTime(secondsSince1970: Double(seconds)), .second, true)
    }

    /// Reads RFC 3659's `YYYYMMDDHHMMSS`, with or without `.` and a fraction, which is left out (§2.3): of MDTM's reply, and of
    /// the facts `modify` and `create`. Nil where it is anything else.
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

    /// Seconds since the beginning of 1970 in UTC. For a time in the server's zone: as if that were UTC, so that it may be off
    /// by up to 14 hours.
    public var secondsSince1970: Int64 { Int64(time.secondsSince1970) }
}

extension FTPTimestamp: CustomStringConvertible {
    /// ISO 8601, as precise as the time is, and with `Z` where it is in UTC: `2026-01-31`, `2026-01-31T23:05`,
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
