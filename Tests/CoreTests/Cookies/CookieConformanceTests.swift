import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

/// The tests of the group that wrote RFC 6265: every case but those that they disabled themselves.
@Suite("Cookie conformance", .requires(.cookies))
struct CookieConformanceTests {
    /// When the tests were written: cookies of theirs that end in 2019 are to be alive.
    private static let now = Date(timeIntervalSince1970: 1_300_000_000)

    /// Cases that fail on purpose, and why.
    private static let exceptions = [
        "OPTIONAL_DOMAIN0042": "an empty Domain that comes last makes a cookie of the host (RFC 6265bis §5.7), where "
            + "RFC 6265 left it open and the old tests ignore the attribute"
    ]

    @Test("what is received is what is sent")
    func parser() throws {
        let all = try Self.cases("parser.json")
        let cases = all.filter { ($0["test"] as? String)?.hasPrefix("DISABLED") == false }
        #expect(all.count == 222 && cases.count == 218)
        var failed: [String] = []
        for test in cases {
            let name = try #require(test["test"] as? String)
            let sent = try #require(test["sent"] as? [[String: String]])
            let expected = sent.map { "\($0["name"] ?? "")=\($0["value"] ?? "")" }.joined(separator: "; ")
            let result = try Self.sent(test)
            if result != expected { failed.append(name) }
            if Self.exceptions[name] == nil { #expect(result == expected, "\(name)") }
        }
        print("cookies/parser.json: \(cases.count - failed.count) of \(cases.count)")
        #expect(failed.sorted() == Self.exceptions.keys.sorted())
    }

    @Test("dates", arguments: [("dates.json", 15), ("dates-bsd.json", 55)])
    func dates(file: String, count: Int) throws {
        let cases = try Self.cases("\(file)")
        #expect(cases.count == count)
        var passed = 0
        for test in cases {
            let text = try #require(test["test"] as? String)
            let date = CookieDate.date(text).map { Self.text($0) }
            #expect(date == test["expected"] as? String, "\(text)")
            if date == test["expected"] as? String { passed += 1 }
        }
        print("cookies/\(file): \(passed) of \(cases.count)")
    }

    private static func sent(_ test: [String: Any]) throws -> String {
        let name = test["test"] as? String ?? ""
        let base = try #require(URL(string: "http://home.example.org:8888/cookie-parser?\(name)"))
        let storage = HTTPCookieStorage(persistence: nil, now: { now })
        for value in try #require(test["received"] as? [String]) {
            var fields = HTTPFields()
            fields.append(.setCookie, value)
            storage.storeCookies(in: fields, of: CookieContext(url: base), for: nil, policy: .always)
        }
        let target = test["sent-to"] as? String ?? "/cookie-parser-result?\(name)"
        let url = try #require(URL(string: target, relativeTo: base)?.absoluteURL)
        let field = Box<String?>(nil)
        storage.getCookieField(for: CookieContext(url: url), of: nil) { field.value = $0 }
        return field.value ?? ""
    }

    private static func cases(_ path: String) throws -> [[String: Any]] {
        let text = try String(contentsOf: ConformanceTable.cookies.url(path), encoding: .utf8)
        let json = text.split(separator: "\n").filter { !$0.hasPrefix("//") }.joined(separator: "\n")
        return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
    }

    /// `Mon, 10 Dec 2007 17:02:24 GMT`.
    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
