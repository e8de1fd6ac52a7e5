import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitSystemProxies
import TestSupport
import Testing

/// The desktop's settings, and the environment's, as libproxy finds them.
@Suite(.usesPeers) struct SystemSettingsTests {
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

    /// KDE's file of settings, in a temporary home folder.
    @Test func theDesktopsSettingsNameProxies() async throws {
        let home = try TemporaryFolder()
        let environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.path, "KDE_FULL_SESSION": "true"]
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/kreadconfig5") else {
            throw MissingProgram(program: "kreadconfig5", aptPackage: "libkf5config-bin libproxy1-plugin-kconfig")
        }
        var options = try Libproxy.options(environment)
        options.scriptLifetime = 0
        let proxies = SystemProxies(options)
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
        // "Automatic" stands for a script that the network offers, which the program has not permitted.
        try home.write("[Proxy Settings]\nProxyType=3\n", to: "kioslaverc")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [.direct])
        let script = "function FindProxyForURL() { return \"PROXY one.example:3128; DIRECT\"; }"
        let server = try LoopbackServer { _ in .text(script) }
        defer { server.stop() }
        try home.write("[Proxy Settings]\nProxyType=2\nProxy Config Script=\(server.url("/p.pac"))\n", to: "kioslaverc")
        #expect(try await proxies.proxies(for: Libproxy.query()) == [Self.one, .direct])
        // The script's server has ended: libproxy returns `direct://`.
        server.stop()
        await #expect(throws: URLError.self) {
            try await proxies.proxies(for: Libproxy.query())
        }
    }

    /// GNOME's settings, in a temporary file.
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

    /// A script that the network offers is not used for the environment's settings either.
    @Test func autoDiscoveryIsOff() async throws {
        let options = try Libproxy.options(["http_proxy": "wpad://"])
        #expect(try await SystemProxies(options).proxies(for: Libproxy.query()) == [.direct])
    }

    /// A command that writes what libproxy 0.5 does: its debugging output on the standard output. Where it would go on to look
    /// for a script it waits, as it does for a network that does not answer.
    private static func options05(_ config: [String], _ answer: String, in folder: TemporaryFolder) throws
        -> SystemProxies.Options
    {
        let lines = ["url=$1 online=1"] + config.enumerated().map { "Config[\($0)] = \($1)" }
        let waits = config.contains { $0.hasPrefix("wpad:") || $0.hasPrefix("pac+") }
        try folder.writeProgram(
            """
            #!/bin/sh
            [ "$http_proxy" = pac+file:///dev/stdin ] && exec /usr/bin/proxy "$@"
            [ -n "$PX_DEBUG" ] || { echo "\(answer)"; exit; }
            \(lines.map { "echo; echo \"(process:$$): pxbackend-DEBUG: 10:00:00.000: px_manager_get_proxies_sync: \($0)\"" }.joined(separator: "\n"))
            \(waits ? "exec sleep 1000" : "echo \"\(answer)\"")

            """, to: "proxy")
        var options = SystemProxies.Options()
        options.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        options.timeLimit = 100
        options.commandPaths = [folder.file("proxy").path]
        return options
    }

    @Test func libproxy05NamesWays() async throws {
        let folder = try TemporaryFolder()
        let options = try Self.options05(["http://one.example:3128"], "http://one.example:3128", in: folder)
        #expect(try await SystemProxies(options).proxies(for: Libproxy.query()) == [Self.one])
        let none = try Self.options05([], "direct://", in: folder)
        #expect(try await SystemProxies(none).proxies(for: Libproxy.query()) == [.direct])
    }

    /// A script that the network offers is neither used nor searched for.
    @Test func libproxy05DoesNotDiscover() async throws {
        let folder = try TemporaryFolder()
        let options = try Self.options05(["wpad://"], "http://evil:1", in: folder)
        try await withTimeout {
            let choices = try await SystemProxies(options).proxies(for: Libproxy.query())
            #expect(choices == [.direct])
        }
    }

    /// A script that cannot be fetched is an error, and one that can is run.
    @Test func libproxy05LeavesScriptsToThePlugin() async throws {
        _ = try Libproxy.options()
        let folder = try TemporaryFolder()
        let server = try LoopbackServer { request in
            request.path == "/p.pac"
                ? .text("function FindProxyForURL() { return \"PROXY one.example:3128; DIRECT\"; }")
                : .text("no", status: 404)
        }
        defer { server.stop() }
        let options = try Self.options05(["pac+" + server.url("/p.pac")], "direct://", in: folder)
        try await withTimeout {
            let choices = try await SystemProxies(options).proxies(for: Libproxy.query())
            #expect(choices == [Self.one, .direct])
        }
        let gone = try Self.options05(["pac+" + server.url("/gone")], "direct://", in: folder)
        try await withTimeout {
            await #expect(throws: SystemProxyError.scriptStatus(404, url: server.url("/gone"))) {
                try await SystemProxies(gone).proxies(for: Libproxy.query())
            }
        }
    }
}
