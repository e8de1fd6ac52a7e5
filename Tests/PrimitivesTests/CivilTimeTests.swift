@_spi(LoadingKitPlugins) import LoadingKitPrimitives
import Testing

@Suite struct CivilTimeTests {
    @Test func secondsAndTimes() {
        let table: [(Double, String, weekday: Int)] = [
            (0, "1970-01-01T00:00:00Z", 4), (-1, "1969-12-31T23:59:59Z", 3), (-0.5, "1969-12-31T23:59:59Z", 3),
            (784_111_777.9, "1994-11-06T08:49:37Z", 0), (951_782_400, "2000-02-29T00:00:00Z", 2),
            (951_868_800, "2000-03-01T00:00:00Z", 3), (-2_203_891_200, "1900-03-01T00:00:00Z", 4),
            (-62_167_219_200, "0000-01-01T00:00:00Z", 6), (253_402_300_799, "9999-12-31T23:59:59Z", 5),
            (.infinity, "9999-12-31T23:59:59Z", 5), (-1e300, "0000-01-01T00:00:00Z", 6),
            (.nan, "1970-01-01T00:00:00Z", 4),
        ]
        for (seconds, text, weekday) in table {
            let time = CivilTime(secondsSince1970: seconds)
            #expect(time.timestamp == text && time.weekday == weekday, "\(seconds)")
            if abs(seconds) < 1e12 { #expect(time.secondsSince1970 == Int(seconds.rounded(.down))) }
        }
    }

    @Test func whatIsNoTime() {
        let table: [(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, isTime: Bool)] = [
            (2024, 2, 29, 0, 0, 0, true), (2023, 2, 29, 0, 0, 0, false), (1900, 2, 29, 0, 0, 0, false),
            (2000, 2, 29, 23, 59, 60, true), (2024, 4, 31, 0, 0, 0, false), (2024, 12, 31, 0, 0, 0, true),
            (2024, 0, 1, 0, 0, 0, false), (2024, 13, 1, 0, 0, 0, false), (2024, 1, 0, 0, 0, 0, false),
            (2024, 1, 1, 24, 0, 0, false), (2024, 1, 1, 0, 60, 0, false), (2024, 1, 1, 0, 0, 61, false),
            (0, 1, 1, 0, 0, 0, true), (-1, 1, 1, 0, 0, 0, false), (10_000, 1, 1, 0, 0, 0, false),
            (.max, .max, .max, .max, .max, .max, false), (.min, .min, .min, .min, .min, .min, false),
        ]
        for row in table {
            let time = CivilTime(
                year: row.year, month: row.month, day: row.day, hour: row.hour, minute: row.minute, second: row.second)
            #expect((time != nil) == row.isTime, "\(row)")
        }
    }

    @Test func everyDayForthAndBack() {
        var wrong: [Int] = []
        var time = CivilTime(secondsSince1970: -62_167_219_200)
        for day in stride(from: -62_167_219_200 + 86_400, to: 253_402_300_800, by: 86_400) {
            let next = CivilTime(secondsSince1970: Double(day))
            let isNext =
                next.day == time.day + 1 && next.month == time.month && next.year == time.year
                || next.day == 1 && (next.month == time.month + 1 || next.month == 1 && next.year == time.year + 1)
            if !isNext || next.secondsSince1970 != day || next.weekday != (time.weekday + 1) % 7 { wrong.append(day) }
            time = next
        }
        #expect(wrong == [])
    }
}
