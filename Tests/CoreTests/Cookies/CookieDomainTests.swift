import Foundation
import Testing

@_spi(LoadingKitPlugins) @testable import LoadingKitCore

@Suite("Cookie domains and paths")
struct CookieDomainTests {
    @Test("registrable domains")
    func registrable() {
        let cases: [(String, String?)] = [
            ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("com", nil), ("co.uk", nil),
            ("x.co.uk", "x.co.uk"), ("www.x.co.uk", "x.co.uk"), ("github.io", nil), ("a.b.github.io", "b.github.io"),
            ("localhost", nil), ("a.localhost", "a.localhost"), ("127.0.0.1", nil), ("::1", nil), ("203.28929", nil),
            ("0313.0.0161.1", nil), ("203.0.113.1.", nil), ("fe80::1%eth9", nil), ("", nil), (".", nil),
            ("www.example.com.", "example.com."), ("com.", nil), ("www.ck", "www.ck"), ("a.b.ck", "a.b.ck"),
            ("xn--55qx5d.cn", nil), ("a.xn--55qx5d.cn", "a.xn--55qx5d.cn"), ("www.example.com...", "example.com..."),
            ("com..", nil), ("203.0.113.1...", nil), ("...", nil),
        ]
        for (host, expected) in cases {
            #expect(PublicSuffixes.registrableDomain(of: host) == expected, "\(host)")
        }
        #expect(
            PublicSuffixes.isListed("co.uk") && PublicSuffixes.isListed("com") && PublicSuffixes.isListed("github.io"))
        #expect(!PublicSuffixes.isListed("localhost") && !PublicSuffixes.isListed("example.com"))
        // A server may redirect to such a host.
        let dots = String(repeating: ".", count: 200_000)
        #expect(PublicSuffixes.registrableDomain(of: "www.example.com" + dots) == "example.com" + dots)
    }

    @Test("domains match their subdomains, addresses none")
    func domains() {
        let cases: [(String, String, Bool)] = [
            ("a.example", "a.example", true), ("b.a.example", "a.example", true), ("ba.example", "a.example", false),
            ("a.example", "b.a.example", false), ("a.example", "", false), ("1.2.3.4", "3.4", false),
            ("1.2.3.4", "1.2.3.4", true), ("0x1.2.3", "2.3", false), ("1.2.3.", "3.", false), ("::1", "::1", true),
            ("x.4", "4", true), ("", "", true),
        ]
        for (host, domain, expected) in cases {
            #expect(CookieHost.matches(host, domain: domain) == expected, "\(host) \(domain)")
        }
    }

    @Test("an address is one host, however it is written")
    func addresses() {
        let urls = [
            ("http://127.1/", "127.0.0.1"), ("http://0x7F.0.0.01/", "127.0.0.1"),
            ("http://3405803777./", "203.0.113.1"),
            ("http://[::1]/", "::1"), ("http://[0:0::01]/", "::1"), ("http://1.example/", "1.example"),
        ]
        for (url, host) in urls { #expect(URL(string: url).flatMap { CookieHost.host(of: $0) } == host, "\(url)") }
        #expect(CookieHost.canonical("127.1") == "127.0.0.1" && CookieHost.canonical("1.Example") == "1.example")
    }

    @Test("a URL's host is in lower case and in ASCII")
    func canonicalHosts() {
        let urls: [(String, String?)] = [
            ("http://b%C3%BCcher.example/", "xn--bcher-kva.example"),
            ("http://B%C3%9CCHER.example", "xn--bcher-kva.example"),
            ("http://Bücher.example/", "xn--bcher-kva.example"),
            ("http://XN--bcher-kva.example/", "xn--bcher-kva.example"), ("http://%41.Example./", "a.example."),
            ("http://b%C3%BCcher.example./", "xn--bcher-kva.example."),
            ("http://bücher.example./", "xn--bcher-kva.example."), ("file", nil),
        ]
        for (url, host) in urls {
            #expect(URL(string: url)?.canonicalHost == host, "\(url)")
            #expect(URL(string: url).flatMap { CookieHost.host(of: $0) } == host, "\(url)")
        }
    }

    @Test("paths match what is below them")
    func paths() throws {
        let cases: [(String, String, Bool)] = [
            ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/b", "/a", true), ("/a/b", "/a/", true),
            ("/ab", "/a", false), ("/a", "/a/", false), ("/A", "/a", false), ("/%61", "/a", false),
        ]
        for (path, cookie, expected) in cases {
            #expect(CookiePath.matches(path, cookie: cookie) == expected, "\(path) \(cookie)")
        }
        for (text, expected) in [
            ("http://h", "/"), ("http://h/", "/"), ("http://h/a", "/"), ("http://h/a/", "/a"), ("http://h/a/b", "/a"),
            ("http://h/a%2Fb/c?d/e", "/a%2Fb"),
        ] {
            #expect(CookiePath.defaultPath(for: try #require(URL(string: text))) == expected, "\(text)")
        }
        let relative = try #require(URL(string: "b/c", relativeTo: URL(string: "http://h/a/x")))
        #expect(CookiePath.path(of: relative) == "/a/b/c" && CookieHost.host(of: relative) == "h")
    }
}
