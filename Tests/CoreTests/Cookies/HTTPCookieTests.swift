import Foundation
import Testing

@testable import LoadingKitCore

@Suite("HTTPCookie")
struct HTTPCookieTests {
    private let base: [HTTPCookiePropertyKey: Any] = [.name: "n", .value: "v", .domain: "h.example", .path: "/"]

    private func cookie(_ more: [HTTPCookiePropertyKey: Any] = [:]) -> HTTPCookie? {
        HTTPCookie(properties: base.merging(more) { $1 })
    }

    @Test("has defaults, and what it was made with")
    func properties() throws {
        let plain = try #require(cookie())
        #expect(plain.name == "n" && plain.value == "v" && plain.domain == "h.example" && plain.path == "/")
        #expect(plain.version == 0 && plain.expiresDate == nil && plain.isSessionOnly && !plain.isSecure)
        #expect(!plain.isHTTPOnly && plain.comment == nil && plain.commentURL == nil && plain.portList == nil)
        #expect(plain.sameSitePolicy == nil)
        let date = Date(timeIntervalSince1970: 4_000_000_000)
        let full = try #require(
            cookie([
                .domain: ".H.Example", .secure: "TRUE", .expires: date, .version: "1", .comment: "c",
                .commentURL: "http://h/c", .port: "80, 443", .sameSitePolicy: HTTPCookieStringPolicy.sameSiteStrict,
                HTTPCookiePropertyKey("HttpOnly"): "TRUE",
            ]))
        #expect(full.domain == ".h.example" && full.isSecure && full.expiresDate == date && !full.isSessionOnly)
        #expect(full.version == 1 && full.comment == "c" && full.commentURL == URL(string: "http://h/c"))
        #expect(full.portList == [80, 443] && full.sameSitePolicy == .sameSiteStrict && full.isHTTPOnly)
    }

    @Test("is made again from its properties")
    func roundTrip() throws {
        let variants: [[HTTPCookiePropertyKey: Any]] = [
            [:], [.domain: ".h.example"], [.secure: true], [.expires: Date(timeIntervalSince1970: 4_000_000_000)],
            [.expires: "Wed, 21 Sep 2050 05:33:00 GMT", .discard: "FALSE"], [.version: 1, .port: "1,2", .comment: "c"],
            [.sameSitePolicy: "lax"], [.sameSitePolicy: "none"], [.path: "/a b", .value: "\"é\""],
        ]
        for variant in variants {
            let first = try #require(cookie(variant))
            let properties = try #require(first.properties)
            let second = try #require(HTTPCookie(properties: properties))
            #expect(first == second && first.hash == second.hash, "\(variant)")
            #expect(first.record.creation.timeIntervalSince(second.record.creation).magnitude < 0.001)
        }
        #expect(Set(variants.compactMap { cookie($0) }).count == variants.count)
    }

    @Test("takes values of several types")
    func values() throws {
        let flags: [(Any, Bool)] = [
            ("TRUE", true), ("YES", true), ("1", true), (true, true), ("FALSE", false), ("no", false), ("0", false),
            ("", false), (false, false), (NSNumber(value: 1), true),
        ]
        for (value, expected) in flags { #expect(cookie([.secure: value])?.isSecure == expected, "\(value)") }
        for age in ["600", 600] as [Any] {
            let before = Date()
            let end = try #require(cookie([.maximumAge: age, .expires: Date.distantPast, .version: "1"])?.expiresDate)
            // The cookie was made between two readings of the clock, however far apart these are.
            #expect((before + 600...Date() + 600).contains(end), "\(age)")
        }
        #expect(cookie([.maximumAge: "0", .version: "1"])?.expiresDate == .distantPast)
        #expect(cookie([.maximumAge: "x", .version: "1"])?.expiresDate == nil)
        // Version 0 has no greatest age.
        #expect(cookie([.maximumAge: "60"])?.expiresDate == nil)
        #expect(cookie([.maximumAge: "60", .expires: Date.distantPast])?.expiresDate == .distantPast)
        for text in ["Wed, 21 Sep 2016 05:33:00 GMT", "Wed Sep 21 05:33:00 2016", "Wed, 21-Sep-2016 05:33:00 GMT"] {
            #expect(cookie([.expires: text])?.expiresDate == Date(timeIntervalSince1970: 1_474_435_980), "\(text)")
        }
        for time in [Double.nan, .infinity] {
            let end = Date(timeIntervalSince1970: time)
            #expect(cookie([.expires: end])?.isSessionOnly == true, "\(time)")
        }
        // Version 0 has room for one port.
        #expect(cookie([.port: "80,443"])?.portList == [80])
        let discarded = cookie([.discard: "TRUE", .maximumAge: "60", .version: "1"])
        #expect(discarded?.isSessionOnly == true && discarded?.expiresDate == nil)
        #expect(cookie([.discard: "FALSE"])?.isSessionOnly == true)
        let origin = HTTPCookie(properties: [.name: "n", .value: "v", .path: "/", .originURL: "http://O.example/x"])
        #expect(origin?.domain == "o.example")
        #expect(cookie([.path: ""])?.path == "/")
        #expect(cookie([.domain: ".Bücher.example"])?.domain == ".xn--bcher-kva.example")
        // An address has no subdomains.
        for address in ["1.2.3.4", "::1"] { #expect(cookie([.domain: "." + address])?.domain == address) }
    }

    @Test("is nil without what is needed, and when it could not be sent")
    func refusals() {
        for key in [HTTPCookiePropertyKey.name, .value, .domain, .path] {
            var properties = base
            properties[key] = nil
            #expect(HTTPCookie(properties: properties) == nil, "\(key)")
        }
        let bad: [(HTTPCookiePropertyKey, String)] = [
            (.name, ""), (.name, "a=b"), (.name, "a=\u{301}b"), (.name, "a;b"), (.name, "a\r\nb"), (.value, "a;b"),
            (.value, "a\nb"), (.value, "a\0"), (.path, "/;"), (.path, "/\u{7F}"), (.domain, ""), (.domain, "."),
            (.domain, "a b"), (.domain, "a/b"), (.domain, "é/b"), (.domain, "é b"),
        ]
        for (key, value) in bad { #expect(cookie([key: value]) == nil, "\(key) \(value.debugDescription)") }
    }

    @Test("compares by content, and tells about itself")
    func comparison() throws {
        let first = try #require(cookie())
        #expect(first == cookie() && first.isEqual(first) && !first.isEqual("n"))
        for other in [cookie([.name: "m"]), cookie([.value: "w"]), cookie([.domain: ".h.example"])] {
            #expect(first != other)
        }
        #expect(first.description.contains("name:\"n\" value:\"v\"") && first.description.contains("sessionOnly:TRUE"))
    }

    @Test("cookies become a field")
    func requestFields() throws {
        #expect(HTTPCookie.requestHeaderFields(with: []) == [:])
        let cookies = try [#require(cookie()), #require(cookie([.name: "m", .value: ""]))]
        #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "n=v; m="])
    }

    @Test("fields become cookies")
    func responseFields() throws {
        let url = try #require(URL(string: "http://www.Example.com/a/b?c"))
        let cases: [(String, [String])] = [
            ("a=b", ["a=b www.example.com /a"]),
            ("a=b; Domain=Example.com; Path=/x", ["a=b .example.com /x"]),
            ("a=b; path=x", ["a=b www.example.com /a"]),
            ("a=b, c=d; Path=/", ["a=b www.example.com /a", "c=d www.example.com /"]),
            ("a=b; Expires=Wed, 21 Sep 2016 05:33:00 GMT, c=d", ["a=b www.example.com /a", "c=d www.example.com /a"]),
            ("a=b; Expires=Wed, 21-Sep-16 05:33:00 GMT", ["a=b www.example.com /a"]),
            ("a=1,2,3", ["a=1,2,3 www.example.com /a"]),
            ("a=1, ,b=2", ["a=1, www.example.com /a", "b=2 www.example.com /a"]),
            ("a=b; domain=other.org", ["a=b .other.org /a"]), ("a=b; domain=é.com", []),
            ("", []), (",", []), ("novalue", []), ("=b", []), ("a=\u{1}", []),
            ("__Secure-a=b", []), ("__secure-a=b; secure", ["__secure-a=b www.example.com /a"]),
            ("__Host-a=b; Secure", []), ("__Host-a=b; Secure; Path=/", ["__Host-a=b www.example.com /"]),
            ("__Host-a=b; Secure; Path=/; Domain=www.example.com", []), ("__Host-a=b; Path=/", []),
            ("__Host-a=b; Secure; Path=/x", []),
        ]
        for (field, expected) in cases {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["X": "y=z", "set-COOKIE": field], for: url)
            #expect(cookies.map { "\($0.name)=\($0.value) \($0.domain) \($0.path)" } == expected, "\(field)")
        }
        #expect(HTTPCookie.cookies(withResponseHeaderFields: ["X": "y=z"], for: url).isEmpty)
        let nowhere = try #require(URL(string: "data:,x"))
        #expect(HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=b"], for: nowhere).isEmpty)
    }

    @Test("attributes are read as the RFC says")
    func attributes() throws {
        let line = try #require(
            SetCookieLine("a = b ;MAX-AGE=10; httponly=x; SECURE; samesite=STRICT; Domain=.X.org; path=/p; path=/q"))
        #expect(line.name == "a" && line.value == "b" && line.maximumAge == 10 && line.isHTTPOnly && line.isSecure)
        #expect(line.sameSite == .strict && line.domain == "x.org" && line.path == "/q")
        let ages: [(String, Int?)] = [
            ("0", 0), ("-1", -1), ("-", nil), ("", nil), ("1x", nil), ("+1", nil), ("1 ", 1),
            (String(repeating: "9", count: 40), .max), ("-" + String(repeating: "9", count: 40), .min),
        ]
        for (text, expected) in ages {
            #expect(SetCookieLine("a=b; max-age=\(text)")?.maximumAge == expected, "\(text)")
        }
        let policies: [(String, CookieRecord.SameSite)] = [
            ("Lax", .lax), ("none", .none), ("STRICT", .strict), ("", .unspecified), ("x", .unspecified),
        ]
        for (text, expected) in policies { #expect(SetCookieLine("a=b; SameSite=\(text)")?.sameSite == expected) }
        // The last one counts, also when it says nothing that is known.
        #expect(SetCookieLine("a=b; SameSite=Lax; SameSite=x")?.sameSite == .unspecified)
        let long = "/" + String(repeating: "x", count: 1024)
        #expect(SetCookieLine("a=b; path=\(long)")?.path == nil)
        #expect(SetCookieLine("a=b; path=\(long.dropLast())")?.path?.utf8.count == 1024)
    }
}
