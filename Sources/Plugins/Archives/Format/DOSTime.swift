import Foundation

/// Dates in the form of archives: since 1980, in steps of two seconds, without a time zone. They are interpreted as
/// UTC.
enum DOSTime {
    /// Nil for an invalid day or time.
    static func date(date: UInt16, time: UInt16) -> Date? {
        CivilTime(
            year: Int(date >> 9) + 1980, month: Int(date >> 5 & 15), day: Int(date & 31), hour: Int(time >> 11),
            minute: Int(time >> 5 & 63), second: Int(time & 31) * 2
        ).date
    }
}

/// A date of the Gregorian calendar in UTC.
struct CivilTime: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// - Parameter date: A date in the years 1 to 9999; any other becomes the nearest of these.
    init(_ date: Date) {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down).bounded(-62_135_596_800, 253_402_300_799))
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let second = seconds - days * 86_400
        // After Howard Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, hour: second / 3600, minute: second / 60 % 60,
            second: second % 60)
    }

    /// Nil where a part is out of its range.
    var date: Date? {
        guard (1...12).contains(month), day >= 1, day <= lengthOfMonth, (0..<24).contains(hour),
            (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        let time = hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(daysSince1970 * 86_400 + time))
    }

    /// The date in the format of `Last-Modified` (RFC 9110 §5.6.7).
    var httpDate: String {
        let index = (daysSince1970 % 7 + 7) % 7
        let name = (1...12).contains(month) ? Self.months[month - 1] : ""
        return "\(Self.weekdays[index]), \(two(day)) \(name) \(four(year)) \(clock) GMT"
    }

    /// The date in the format of RFC 3339.
    var timestamp: String {
        "\(four(year))-\(two(month))-\(two(day))T\(clock)Z"
    }

    private var clock: String { "\(two(hour)):\(two(minute)):\(two(second))" }

    private var lengthOfMonth: Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private var daysSince1970: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private func four(_ number: Int) -> String { String("000\(number)".suffix(max(4, "\(number)".count))) }
}

extension Double {
    /// The nearest number within the bounds; the lower bound for NaN.
    func bounded(_ lower: Double, _ upper: Double) -> Double { isNaN ? lower : min(max(self, lower), upper) }
}
