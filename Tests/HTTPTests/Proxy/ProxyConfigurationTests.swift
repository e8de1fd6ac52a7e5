import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// `proxyConfigurations`: which servers are reached through which proxy.
@Suite struct ProxyConfigurationTests {
    private static func proxy(named name: String) throws -> ScriptedPeer {
        try ScriptedPeer([.forever([.expectRequest, .respond(name)])])
    }

    private static func endpoint(_ peer: ScriptedPeer) throws -> NWEndpoint {
        .hostPort(host: "127.0.0.1", port: NWEndpoint.Port(rawValue: try #require(peer.address.port)))
    }

    private static func session(_ configurations: [ProxyConfiguration]) -> URLSession {
        makeSession {
            $0.connectionProxyDictionary = nil
            $0.appTransportSecurity.allowsArbitraryLoads = true
            $0.proxyConfigurations = configurations
        }
    }

    @Test func theDomainsDecide() async throws {
        let (one, two) = (try Self.proxy(named: "one"), try Self.proxy(named: "two"))
        defer {
            one.stop()
            two.stop()
        }
        let server = try LoopbackServer { _ in .text("direct") }
        defer { server.stop() }
        var first = ProxyConfiguration(httpCONNECTProxy: try Self.endpoint(one))
        first.matchDomains = ["one.example", "Bücher.example"]
        first.excludedDomains = ["not.one.example", ".Keine.bücher.example."]
        first.applyCredential(username: "user", password: "password")
        var second = ProxyConfiguration(httpCONNECTProxy: try Self.endpoint(two))
        second.matchDomains = ["example"]
        let configurations = [first, second]
        try await withTimeout {
            let session = Self.session(configurations)
            defer { session.invalidateAndCancel() }
            #expect(session.configuration.proxyConfigurations == configurations)
            #expect(await session.outcome(of: "http://a.one.example/") == .ok("one"))
            #expect(await session.outcome(of: "http://not.one.example/") == .ok("two"))
            #expect(await session.outcome(of: "http://someone.example/") == .ok("two"))
            #expect(await session.outcome(of: "http://www.xn--bcher-kva.example/") == .ok("one"))
            #expect(await session.outcome(of: "http://bücher.example/") == .ok("one"))
            #expect(await session.outcome(of: "http://keine.xn--bcher-kva.example/") == .ok("two"))
            #expect(await session.outcome(of: server.url("/")) == .ok("direct"))
        }
        #expect(await one.receivedRequest(0)?.target == "http://a.one.example/")
    }

    @Test func aProxyThatCannotBeReachedIsFollowedByTheNext() async throws {
        let dead = NWEndpoint.hostPort(
            host: "127.0.0.1", port: NWEndpoint.Port(rawValue: try RefusingPort.keepOne()))
        let (two, server) = (try Self.proxy(named: "two"), try LoopbackServer { _ in .text("direct") })
        defer {
            two.stop()
            server.stop()
        }
        var failing = ProxyConfiguration(socksv5Proxy: dead)
        let next = ProxyConfiguration(httpCONNECTProxy: try Self.endpoint(two))
        let (closed, both) = (failing, [failing, next])
        failing.allowFailover = true
        let open = failing
        try await withTimeout {
            #expect(await Self.session(both).outcome(of: "http://h.example/") == .ok("two"))
            #expect(await Self.session([open]).outcome(of: server.url("/")) == .ok("direct"))
            await #expect(throws: URLError.self) {
                try await Self.session([closed]).data(from: try #require(URL(string: server.url("/"))))
            }
        }
    }

    @Test func relaysAreRefused() async throws {
        let server = try LoopbackServer { _ in .text("direct") }
        defer { server.stop() }
        let hop = ProxyConfiguration.RelayHop(http2RelayEndpoint: .hostPort(host: "127.0.0.1", port: 1))
        var relay = ProxyConfiguration(relayHops: [hop])
        relay.allowFailover = true
        let session = Self.session([relay])
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url("/")))
        try await withTimeout {
            await #expect(throws: URLError.self) { try await session.data(from: url) }
        }
    }
}
