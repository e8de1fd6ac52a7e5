import Foundation
import LoadingKit
import Testing

@testable import LoadingKitSystemProxies

/// What scripts and libproxy say, without either.
@Suite struct AnswerTests {
    private static let four = ProxyChoice(.http, host: "p", port: 80)

    @Test(arguments: [
        ("DIRECT", [ProxyChoice.direct]), ("", [.direct]), (" ; ", [.direct]),
        (
            "PROXY a:1; SOCKS5 B:2; DIRECT",
            [ProxyChoice(.http, host: "a", port: 1), ProxyChoice(.socks5, host: "b", port: 2), .direct]
        ),
        ("proxy p", [four]), ("HTTPS p", [ProxyChoice(.https, host: "p", port: 443)]),
        ("SOCKS [::1]:9;PROXY p:80", [ProxyChoice(.socks5, host: "::1", port: 9), four]),
        ("SOCKS4 s", [ProxyChoice(.socks4, host: "s", port: 1080)]),
        ("QUIC q:1; PROXY p:80", [four]), ("PROXY p:0; PROXY p:99999; PROXY p:x; PROXY [::1; PROXY p", [four]),
    ]) func scriptsNameWays(_ text: String, _ choices: [ProxyChoice]) throws {
        #expect(try ScriptAnswer.choices(text) == choices)
    }

    @Test(arguments: ["undefined", "PROXY", "QUIC q:1", "PROXY a b", "DIRECT 1"])
    func whatNamesNoWayIsAnError(_ text: String) {
        #expect(throws: SystemProxyError.unusableChoices(text)) { try ScriptAnswer.choices(text) }
    }

    private static func settings(_ text: String, errors: String = "", discovery: Bool = false) throws -> [ProxyChoice] {
        try LibproxyAnswer(CommandOutput(text: text, errors: errors, status: 0), allowsAutoDiscovery: discovery).choices
    }

    @Test func libproxyNamesWays() throws {
        #expect(
            try Self.settings("http://u:p%40@P:1 socks://[::1]:2 https://q socks4://r quic://s direct://\n") == [
                ProxyChoice(.http, host: "p", port: 1, user: "u", password: "p@"),
                ProxyChoice(.socks5, host: "::1", port: 2), ProxyChoice(.https, host: "q", port: 443),
                ProxyChoice(.socks4, host: "r", port: 1080), .direct,
            ])
    }

    /// libproxy says `direct://` in each of these cases.
    @Test func whatLibproxyCouldNotDoIsAnError() {
        let cases: [(String, SystemProxyError)] = [
            ("Config is: \n\tpac+http://s/p.pac\nUnable to download PAC!\n", .scriptNotLoaded("http://s/p.pac")),
            ("Unable to find a required pacrunner!\n", .noScriptRunner),
            ("Pacrunner returned: \n", .scriptFailed("it gave nothing")),
        ]
        for (errors, expected) in cases {
            #expect(throws: expected) { try Self.settings("direct://\n", errors: errors) }
        }
        let status = SystemProxyError.unusableAnswer("it ended with status 0")
        #expect(throws: status) { try Self.settings("\n") }
        #expect(throws: SystemProxyError.unusableAnswer("quic://s")) { try Self.settings("quic://s") }
    }

    @Test func aNetworksScriptIsUsedWhereThatIsAllowed() throws {
        let errors = "Config is: \n\twpad://\nTrying to find the PAC using WPAD...\n"
        #expect(try Self.settings("http://evil:1", errors: errors) == [.direct])
        #expect(
            try Self.settings("http://found:1", errors: errors, discovery: true)
                == [ProxyChoice(.http, host: "found", port: 1)])
    }

    /// What a web server's client sends as `Proxy` is not taken for a proxy.
    @Test func aRequestDoesNotChooseTheProxy() {
        let served = LibproxyEnvironment.forSettings(["REQUEST_METHOD": "GET", "HTTP_PROXY": "evil", "http_proxy": "p"])
        #expect(served["HTTP_PROXY"] == nil && served["http_proxy"] == "p")
        #expect(LibproxyEnvironment.forSettings(["HTTP_PROXY": "mine"])["HTTP_PROXY"] == "mine")
        let script = LibproxyEnvironment.forScript(["https_proxy": "p", "no_proxy": "*", "SECRET": "s", "PATH": "/bin"])
        #expect(script["SECRET"] == nil && script["no_proxy"] == nil && script["https_proxy"] == nil)
        #expect(script["PATH"] == "/bin")
    }
}
