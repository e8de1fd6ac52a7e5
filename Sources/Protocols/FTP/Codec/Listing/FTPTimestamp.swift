import LoadingKitPrimitives

/// A time as FTP servers tell it: of a known precision, and in UTC or in a time zone that the server does not tell.
public struct FTPTimestamp: Sendable, Hashable {
    /// What the smallest unit is that the server told.
    public enum Precision: Int, Sendable, Comparable {
        case day, minute, second

        /// Whether `a` tells less of the time than `b`.
        public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// From 1 to 9999, of the Gregorian calendar.
    public let year: Int
    /// From 1 to 12.
    public let month: Int
    /// From 1 to 31.
    public let day: Int
    /// From 0 to 23; 0 where the precision is a day.
    public let hour: Int
    /// From 0 to 59; 0 where the precision is a day.
    public let minute: Int
    /// From 0 to 60, which is a leap second; 0 where the precision is a minute or a day.
    public let second: Int
    /// What the server told; what is smaller is 0.
    public let precision: Precision
    /// Whether the time is in UTC, as MLSD and MDTM have it (RFC 3659 §2.3). Else it is in the server's time zone, which LIST does
    /// not tell.
    public let isUTC: Bool

    /// Nil where there is no such day or time.
    public init?(
        year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, precision: Precision,
        isUTC: Bool
    ) {
        guard 1...9999 ~= year, 1...12 ~= month, 1...GregorianCalendar.days(of: month, in: year) ~= day,
            0...23 ~= hour, 0...59 ~= minute, 0...60 ~= second
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = precision >= .minute ? hour : 0
        self.minute = precision >= .minute ? minute : 0
        self.second = precision >= .second ? second : 0
        self.precision = precision
        self.isUTC = isUTC
    }

    /// A time in UTC, to the second. Nil outside the years 1 to 9999.
    public init?(secondsSince1970 seconds: Int64) {
        // The first second of the year 1, and the last one of 9999.
        guard -62_135_596_800...253_402_300_799 ~= seconds else { return nil }
        let secondOfDay = Int(((seconds % 86_400) + 86_400) % 86_400)
        let (year, month, day) = Self.date(daysSince1970: (Int(seconds) - secondOfDay) / 86_400)
        self.init(
            year: year, month: month, day: day, hour: secondOfDay / 3600, minute: secondOfDay / 60 % 60,
            second: secondOfDay % 60, precision: .second, isUTC: true)
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
    public var secondsSince1970: Int64 {
        Int64(GregorianCalendar.daysSince1970(year, month, day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// After Howard Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last.
    private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let days = days + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }
}

extension FTPTimestamp: CustomStringConvertible {
    /// ISO 8601, as precise as the time is, and with `Z` where it is in UTC: `2026-01-31`, `2026-01-31T23:05`,
    /// `2026-01-31T23:05:09Z`.
    public var description: String {
        let date = "\(Self.padded(year, to: 4))-\(Self.padded(month))-\(Self.padded(day))"
        let zone = isUTC ? "Z" : ""
        switch precision {
        case .day: return date
        case .minute: return "\(date)T\(Self.padded(hour)):\(Self.padded(minute))\(zone)"
        case .second: return "\(date)T\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))\(zone)"
        }
    }

    private static func padded(_ number: Int, to count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
