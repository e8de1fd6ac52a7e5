import Foundation
import LoadingKitCore
import Testing

@testable import LoadingKitProxies

/// Which proxy a server is reached through: a table of settings.
@Suite struct ProxyRulesTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// As JSON.
        var dictionary: String?
        var environment: [String: String] = [:]
        var hasResolver = false
        var host = "h.example"
        /// For `http`, `https` and `ftp`: a proxy; `direct`; `ask`; `error` and words of the error.
        var ways: [String]
    }

    private static func environment(_ variables: [String: String], _ ways: String..., host: String = "h.example")
        -> Case
    {
        Case(testDescription: "\(variables)", environment: variables, host: host, ways: ways)
    }

    private static func dictionary(
        _ json: String, _ ways: String..., hasResolver: Bool = false, host: String = "h.example"
    ) -> Case {
        Case(
            testDescription: json, dictionary: json, environment: ["all_proxy": "not-this"], hasResolver: hasResolver,
            host: host, ways: ways)
    }

    private static let (a, b) = ("http://a:1080", "http://b:1080")
    private static let socks = #""SOCKSEnable": true, "SOCKSProxy": "s", "SOCKSPort": 9050"#
    private static let script = #""ProxyAutoConfigEnable": 1, "ProxyAutoConfigURLString": "http://p.test/x""#

    static let cases: [Case] = [
        environment([:], "direct", "direct", "direct"),
        environment(["http_proxy": "a"], a, "direct", "direct"),
        environment(["https_proxy": "a"], "direct", a, "direct"),
        environment(["ftp_proxy": "a"], "direct", "direct", a),
        environment(["FTP_PROXY": "a", "all_proxy": "b"], b, b, a),
        environment(["HTTP_PROXY": "a"], a, "direct", "direct"),
        environment(["HTTP_PROXY": "a", "REQUEST_METHOD": "GET"], "direct", "direct", "direct"),
        environment(["http_proxy": "a", "HTTP_PROXY": "b"], a, "direct", "direct"),
        environment(["http_proxy": "", "https_proxy": "", "all_proxy": "b"], b, b, b),
        // An empty variable counts as not set.
        environment(["https_proxy": "", "HTTPS_PROXY": "a"], "direct", a, "direct"),
        environment(["http_proxy": "", "HTTP_PROXY": "a"], a, "direct", "direct"),
        environment(["http_proxy": "", "HTTP_PROXY": "a", "REQUEST_METHOD": ""], "direct", "direct", "direct"),
        environment(["all_proxy": "", "ALL_PROXY": "b"], b, b, b),
        environment(["all_proxy": "b", "no_proxy": "", "NO_PROXY": "example"], "direct", "direct", "direct"),
        environment(["ALL_PROXY": "socks5h://s"], "socks5h://s:1080", "socks5h://s:1080", "socks5h://s:1080"),
        environment(["all_proxy": "b", "NO_PROXY": "example"], "direct", "direct", "direct"),
        environment(["all_proxy": "b", "no_proxy": "h.example."], "direct", "direct", "direct"),
        environment(["all_proxy": "b", "no_proxy": "., /8"], b, b, b),
        // A setting that names no valid proxy does not mean a direct connection.
        environment(["http_proxy": "htp://a"], "error http_proxy", "direct", "direct"),
        environment(["https_proxy": "a:99999", "all_proxy": "b"], b, "error https_proxy", b),
        environment(["all_proxy": "quic://a"], "error all_proxy", "error all_proxy", "error all_proxy"),
        environment(["all_proxy": "quic://a", "no_proxy": "*"], "direct", "direct", "direct"),
        Case(
            testDescription: "a resolver, and not the environment", environment: ["all_proxy": "b", "no_proxy": "*"],
            hasResolver: true, ways: ["ask", "ask", "ask"]),

        dictionary("{}", "direct", "direct", "direct"),
        dictionary("{}", "direct", "direct", "direct", hasResolver: true),
        dictionary(#"{"HTTPEnable": 1, "HTTPProxy": "A", "HTTPPort": 8080}"#, "http://a:8080", "direct", "direct"),
        dictionary(#"{"HTTPSEnable": true, "HTTPSProxy": "b"}"#, "direct", "http://b:80", "direct"),
        dictionary(#"{"FTPEnable": "1", "FTPProxy": "p", "FTPPort": "2"}"#, "direct", "direct", "http://p:2"),
        dictionary(#"{"HTTPSEnable": 1, "HTTPSProxy": "https://t:1"}"#, "direct", "https://t:1", "direct"),
        dictionary(#"{"HTTPProxy": "a"}"#, "direct", "direct", "direct"),
        dictionary(#"{"HTTPEnable": 0, "HTTPProxy": "a"}"#, "direct", "direct", "direct"),
        dictionary(
            #"{"HTTPEnable": 1, "HTTPProxy": "a", \#(socks)}"#, "http://a:80", "socks5h://s:9050", "socks5h://s:9050"),
        dictionary(
            #"{"kCFStreamPropertySOCKSVersion": "kCFStreamSocketSOCKSVersion4", \#(socks)}"#, "socks4a://s:9050",
            "socks4a://s:9050", "socks4a://s:9050"),
        dictionary(#"{"ExceptionsList": ["*.example"], \#(socks)}"#, "direct", "direct", "direct"),
        dictionary(#"{"ExcludeSimpleHostnames": 1, \#(socks)}"#, "direct", "direct", "direct", host: "printer"),
        // An enabled setting that names no valid proxy does not mean a direct connection.
        dictionary(#"{"HTTPEnable": 1, "HTTPProxy": "a", "HTTPPort": 70000}"#, "error HTTPPort", "direct", "direct"),
        dictionary(#"{"HTTPEnable": 1, "HTTPProxy": "a", "HTTPPort": "x"}"#, "error HTTPPort", "direct", "direct"),
        dictionary(#"{"HTTPSEnable": 1}"#, "direct", "error HTTPSProxy", "direct"),
        dictionary(#"{"FTPEnable": 1, "FTPProxy": 7}"#, "direct", "direct", "error FTPProxy"),
        dictionary(
            #"{"HTTPEnable": 1, "HTTPProxy": "quic://a", \#(socks)}"#, "error HTTPProxy", "socks5h://s:9050",
            "socks5h://s:9050"),

        dictionary("{\(script)}", "ask", "ask", "ask", hasResolver: true),
        dictionary("{\(script)}", "error proxyResolver", "error proxyResolver", "error proxyResolver"),
        dictionary(
            #"{"ProxyAutoConfigEnable": 1, "ProxyAutoConfigJavaScript": "x"}"#, "ask", "ask", "ask", hasResolver: true),
        dictionary(#"{"ExceptionsList": ["*.in"], \#(script)}"#, "direct", "direct", "direct", host: "host.in"),
        dictionary(
            #"{"ExceptionsList": ["*.in"], \#(script)}"#, "direct", "direct", "direct", hasResolver: true,
            host: "host.in"),
        dictionary(#"{"ProxyAutoConfigEnable": 1}"#, "error script", "error script", "error script", hasResolver: true),
    ]

    @Test(arguments: cases) func ways(_ row: Case) throws {
        let dictionary = try row.dictionary.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let rules = ProxyRules(
            dictionary: dictionary, hasResolver: row.hasResolver, environment: ProxyEnvironment(row.environment))
        for (scheme, expected) in zip(ProxyTarget.Scheme.allCases, row.ways) {
            let way: String
            do throws(LoadFailure) {
                switch try rules.answer(for: ProxyTarget(scheme, host: row.host, port: 80)) {
                case .proxy(let proxy): way = proxy?.description ?? "direct"
                case .ask: way = "ask"
                }
            } catch {
                let isSaid = expected.split(separator: " ").dropFirst().allSatisfy { error.description.contains($0) }
                way = isSaid && expected.hasPrefix("error") ? expected : error.description
            }
            #expect(way == expected, "\(scheme)")
        }
        #expect(row.ways.count == 3)
        if row.ways.contains(where: { $0 == "ask" || $0.contains("://") }) { #expect(rules.mayUseProxies) }
        #expect(rules.asksResolver || !row.ways.contains("ask"))
        #expect(rules.script == nil || rules.asksResolver)
        if row.ways == ["error script", "error script", "error script"] { #expect(!rules.mayUseProxies) }
    }

    /// Numbers and Booleans may be of any type; a URL is as good as its text.
    @Test func valuesOfSwift() throws {
        let rules = ProxyRules(dictionary: [
            kCFNetworkProxiesHTTPEnable: UInt8(1), kCFNetworkProxiesHTTPProxy: "a",
            kCFNetworkProxiesHTTPPort: UInt16(8080),
            kCFNetworkProxiesHTTPSEnable: NSNumber(value: true),
            kCFNetworkProxiesHTTPSProxy: try #require(URL(string: "http://b:1")),
        ])
        #expect(
            try rules.answer(for: ProxyTarget(.http, host: "h", port: 80))
                == .proxy(ProxyChoice("http://a:8080")?.server))
        #expect(
            try rules.answer(for: ProxyTarget(.https, host: "h", port: 443))
                == .proxy(ProxyChoice("http://b:1")?.server))
    }

    /// Settings have no environment before a session is made of them.
    @Test func settings() throws {
        var settings = SessionSettings.elsewhere
        settings.proxyEnvironment = nil
        let target = ProxyTarget(.http, host: "h", port: 80)
        #expect(try ProxyRules(settings).answer(for: target) == .proxy(nil))
        settings.proxyEnvironment = ProxyEnvironment(["http_proxy": "a"])
        #expect(try ProxyRules(settings).answer(for: target) == .proxy(ProxyChoice("http://a:1080")?.server))
    }

    /// The variables are read whenever they are asked for. In a process of its own, as other tests read the environment.
    @Test func theProgramsEnvironment() async {
        await #expect(processExitsWith: .success) {
            for name in [
                "http_proxy", "HTTPS_PROXY", "https_proxy", "FTP_PROXY", "ftp_proxy", "ALL_PROXY", "all_proxy",
            ] {
                unsetenv(name)
            }
            for name in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] { unsetenv(name) }
            setenv("HTTP_PROXY", "a", 1)
            setenv("https_proxy", "b", 1)
            setenv("HTTPS_PROXY", "c", 1)
            setenv("ftp_proxy", "", 1)
            setenv("FTP_PROXY", "d", 1)
            let before = ProxyEnvironment.ofProgram().variables
            setenv("REQUEST_METHOD", "GET", 1)
            let served = ProxyEnvironment.ofProgram().variables
            guard before == ["http_proxy": "a", "https_proxy": "b", "ftp_proxy": "d"],
                served == ["https_proxy": "b", "ftp_proxy": "d"]
            else { exit(1) }
        }
    }

    /// A user whose password is not named has an empty one.
    @Test(arguments: [nil, "b"]) func users(password: String?) throws {
        var dictionary: [AnyHashable: Any] = [
            kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "a", kCFProxyUsernameKey: "me",
        ]
        dictionary[kCFProxyPasswordKey] = password
        let answer = try ProxyRules(dictionary: dictionary).answer(for: ProxyTarget(.http, host: "h", port: 80))
        guard case .proxy(let proxy?) = answer else { throw LoadFailure(.unknown, "no proxy") }
        #expect(proxy.credential == Proxy.Credential(user: "me", password: password ?? ""))
    }

    /// The error does not show a password.
    @Test func errorsKeepCredentialsToThemselves() throws {
        let rules = ProxyRules(dictionary: nil, environment: ProxyEnvironment(["all_proxy": "quic://me:secret@p"]))
        do throws(LoadFailure) {
            _ = try rules.answer(for: ProxyTarget(.http, host: "h", port: 80))
            Issue.record("a proxy")
        } catch {
            #expect(!error.description.contains("secret"))
        }
    }
}
