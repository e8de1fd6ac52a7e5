import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitSystemProxies
import TestSupport
import Testing

/// The desktop's settings, and the environment's, as libproxy finds them.
@Suite struct SystemSettingsTests {
    private static let one = ProxyChoice(.http, host: "one.example", port: 3128)

    @Test func theEnvironmentNamesProxies() async throws {
        let cases: [([String: String], String, [ProxyChoice])] = [
            ([:], "http://h.example:80", [.direct]),
            (["http_proxy": "http://one.example:3128"], "http://h.example:80", [Self.one]),
            (["http_proxy": "http://one.example:3128"], "https://h.example:443", [Self.one]),
            (["http_proxy": "http://one.example:3128", "no_proxy": "h.example"], "http://h.example:80", [.direct]),
            (
                ["https_proxy": "http://u:p@one.example:3128"], "https://h.example:443",
                [ProxyChoice(.http, host: "one.example", port: 3128, user: "u", password: "p")]
            ),
            (["http_proxy": "socks5://s:1"], "http://h.example:80", [ProxyChoice(.socks5, host: "s", port: 1)]),
            (["HTTP_PROXY": "http://one.example:3128"], "http://h.example:80", [Self.one]),
            (["HTTP_PROXY": "http://evil:1", "REQUEST_METHOD": "GET"], "http://h.example:80", [.direct]),
        ]
        for (environment, url, expected) in cases {
            let choices = try await SystemProxies(try Libproxy.options(environment)).proxies(for: Libproxy.query(url))
            #expect(choices == expected, "\(environment)")
        }
    }

    /// KDE's file of settings, in a home folder of the test's.
    @Test func theDesktopsSettingsNameProxies() async throws {
        let home = try TemporaryFolder()
        let environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.path, "KDE_FULL_SESSION": "true"]
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/kreadconfig5") else {
            throw MissingProgram(program: "kreadconfig5", aptPackage: "libkf5config-bin libproxy1-plugin-kconfig")
        }
        let proxies = SystemProxies(try Libproxy.options(environment))
        let settings =
            "ProxyType=1\nhttpProxy=http://one.example 3128\nhttpsProxy=http://two.example 1\nNoProxyFor=x.example"
        try home.write("[Proxy Settings]\n\(settings)\n", to: "kioslaverc")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [Self.one])
        #expect(
            try await proxies.proxies(for: Libproxy.query("https://h.example:443"))
                == [ProxyChoice(.http, host: "two.example", port: 1)])
        #expect(try await proxies.proxies(for: Libproxy.query("http://x.example:80")) == [.direct])
        // The user changes them.
        try home.write("[Proxy Settings]\nProxyType=0\n", to: "kioslaverc")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [.direct])
        // "Automatic" is what the network offers, which nobody has asked for.
        try home.write("[Proxy Settings]\nProxyType=3\n", to: "kioslaverc")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [.direct])
        let script = "function FindProxyForURL() { return \"PROXY one.example:3128; DIRECT\"; }"
        let server = try LoopbackServer { _ in .text(script) }
        defer { server.stop() }
        try home.write("[Proxy Settings]\nProxyType=2\nProxy Config Script=\(server.url("/p.pac"))\n", to: "kioslaverc")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [Self.one, .direct])
        // The script's server is gone: libproxy says `direct://`.
        server.stop()
        await #expect(throws: SystemProxyError.scriptNotLoaded(server.url("/p.pac"))) {
            try await proxies.proxies(for: Libproxy.query())
        }
    }

    /// GNOME's settings, in a file of the test's.
    @Test func gnomesSettingsNameProxies() async throws {
        let schemas = "/usr/share/glib-2.0/schemas/gschemas.compiled"
        guard FileManager.default.fileExists(atPath: schemas) else {
            throw MissingProgram(
                program: schemas, aptPackage: "gsettings-desktop-schemas libproxy1-plugin-gsettings")
        }
        let home = try TemporaryFolder()
        let environment = [
            "HOME": home.path, "XDG_CONFIG_HOME": home.path, "DESKTOP_SESSION": "gnome", "GSETTINGS_BACKEND": "keyfile",
        ]
        let proxies = SystemProxies(try Libproxy.options(environment))
        func set(_ settings: String) throws {
            try home.write("[system/proxy]\n\(settings)\n", to: "glib-2.0/settings/keyfile")
        }
        let http = "[system/proxy/http]\nhost='one.example'\nport=3128"
        let socks = "[system/proxy/socks]\nhost='s.example'\nport=1"
        try set("mode='manual'\nignore-hosts=['x.example']\n\(http)\n\(socks)")
        #expect(try await proxies.proxies(for: Libproxy.query()).first == Self.one)
        #expect(try await proxies.proxies(for: Libproxy.query("http://x.example:80")) == [.direct])
        #expect(
            try await proxies.proxies(for: Libproxy.query("https://h.example:443")).first
                == ProxyChoice(.socks5, host: "s.example", port: 1))
        try set("mode='none'\n\(http)")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [.direct])
        let script = "function FindProxyForURL() { return \"PROXY one.example:3128; DIRECT\"; }"
        let server = try LoopbackServer { _ in .text(script) }
        defer { server.stop() }
        try set("mode='auto'\nautoconfig-url='\(server.url("/p.pac"))'")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [Self.one, .direct])
    }

    /// What the network offers is used neither by the environment's wish.
    @Test func autoDiscoveryIsOff() async throws {
        let options = try Libproxy.options(["http_proxy": "wpad://"])
        #expect(try await SystemProxies(options).proxies(for: Libproxy.query()) == [.direct])
    }
}
