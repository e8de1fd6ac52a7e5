import LoadingKitFTP
import Testing

@Suite struct FTPTimestampTests {
    @Test func digits() {
        let table: [(String, String?)] = [
            ("20260131230509", "2026-01-31T23:05:09Z"), ("20260131230509.5", "2026-01-31T23:05:09Z"),
            ("20240229000000", "2024-02-29T00:00:00Z"), ("20230229000000", nil), ("00000101000000", nil),
            ("20261301000000", nil), ("20260100000000", nil), ("20260101240000", nil), ("20260101006000", nil),
            ("20260101000061", nil), ("", nil), ("2026013123050", nil), ("202601312305090", nil),
            ("2026013123050x", nil),
            ("20260131230509.x", nil), ("20260131230509.1.1", nil), (" 20260131230509", nil), ("-2026013123050", nil),
        ]
        for (digits, expected) in table {
            #expect(FTPTimestamp(digits: Array(digits.utf8))?.description == expected, "\(digits)")
        }
    }

    @Test func parts() throws {
        let time = try #require(FTPTimestamp(digits: Array("20260131230509".utf8)))
        #expect([time.month, time.day, time.hour, time.minute, time.second] == [1, 31, 23, 5, 9])
    }

    @Test func secondsSince1970() throws {
        let table: [(Int64, String?)] = [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, nil),
            (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (-62_135_596_801, nil), (.max, nil), (.min, nil),
        ]
        for (seconds, expected) in table {
            let time = FTPTimestamp(secondsSince1970: seconds)
            #expect(time?.description == expected, "\(seconds)")
            if let time { #expect(time.secondsSince1970 == seconds) }
        }
        // Every day of four hundred years, forth and back.
        for day in Int64(-73_000)..<73_000 {
            let time = try #require(FTPTimestamp(secondsSince1970: day * 86_400 + 43_200))
            guard time.secondsSince1970 == day * 86_400 + 43_200 else {
                Issue.record("\(time)")
                return
            }
        }
    }

    @Test func whatIsSmallerThanThePrecisionIsNothing() {
        let day = FTPTimestamp(
            year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, precision: .day, isUTC: true)
        #expect(day == FTPTimestamp(year: 2026, month: 1, day: 2, precision: .day, isUTC: true))
        #expect(day?.description == "2026-01-02")
    }
}
