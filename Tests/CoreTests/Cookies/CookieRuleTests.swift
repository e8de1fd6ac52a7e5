import Foundation
import TestSupport
import Testing

@testable import LoadingKitCore

/// Which cookies servers may set, and which requests they go with.
@Suite("Cookie rules")
struct CookieRuleTests: CookieExchanging {
    @Test("servers may set cookies for themselves and their domain alone")
    func domains() throws {
        let cases: [(String, String, String, String)] = [
            ("http://a.example.com/", "x=1", "http://a.example.com/", "x=1"),
            ("http://a.example.com/", "x=1", "http://example.com/", ""),
            ("http://a.example.com/", "x=1; domain=example.com", "http://b.example.com/", "x=1"),
            ("http://a.example.com/", "x=1; domain=b.example.com", "http://b.example.com/", ""),
            ("http://a.example.com/", "x=1; domain=com", "http://a.example.com/", ""),
            ("http://a.co.uk/", "x=1; domain=co.uk", "http://a.co.uk/", ""),
            ("http://a.github.io/", "x=1; domain=github.io", "http://a.github.io/", ""),
            ("http://github.io/", "x=1; domain=github.io", "http://github.io/", "x=1"),
            ("http://github.io/", "x=1; domain=github.io", "http://a.github.io/", ""),
            ("http://b.s3.amazonaws.com/", "x=1; domain=amazonaws.com", "http://b.s3.amazonaws.com/", ""),
            ("http://localhost:8080/", "x=1; domain=localhost", "http://localhost:9090/", "x=1"),
            ("http://127.0.0.1/", "x=1; domain=127.0.0.1", "http://127.0.0.1/", "x=1"),
            ("http://127.0.0.1/", "x=1; domain=0.0.1", "http://127.0.0.1/", ""),
            ("http://[::1]/", "x=1", "http://[::1]/", "x=1"),
            ("http://EXAMPLE.com/", "x=1", "http://example.COM/", "x=1"),
            ("ws://example.com/", "x=1", "http://example.com/", "x=1"),
            ("http://a.公司.cn/", "x=1; domain=xn--55qx5d.cn", "http://a.公司.cn/", ""),
            ("http://a.公司.cn/", "x=1; domain=a.xn--55qx5d.cn", "http://b.a.公司.cn/", "x=1"),
        ]
        for (origin, line, target, expected) in cases {
            #expect(try exchange(origin, [line], target) == expected, "\(origin) \(line) \(target)")
        }
    }

    @Test("Secure cookies come from and go to secure origins, and insecure ones cannot hide them")
    func secure() throws {
        #expect(try exchange("http://a.com/", ["x=1; secure"], "https://a.com/") == "")
        #expect(try exchange("https://a.com/", ["x=1; secure"], "http://a.com/") == "")
        #expect(try exchange("https://a.com/", ["x=1; secure"], "wss://a.com/") == "x=1")
        #expect(try exchange("https://a.com/", ["x=1"], "http://a.com/") == "x=1")
        let storage = HTTPCookieStorage()
        try receive(["x=1; secure; path=/p; domain=a.com"], from: "https://a.com/", in: storage)
        try receive(["x=2; path=/p/q", "y=2"], from: "http://b.a.com/", in: storage)
        #expect(try sent(to: "https://b.a.com/p/q", from: storage) == "x=1; y=2")
        // Above the path of the secure one nothing is hidden.
        try receive(["x=3; path=/"], from: "http://a.com/", in: storage)
        #expect(try sent(to: "https://a.com/p/q", from: storage) == "x=1; x=3")
    }

    @Test("a Secure cookie that has expired hides from nobody")
    func expiredSecure() throws {
        let now = Box(Date(timeIntervalSince1970: 1_000_000_000))
        let storage = HTTPCookieStorage(persistence: nil, now: { now.value })
        try receive(["x=1; secure; max-age=10"], from: "https://a.com/", in: storage)
        try receive(["x=2"], from: "http://a.com/", in: storage)
        #expect(try sent(to: "https://a.com/", from: storage) == "x=1")
        now.value += 10
        try receive(["x=3"], from: "http://a.com/", in: storage)
        #expect(try sent(to: "https://a.com/", from: storage) == "x=3")
    }

    @Test("names with a prefix keep their promise")
    func prefixes() throws {
        let cases = [
            ("__Secure-x=1; Secure", true), ("__Secure-x=1", false), ("__SECURE-x=1", false),
            ("__Host-x=1; Secure; Path=/", true), ("__Host-x=1; Secure", false), ("__host-x=1; Path=/", false),
            ("__Host-x=1; Secure; Path=/; Domain=a.com", false),
        ]
        for (line, isStored) in cases {
            #expect(try exchange("https://a.com/", [line], "https://a.com/").isEmpty != isStored, "\(line)")
        }
        let storage = HTTPCookieStorage()
        storage.setCookie(try cookie("__Secure-x"))
        storage.setCookie(try cookie("__Host-x", with: [.secure: "TRUE", .path: "/p"]))
        #expect(storage.cookies == [])
        storage.setCookie(try cookie("__Host-x", with: [.secure: "TRUE"]))
        #expect(storage.cookies?.count == 1)
    }

    @Test("SameSite decides what goes with other sites' requests")
    func sameSite() throws {
        let storage = HTTPCookieStorage()
        let lines = ["d=1", "l=1; SameSite=Lax", "s=1; SameSite=Strict", "n=1; SameSite=None; Secure"]
        try receive(lines + ["m=1; SameSite=None"], from: "https://a.com/", in: storage)
        let all = "d=1; l=1; s=1; n=1"
        let cases: [(String?, String, Bool, String)] = [
            (nil, "POST", false, all), ("https://a.com/page", "POST", false, all),
            ("https://b.a.com/", "GET", false, all),
            ("https://other.com/", "GET", false, "n=1"), ("https://other.com/", "GET", true, "d=1; l=1; n=1"),
            ("https://other.com/", "POST", true, "n=1"), ("http://a.com/", "GET", false, "n=1"),
            ("wss://a.com/", "GET", false, all), ("file:///page", "GET", false, "n=1"),
        ]
        for (page, method, navigates, expected) in cases {
            let field = try sent(to: "https://a.com/", page: page, method: method, navigates: navigates, from: storage)
            #expect(field == expected, "\(page ?? "-") \(method)")
        }
        // The same rules say which responses may set them.
        let other = HTTPCookieStorage()
        try receive(lines, from: "https://a.com/", page: "https://other.com/", in: other)
        #expect(other.cookies?.map(\.name) == ["n"])
        try receive(lines, from: "https://a.com/", page: "https://other.com/", navigates: true, in: other)
        #expect(other.cookies?.count == 4)
    }

    @Test("requests tell their site by their main document")
    func requests() throws {
        var request = URLRequest(url: try url("https://a.com/"))
        request.httpMethod = "POST"
        #expect(CookieContext(request)?.isSameSite == true && CookieContext(request)?.isSafeMethod == false)
        request.mainDocumentURL = try url("https://b.org/")
        #expect(CookieContext(request)?.isSameSite == false)
        request.url = nil
        #expect(CookieContext(request) == nil)
    }
}
