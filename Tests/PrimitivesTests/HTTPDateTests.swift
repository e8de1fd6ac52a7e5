import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives
import Testing

@Suite("HTTP dates") struct HTTPDateTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private let receipt = 784_111_777

    private func parse(_ text: String, now: Int = 784_111_777) -> Int? { HTTPDate.parse(text, now: Double(now)) }

    @Test(
        "read in all three forms",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sUN, 06 nOV 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 gmt", "Sunday, 06-Nov-94 08:49:37 Gmt",
        ])
    func forms(_ text: String) { #expect(parse(text) == receipt) }

    @Test(
        "that are nearly right are none",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1995 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT", "Sun Nov 06 08:49:37 1994 GMT", "é", "Sun, 06 Nov 1994 08:49:3é GMT",
        ])
    func malformed(_ text: String) { #expect(parse(text) == nil) }

    @Test(
        "and numbers are waits in Retry-After",
        arguments: [
            ("0", 0), (" 120\t", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 6.5), ("Sunday, 06-Nov-94 08:49:37 GMT ", 6.5),
            ("Sun, 06 Nov 1994 08:49:30 GMT", 0), ("18446744073709551616", 0x1p31),
            (String(repeating: "9", count: 400), 0x1p31), ("+5", nil), ("-1", nil), ("1.5", nil), ("", nil),
            (" ", nil), ("soon", nil),
        ] as [(String, Double?)])
    func waits(_ text: String, _ wait: Double?) {
        #expect(HTTPDate.delay(ofRetryAfter: text, now: Double(receipt) - 6.5) == wait)
    }

    @Test("are the same as Foundation's, over four thousand years")
    func calendar() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var seconds: TimeInterval = -11_600_000_000  // the year 1602, in the Gregorian calendar
        while seconds < 114_000_000_000 {
            #expect(HTTPDate.string(seconds) == formatter.string(from: Date(timeIntervalSince1970: seconds)))
            #expect(parse(HTTPDate.string(seconds)) == Int(seconds))
            seconds += 86_400 * 97 + 3_607
        }
    }

    @Test(
        "of two digits lie in the past when they would be more than 50 years away",
        arguments: [
            (1994, "44", 2044), (1994, "45", 1945), (1994, "93", 1993), (2026, "76", 2076), (2026, "77", 1977),
            (2026, "00", 2000),
        ])
    func century(_ year: Int, _ digits: String, _ meant: Int) throws {
        let now = try #require(parse("Mon, 01 Jan \(year) 00:00:00 GMT"))
        let date = try #require(parse("Monday, 01-Jan-\(digits) 00:00:00 GMT", now: now))
        #expect(HTTPDate.string(Double(date)).contains(" \(meant) "))
    }

    @Test("outside the years of the format are bounded")
    func bounds() {
        for (seconds, text) in [
            (1e300, "31 Dec 9999 23:59:59"), (-Double.infinity, "01 Jan 0000 00:00:00"), (.nan, "01 Jan 1970"),
        ] {
            #expect(HTTPDate.string(seconds).contains(text))
            _ = HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: seconds)
        }
    }
}
