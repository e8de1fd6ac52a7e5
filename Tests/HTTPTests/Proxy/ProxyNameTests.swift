import Foundation
import Testing

@testable import LoadingKitHTTP

@Suite struct ProxyNameTests {
    private static let credential = Proxy.Credential(user: "me", password: "p:w@rd")

    @Test func whatCurlReads() {
        let cases: [(String, Proxy?)] = [
            ("proxy", Proxy(kind: .http, host: "proxy", port: 1080, credential: nil)),
            ("Proxy.Example:3128", Proxy(kind: .http, host: "proxy.example", port: 3128, credential: nil)),
            ("http://proxy:80/path", Proxy(kind: .http, host: "proxy", port: 80, credential: nil)),
            ("https://proxy", Proxy(kind: .https, host: "proxy", port: 443, credential: nil)),
            ("HTTP://me:p%3Aw%40rd@proxy", Proxy(kind: .http, host: "proxy", port: 1080, credential: Self.credential)),
            ("me:p:w@rd@proxy:1", Proxy(kind: .http, host: "proxy", port: 1, credential: Self.credential)),
            ("socks4://10.0.0.1:9050", Proxy(kind: .socks4, host: "10.0.0.1", port: 9050, credential: nil)),
            ("socks4a://proxy", Proxy(kind: .socks4, host: "proxy", port: 1080, credential: nil)),
            ("socks5://proxy", Proxy(kind: .socks5, host: "proxy", port: 1080, credential: nil)),
            ("socks5h://[::1]:9050", Proxy(kind: .socks5, host: "::1", port: 9050, credential: nil)),
            ("[::1]", Proxy(kind: .http, host: "::1", port: 1080, credential: nil)),
            ("", nil), ("http://", nil), ("ftp://proxy", nil), ("proxy:0", nil), ("proxy:65536", nil),
            ("proxy:", nil), ("[::1", nil), ("proxy:80x", nil),
        ]
        for (text, proxy) in cases {
            let read = Proxy(text)
            #expect(read == proxy, "\(text)")
        }
    }

    @Test func theDescriptionKeepsTheCredentialToItself() {
        #expect(Proxy("socks5://me:secret@[::1]:9")?.description == "socks5h://[::1]:9")
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
        ]
        for (list, inside, outside) in cases {
            let exceptions = ProxyExceptions(list: list)
            for host in inside { #expect(exceptions.contains(host), "\(list) \(host)") }
            for host in outside { #expect(!exceptions.contains(host), "\(list) \(host)") }
        }
        var apple = ProxyExceptions(["*.example.com", "169.254/16"])
        #expect(apple.contains("www.example.com") && apple.contains("169.254.1.2") && !apple.contains("printer"))
        apple.includesSimpleNames = true
        #expect(apple.contains("printer") && !apple.contains("printer.example") && !apple.contains("::2"))
        for address in ["3405803777", "0xcb007101", "4294967296"] { #expect(!apple.contains(address), "\(address)") }
    }

    @Test func rulesOfTheEnvironment() {
        func host(_ environment: [String: String], isSecure: Bool, _ host: String = "h.example") -> String? {
            let origin = Origin(isSecure: isSecure, host: host, port: 80)
            return ProxyRules(nil, environment: environment).proxy(for: origin)?.host
        }
        #expect(host(["http_proxy": "a"], isSecure: false) == "a")
        #expect(host(["http_proxy": "a"], isSecure: true) == nil)
        #expect(host(["HTTP_PROXY": "a"], isSecure: false) == "a")
        #expect(host(["HTTP_PROXY": "a", "REQUEST_METHOD": "GET"], isSecure: false) == nil)
        #expect(host(["http_proxy": "a", "HTTP_PROXY": "b"], isSecure: false) == "a")
        #expect(host(["https_proxy": "a", "ALL_PROXY": "b"], isSecure: true) == "a")
        #expect(host(["https_proxy": "", "all_proxy": "b"], isSecure: true) == "b")
        #expect(host(["all_proxy": "b", "NO_PROXY": "example"], isSecure: false) == nil)
        #expect(host([:], isSecure: true) == nil)
    }

    @Test func rulesOfTheDictionary() {
        func proxy(_ dictionary: [AnyHashable: Any], isSecure: Bool) -> String? {
            let origin = Origin(isSecure: isSecure, host: "h.example", port: 80)
            return ProxyRules(dictionary, environment: ["all_proxy": "environment"]).proxy(for: origin)?.description
        }
        let http: [AnyHashable: Any] = ["HTTPEnable": 1, "HTTPProxy": "a", "HTTPPort": 8080]
        let socks: [AnyHashable: Any] = ["SOCKSEnable": true, "SOCKSProxy": "s", "SOCKSPort": NSNumber(value: 9050)]
        #expect(proxy(http, isSecure: false) == "http://a:8080")
        #expect(proxy(http, isSecure: true) == nil)
        #expect(proxy([:], isSecure: true) == nil)
        #expect(proxy(["HTTPProxy": "a"], isSecure: false) == nil)
        #expect(proxy(["HTTPSEnable": true, "HTTPSProxy": "b"], isSecure: true) == "http://b:80")
        #expect(proxy(socks.merging(http) { a, _ in a }, isSecure: true) == "socks5h://s:9050")
        #expect(proxy(socks.merging(http) { a, _ in a }, isSecure: false) == "http://a:8080")
        let version4 = socks.merging(["kCFStreamPropertySOCKSVersion": "kCFStreamSocketSOCKSVersion4"]) { a, _ in a }
        #expect(proxy(version4, isSecure: true) == "socks4a://s:9050")
        #expect(proxy(http.merging(["ExceptionsList": ["*.example"]]) { a, _ in a }, isSecure: false) == nil)
        #expect(proxy(["HTTPEnable": 1, "HTTPProxy": "a", "HTTPPort": 70000], isSecure: false) == nil)
    }
}
