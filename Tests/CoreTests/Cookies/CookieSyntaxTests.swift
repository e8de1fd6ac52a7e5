import Foundation
import Testing

@testable import LoadingKitCore

/// How `Set-Cookie` is read (RFC 6265 §5.1.1, §5.2), and in which order cookies are sent (§5.4).
@Suite("Cookie syntax")
struct CookieSyntaxTests: CookieExchanging {
    /// What is received from `http://h.example/p/q`, and what is sent there.
    private func expect(_ cases: [([String], String)]) throws {
        for (lines, sent) in cases {
            let field = try exchange("http://h.example/p/q", lines, "http://h.example/p/q")
            #expect(field == sent, "\(lines)")
        }
    }

    @Test("names and values go up to the semicolon, without the white space around them")
    func pairs() throws {
        try expect([
            (["a=b"], "a=b"), ([" \ta = b c\t "], "a=b c"), (["a=b=c"], "a=b=c"), (["a="], "a="), (["a b=c"], "a b=c"),
            (["a=\" b \""], "a=\" b \""), (["a=\"b;c\""], "a=\"b"), (["\"a\"=b"], "\"a\"=b"), (["$a!/=b"], "$a!/=b"),
            (["a=b, c=d"], "a=b, c=d"), (["ä=ö"], "ä=ö"), (["A=1", "a=2"], "A=1; a=2"),
            // No name: no cookie.
            ([""], ""), ([" "], ""), (["a"], ""), (["=b"], ""), (["="], ""), (["==b"], ""), (["; a=b"], ""),
            (["a;b=c"], ""), (["a=b", "=", "c=d"], "a=b; c=d"),
        ])
    }

    @Test("attributes have names in any letters, the last counts, and those that are unknown do nothing")
    func attributes() throws {
        try expect([
            (["a=b;;; ; =;c;Version=1;d=\"e\""], "a=b"),
            (["a=b; Secure"], ""), (["a=b;sEcUrE = x"], ""), (["a=b; c; secure"], ""), (["a=b; \"Secure\""], "a=b"),
            (["a=b; Secure c"], "a=b"),
            (["a=b; Path=/other"], ""), (["a=b; PATH\t=\t/p"], "a=b"), (["a=b; Path=/other; Path=/p"], "a=b"),
            (["a=b; Path=/p; Path=/other"], ""), (["a=b; Path=/P"], ""), (["a=b; Path=/p/q/"], ""),
            // A path that is none is that of the request.
            (["a=b; Path"], "a=b"), (["a=b; Path=/other; Path="], "a=b"), (["a=b; Path=\"/other\""], "a=b"),
            (["a=b; Path=other"], "a=b"),
            (["a=b; Domain=h.example"], "a=b"), (["a=b; Domain=.H.Example"], "a=b"), (["a=b; Domain="], "a=b"),
            (["a=b; Domain=other.example"], ""), (["a=b; Domain=other.example; Domain=h.example"], "a=b"),
        ])
    }

    @Test("Max-Age goes before Expires, and what is neither a number nor a date does nothing")
    func ends() throws {
        let past = "Expires=Thu, 01 Jan 1970 00:00:01 GMT"
        try expect([
            (["a=b; Max-Age=60"], "a=b"), (["a=b; Max-Age=0"], ""), (["a=b; max-age=-1"], ""),
            (["a=b; Max-Age=x"], "a=b"), (["a=b; Max-Age=1.5"], "a=b"), (["a=b; Max-Age="], "a=b"),
            (["a=b; Max-Age=60; Max-Age=0"], ""), (["a=b; Max-Age=99999999999999999999"], "a=b"),
            (["a=b; \(past)"], ""), (["a=b; Expires=Thu, 01 Jan 2099 00:00:00 GMT"], "a=b"),
            (["a=b; Expires=soon"], "a=b"), (["a=b; Expires"], "a=b"),
            (["a=b; \(past); Max-Age=60"], "a=b"), (["a=b; Max-Age=60; \(past)"], "a=b"),
            (["a=1", "a=2; Max-Age=0"], ""), (["a=1", "a=2; \(past)", "b=3"], "b=3"),
        ])
    }

    @Test("longer paths go first, then older cookies; a cookie that is set again keeps its age")
    func order() throws {
        try expect([
            (["z=1", "a=2"], "z=1; a=2"), (["a=1", "b=2", "a=3"], "a=3; b=2"),
            (["a=1; Path=/", "b=2; Path=/p", "c=3; Path=/p/q", "d=4; Path=/"], "c=3; b=2; a=1; d=4"),
            (["a=1; Path=/", "a=2; Path=/p", "a=3; Path=/"], "a=2; a=3"),
        ])
    }

    @Test("dates are found by their parts, in any order and between any delimiters")
    func dates() {
        let same = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "6 nov 1994 8:49:37", "1994 November 6 08:49:37 PST", "08:49:37/06/NOV/1994",
            "06 Novem-1994;08:49:37 -0500",
            "No day, 06 Nov 1994 08:49:37 (EST) 09:00:00", "06 Nov 1994 08:49:37x",
        ]
        for text in same {
            #expect(CookieDate.date(text)?.timeIntervalSince1970 == 784_111_777, "\(text)")
        }
        // RFC 6265 §5.1.1, steps 3 and 4.
        let years = [("69", 3_150_953_377.0), ("70", 26_729_377), ("99", 941_878_177), ("00", 973_500_577)]
        for (year, seconds) in years {
            #expect(CookieDate.date("06 Nov \(year) 08:49:37")?.timeIntervalSince1970 == seconds, "\(year)")
        }
        let none = [
            "", "never", "06 Nov 1994", "06 Nov 08:49:37", "06 1994 08:49:37", "Nov 1994 08:49:37",
            "00 Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "94 Nov 06 08:49:37", "06 Nov 1600 08:49:37",
            "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:37", "06 Nov 1994 08:49:60", "006 Nov 1994 08:49:37",
            "06 Nov 19940 08:49:37", "06 Nov 1994 08: 49:37", "06 Nov 1994 008:49:37", "31 Feb 1994 08:49:37",
        ]
        for text in none { #expect(CookieDate.date(text) == nil, "\(text)") }
    }
}
