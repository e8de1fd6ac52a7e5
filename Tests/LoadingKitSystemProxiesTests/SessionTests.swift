import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitSystemProxies
import TestSupport
import Testing

/// Sessions whose proxies a script from a server determines.
@Suite(.usesPeers) struct SessionTests {
    private static func session(_ script: String, _ options: SystemProxies.Options) -> URLSession {
        makeSession {
            $0.proxyResolver = SystemProxies(options)
            $0.connectionProxyDictionary = [
                kCFNetworkProxiesProxyAutoConfigEnable: true, kCFNetworkProxiesProxyAutoConfigURLString: script,
            ]
        }
    }

    /// A port where nothing listens, as long as the socket is held.
    private static func closedPort() throws -> (socket: ListeningSocket, port: UInt16) {
        let socket = try ListeningSocket(.ipv4())
        socket.shutDown()
        return (socket, try #require(socket.address.port))
    }

    @Test func theProxiesOfAScriptAreTriedInTurn() async throws {
        let proxy = try ScriptedPeer([.forever([.expectRequest, .respond("by the http proxy")])])
        let socks = try await onThread { try ProxyServer(.microsocks) }
        let server = try LoopbackServer { _ in .text("the server") }
        let ((socket, gone), http) = (try Self.closedPort(), proxy.address.port ?? 0)
        defer { withExtendedLifetime(socket) {} }
        let scripts = try LoopbackServer { _ in
            .text(
                """
                function FindProxyForURL(url, host) {
                    if (host == "one.example") return "PROXY 127.0.0.1:\(gone); PROXY 127.0.0.1:\(http); DIRECT";
                    if (url.substring(0, 5) == "http:") return "PROXY 127.0.0.1:\(gone); SOCKS5 127.0.0.1:\(socks.port); DIRECT";
                    return "PROXY 127.0.0.1:\(gone); DIRECT";
                }
                """)
        }
        defer {
            for stop in [proxy.stop, socks.stop, server.stop, scripts.stop] { stop() }
        }
        try await withTimeout {
            let session = Self.session(scripts.url("/proxy.pac"), try Libproxy.options())
            for _ in 0..<3 { #expect(try await session.text("http://one.example/") == "by the http proxy") }
            #expect(try await session.text(server.url("/", host: "localhost")) == "the server")
            // The script is loaded once, directly.
            #expect(scripts.requests.count == 1 && scripts.requests.snapshot.first?.target == "/proxy.pac")
        }
    }

    @Test func aScriptsServerThatAnswersElseIsAnError() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/long": .text(String(repeating: "//\n", count: 1_000_000))
            case "/throws": .text("function FindProxyForURL() { throw 'no idea' }")
            case _: .text("", status: 404)
            }
        }
        defer { server.stop() }
        let (socket, gone) = try Self.closedPort()
        defer { withExtendedLifetime(socket) {} }
        let cases = [
            (server.url("/gone"), "404"), (server.url("/long"), "more than 2097152 bytes"),
            (server.url("/throws"), "no idea"),
            ("http://127.0.0.1:\(gone)/p.pac", "no server listens"), ("file:///no/such/file", "file"),
        ]
        for (script, text) in cases {
            try await withTimeout {
                do {
                    _ = try await Self.session(script, try Libproxy.options()).text("http://h.example/")
                    Issue.record("\(script) gave proxies")
                } catch let error as URLError {
                    #expect(error.localizedDescription.contains(text), "\(error.localizedDescription)")
                }
            }
        }
    }

    @Test func aScriptsServerThatStallsIsGivenUp() async throws {
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfunc"), .hold,
        ])
        defer { peer.stop() }
        var options = try Libproxy.options()
        options.timeLimit = 0.3
        let (limited, url) = (options, peer.url("/p.pac"))
        try await withTimeout {
            do {
                _ = try await Self.session(url, limited).text("http://h.example/")
                Issue.record("half a script gave proxies")
            } catch let error as URLError {
                #expect(error.code == .timedOut)
            }
        }
    }

    @Test func manyLoadsTakeFewProcessesAndOneScript() async throws {
        let folder = try TemporaryFolder()
        try folder.writeProgram("#!/bin/sh\necho x >> \(folder.path)/count\nexec /usr/bin/proxy \"$@\"\n", to: "proxy")
        let proxy = try ScriptedPeer([.forever([.expectRequest, .respond("proxied")])])
        let http = proxy.address.port ?? 0
        let scripts = try LoopbackServer { _ in .text("function FindProxyForURL() { return 'PROXY 127.0.0.1:\(http)' }")
        }
        defer {
            proxy.stop()
            scripts.stop()
        }
        var options = try Libproxy.options()
        options.commandPaths = [folder.file("proxy").path]
        let (counting, url) = (options, scripts.url())
        try await withTimeout {
            let session = Self.session(url, counting)
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<200 {
                    group.addTask { try await session.text("http://h\(number % 5).example/\(number)") }
                }
                for try await text in group { #expect(text == "proxied") }
            }
        }
        #expect(scripts.requests.count == 1)
        let runs = try String(contentsOf: folder.file("count"), encoding: .utf8).split(separator: "\n").count
        // One for each server, and another for each that crashed.
        #expect((5...25).contains(runs))
    }
}
