import Foundation
import LoadingKitCore
import Testing

@testable import LoadingKitProxies

@Suite struct ProxyNameTests {
    private static let credential = Proxy.Credential(user: "me", password: "p:w@rd")
    private static let marked = Proxy.Credential(user: "me", password: "\u{301}p")

    @Test func whatCurlReads() {
        let cases: [(String, Proxy?)] = [
            ("proxy", Proxy(kind: .http, host: "proxy", port: 1080, credential: nil)),
            ("Proxy.Example:3128", Proxy(kind: .http, host: "proxy.example", port: 3128, credential: nil)),
            ("http://proxy:80/path", Proxy(kind: .http, host: "proxy", port: 80, credential: nil)),
            ("https://proxy", Proxy(kind: .https, host: "proxy", port: 443, credential: nil)),
            ("HTTP://me:p%3Aw%40rd@proxy", Proxy(kind: .http, host: "proxy", port: 1080, credential: Self.credential)),
            ("me:p:w@rd@proxy:1", Proxy(kind: .http, host: "proxy", port: 1, credential: Self.credential)),
            ("me:\u{301}p@proxy:1", Proxy(kind: .http, host: "proxy", port: 1, credential: Self.marked)),
            ("socks4://10.0.0.1:9050", Proxy(kind: .socks4, host: "10.0.0.1", port: 9050, credential: nil)),
            ("socks4a://proxy", Proxy(kind: .socks4, host: "proxy", port: 1080, credential: nil)),
            ("socks5://proxy", Proxy(kind: .socks5, host: "proxy", port: 1080, credential: nil)),
            ("socks5h://[::1]:9050", Proxy(kind: .socks5, host: "::1", port: 9050, credential: nil)),
            ("[::1]", Proxy(kind: .http, host: "::1", port: 1080, credential: nil)),
            ("", nil), ("http://", nil), ("ftp://proxy", nil), ("proxy:0", nil), ("proxy:65536", nil),
            ("proxy:", nil), ("[::1", nil), ("proxy:80x", nil), ("[::1]x80", nil), ("proxy:+80", nil), ("a b:80", nil),
        ]
        for (text, proxy) in cases {
            let read = ProxyChoice(text, usualPort: 1080)?.server
            #expect(read == proxy, "\(text)")
        }
    }

    /// A name without a port has the usual one, as in the answers of scripts.
    @Test func usualPorts() {
        let ports = ["p", "http://p", "https://p", "socks4://p", "socks5h://p"].map { ProxyChoice($0)?.server?.port }
        #expect(ports == [80, 80, 443, 1080, 1080])
    }

    @Test func theDescriptionKeepsTheCredentialToItself() {
        #expect(ProxyChoice("socks5://me:secret@[::1]:9")?.server?.description == "socks5h://[::1]:9")
    }

    @Test func exceptions() {
        let cases: [(String, [String], [String])] = [
            (
                "example.com", ["example.com", "www.example.com", "example.com."],
                ["badexample.com", "com", "10.0.0.1"]
            ),
            (".example.com,local", ["example.com", "a.b.example.com", "local", "x.local"], ["locale"]),
            ("*", ["anything", "::1"], []),
            ("", [], ["anything"]),
            ("10.0.0.0/8 192.168.1.1", ["10.1.2.3", "192.168.1.1"], ["11.0.0.1", "192.168.1.2", "x10.0.0.1"]),
            ("fe80::/10,[::1]", ["fe80::1", "febf::1%1", "::1"], ["fec0::1", "::2"]),
            ("10.0.0.0/33", [], ["10.0.0.0"]),
            ("0.0.0.0/0", ["1.2.3.4"], ["::1", "name"]),
            ("10.0.0.0/8", ["0xa.1", "012.1", "167772161", "::ffff:10.0.0.1", "10.1."], ["0xb.1", "::ffff:11.0.0.1"]),
            ("0x7f.1", ["127.0.0.1", "127.1"], ["127.0.0.2"]), ("10/8", ["10.1.2.3"], ["0.0.0.10"]),
            ("fe80::/10", ["fe80::1%no-such-interface"], []),
            (
                "bücher.example,.Müller.example",
                ["xn--bcher-kva.example", "a.xn--bcher-kva.example", "xn--mller-kva.example"], ["bcher.example"]
            ),
        ]
        for (list, inside, outside) in cases {
            let exceptions = ProxyExceptions(list: list)
            for host in inside { #expect(exceptions.contains(host), "\(list) \(host)") }
            for host in outside { #expect(!exceptions.contains(host), "\(list) \(host)") }
        }
        var apple = ProxyExceptions(["*.example.com", "169.254/16", "*.bücher.example"])
        #expect(apple.contains("www.example.com") && apple.contains("169.254.1.2") && !apple.contains("printer"))
        #expect(apple.contains("www.xn--bcher-kva.example"))
        apple.includesSimpleNames = true
        #expect(apple.contains("printer") && !apple.contains("printer.example") && !apple.contains("::2"))
        for address in ["3405803777", "0xcb007101", "4294967296"] { #expect(!apple.contains(address), "\(address)") }
    }
}
