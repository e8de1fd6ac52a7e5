/// A time of the Gregorian calendar in UTC, to the second, in the years 0 to 9999.
@_spi(LoadingKitPlugins)
public struct CivilTime: Sendable, Hashable {
    /// 0 to 9999.
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int
    /// 0 to 23.
    public let hour: Int
    /// 0 to 59.
    public let minute: Int
    /// 0 to 59, or 60 for a leap second.
    public let second: Int

    /// A time of the given parts; nil if there is no such day or time. A minute may have a leap second.
    public init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        guard 0...9999 ~= year, 1...12 ~= month, 1...Self.days(of: month, in: year) ~= day, 0...23 ~= hour,
            0...59 ~= minute, 0...60 ~= second
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// A time outside the years 0 to 9999 becomes the first or the last time within them. NaN becomes the beginning of
    /// 1970.
    ///
    /// This is Howard Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last day.
    public init(secondsSince1970 seconds: Double) {
        let bounded = min(max(seconds.rounded(.down), -62_167_219_200), 253_402_300_799)
        let seconds = bounded.isNaN ? 0 : Int(bounded)
        let time = (seconds % 86_400 + 86_400) % 86_400
        let days = (seconds - time) / 86_400 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * march + 2) / 5 + 1
        month = march < 10 ? march + 3 : march - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    }

    /// The seconds since the beginning of 1970, in UTC. A leap second counts as the second after it.
    public var secondsSince1970: Int { daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second }

    /// 0 for Sunday. 1 January 1970 was a Thursday.
    public var weekday: Int { ((daysSince1970 + 4) % 7 + 7) % 7 }

    /// The time in the form of RFC 3339: `2026-01-31T23:05:09Z`.
    public var timestamp: String {
        "\(Self.padded(year, to: 4))-\(Self.padded(month))-\(Self.padded(day))T\(clock)Z"
    }

    /// `23:05:09`
    var clock: String { "\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))" }

    /// The number with leading zeros.
    package static func padded(_ number: Int, to count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// Howard Hinnant's `days_from_civil`.
    private var daysSince1970: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
