import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

/// Fields that nobody meant: each gives a cookie that can be sent, or none.
@Suite("Cookie fuzzing")
struct CookieFuzzTests {
    private static let words = [
        "a", "=", ";", ",", " ", "\t", "\"", "Expires=", "Max-Age=", "Domain=", "Path=/", "Secure", "HttpOnly",
        "SameSite=None", "__Host-", "__Secure-", ".example.com", "example.com", "Wed, 21 Sep 2030 05:33:00 GMT",
        "99999999999999999999", "-", "1:2:3", "é", "\u{301}", "\u{0}", "/",
    ]

    @Test("bytes and words in any order", arguments: 0..<4 as Range<UInt64>)
    func lines(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let url = try #require(URL(string: "https://www.example.com/a/b"))
        let storage = HTTPCookieStorage()
        var accepted = 0
        for _ in 0..<1000 {
            let bytes = Self.bytes(&generator)
            var fields = HTTPFields()
            bytes.withUnsafeBytes { fields.append(.setCookie, valueBytes: $0) }
            for cookie in HTTPCookie.cookies(in: fields, for: url, now: Date()) {
                accepted += 1
                #expect(!cookie.name.isEmpty && !cookie.name.contains("=") && cookie.path.hasPrefix("/"))
                let field = HTTPCookie.requestHeaderFields(with: [cookie])["Cookie"] ?? ""
                #expect(field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x3B || $0 == 0x09 })
                // What a server can say a program can say too.
                #expect(HTTPCookie(properties: cookie.properties ?? [:]) == cookie)
            }
            storage.storeCookies(in: fields, of: CookieContext(url: url), for: nil, policy: .always)
            let joined = String(decoding: bytes, as: UTF8.self)
            _ = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": joined], for: url)
            _ = CookieDate.date(joined)
        }
        #expect(accepted > 100 && (storage.cookies?.count ?? 0) <= 180)
    }

    @Test("hosts and paths of any bytes", arguments: 0..<4 as Range<UInt64>)
    func hosts(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let text = String(decoding: Self.bytes(&generator), as: UTF8.self)
            let other = String(decoding: Self.bytes(&generator), as: UTF8.self)
            let site = PublicSuffixes.site(of: text)
            #expect(site == text || PublicSuffixes.site(of: site) == site)
            _ = CookieHost.matches(text, domain: other)
            _ = CookiePath.matches(text, cookie: other)
            _ = HTTPCookie(properties: [.name: text, .value: other, .domain: text, .path: other])
            if let url = URL(string: "http://\(text)/\(other)") { _ = HTTPCookieStorage().cookies(for: url) }
        }
    }

    private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0..<12, using: &generator)).flatMap { _ -> [UInt8] in
            if Int.random(in: 0..<8, using: &generator) == 0 { return [.random(in: 0...255, using: &generator)] }
            return Array((words.randomElement(using: &generator) ?? "").utf8)
        }
    }
}
