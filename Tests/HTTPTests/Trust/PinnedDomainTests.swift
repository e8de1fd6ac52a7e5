import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Public keys that the configuration or the Info.plist pins.
@Suite(.usesPeers) struct PinnedDomainTests {
    private typealias Pins = AppTransportSecurity.PinnedDomain

    private static let route: LoopbackServer.Route = { request in
        request.path == "/ws" ? .webSocket(request) { try $0.echo() } : .text("\(request.connection)")
    }
    private static let refused = Outcome.failed(.serverCertificateUntrusted)
    private static let wrong: Set<Data> = [Data(repeating: 7, count: 32)]

    private static func pin(_ pem: String) throws -> Set<Data> {
        [try X509Certificate(pemRepresentation: pem).publicKeySHA256]
    }

    /// A server below an intermediate authority.
    private struct World {
        let root: CertificateAuthority
        let middle: CertificateAuthority
        let leaf: ServerIdentity

        init() throws {
            root = try CertificateAuthority()
            middle = try root.intermediate()
            leaf = try middle.issue()
        }

        func with(
            _ version: String = "http/1.1", pins: [String: AppTransportSecurity.PinnedDomain],
            delegate: (any URLSessionDelegate)? = nil, _ configure: (URLSessionConfiguration) -> Void = { _ in },
            tls change: (inout TLSServerOptions) -> Void = { _ in },
            _ body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
        ) async throws {
            try await BothVersions.withServer(version, PinnedDomainTests.route, delegate: delegate) {
                $0.tlsTrustRoots = .pem(root.certificatePEM)
                $0.appTransportSecurity.pinnedDomains = pins
                configure($0)
            } tls: {
                $0.identity = leaf
                change(&$0)
            } body: {
                try await body($0, $1)
            }
        }
    }

    @Test(arguments: BothVersions.all) func pins(version: String) async throws {
        let world = try World()
        let leaf = try Self.pin(world.leaf.certificatePEM)
        let middle = try Self.pin(world.middle.certificatePEM)
        let root = try Self.pin(world.root.certificatePEM)
        let cases: [(String, [String: Pins], Bool)] = [
            ("leaf", ["localhost": Pins(leaves: leaf)], true),
            ("one of several", ["localhost": Pins(leaves: leaf.union(Self.wrong))], true),
            ("intermediate", ["localhost": Pins(authorities: middle)], true),
            ("root, which the server does not send", ["localhost": Pins(authorities: root)], true),
            ("both", ["localhost": Pins(authorities: root, leaves: leaf)], true),
            ("wrong leaf", ["localhost": Pins(leaves: Self.wrong)], false),
            ("wrong authority", ["localhost": Pins(authorities: Self.wrong)], false),
            ("the leaf is no authority", ["localhost": Pins(authorities: leaf)], false),
            ("an authority is no leaf", ["localhost": Pins(leaves: middle)], false),
            ("both, one wrong", ["localhost": Pins(authorities: root, leaves: Self.wrong)], false),
            ("in capitals", ["LocalHost": Pins(leaves: Self.wrong)], false),
            ("another host's", ["example.com": Pins(leaves: Self.wrong)], true),
            ("none", ["localhost": Pins()], true),
            ("no hash", ["localhost": Pins(leaves: [Data()])], false),
        ]
        for (what, pins, isLoaded) in cases {
            try await world.with(version, pins: pins) { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == (isLoaded ? .ok("0") : Self.refused), "\(what)")
                #expect(server.requests.count == (isLoaded ? 1 : 0), "\(what)")
            }
        }
    }

    @Test func subdomains() {
        var policy = AppTransportSecurity()
        policy.pinnedDomains = [
            "example.com": Pins(includesSubdomains: true, leaves: [Data([1])]),
            "sub.example.com": Pins(leaves: [Data([2])]), "other.org": Pins(leaves: [Data([3])]),
            "Bücher.example": Pins(includesSubdomains: true, leaves: [Data([4])]),
            "b.xn--bcher-kva.example": Pins(includesSubdomains: true, leaves: [Data([5])]),
            "a.b.bücher.example": Pins(leaves: [Data([6])]), "Müller.example.": Pins(leaves: [Data([7])]),
            // No domains of URLs.
            "köln.example:443": Pins(leaves: [Data([8])]), "a@köln.example": Pins(leaves: [Data([9])]),
        ]
        let expected: [String: UInt8] = [
            "example.com": 1, "example.com.": 1, "EXAMPLE.com": 1, "a.example.com": 1, "a.b.example.com": 1,
            "sub.example.com": 2, "x.sub.example.com": 1, "other.org": 3, "www.other.org": 0,
            "notexample.com": 0,
            // In URLs, names of other scripts are in ASCII. Of stream tasks they are as the program has written them.
            "xn--bcher-kva.example": 4, "www.XN--bcher-kva.example.": 4, "BÜCHER.example": 4,
            "b.xn--bcher-kva.example": 5, "a.b.xn--bcher-kva.example": 6, "c.b.bücher.example": 5,
            "xn--mller-kva.example": 7, "www.xn--mller-kva.example": 0, "xn--kcher-kva.example": 0,
            "xn--kln-sna.example": 0, "köln.example": 0,
        ]
        for (host, pin) in expected {
            let leaves: Set<Data>? = pin == 0 ? nil : [Data([pin])]
            #expect(policy.pins(of: host)?.leaves == leaves, "\(host)")
        }
    }

    @Test("the Info.plist's words; a mistake does not turn pinning off")
    func dictionary() throws {
        let hash = Data(repeating: 9, count: 32)
        let good: [String: Any] = ["SPKI-SHA256-BASE64": hash.base64EncodedString()]
        let policy = AppTransportSecurity(dictionary: [
            "NSPinnedDomains": [
                "a.test": ["NSIncludesSubdomains": true, "NSPinnedCAIdentities": [good]] as [String: Any],
                "b.test": ["NSPinnedLeafIdentities": [good, ["SPKI-SHA256-BASE64": "???"]]],
                "c.test": ["NSPinnedLeafIdentities": "oops"], "d.test": [:] as [String: Any], "e.test": "oops",
                "f.test": ["NSIncludesSubdomains": "YES", "NSPinnedLeafIdentities": [good]] as [String: Any],
            ] as [String: Any]
        ])
        #expect(policy.pinnedDomains["a.test"] == Pins(includesSubdomains: true, authorities: [hash]))
        #expect(policy.pinnedDomains["b.test"] == Pins(leaves: [hash, Data()]))
        #expect(policy.pinnedDomains["c.test"]?.leaves == [Data()])
        #expect(policy.pins(of: "d.test") == nil && policy.pins(of: "x.a.test") != nil)
        #expect(policy.pins(of: "e.test")?.leaves == [Data()] && policy.pins(of: "x.e.test")?.leaves == [Data()])
        #expect(policy.pins(of: "x.f.test")?.leaves == [hash])
    }

    @Test("no delegate can have a server accepted that lacks the pins, nor can a session that verifies nothing")
    func delegates() async throws {
        let world = try World()
        let answers: [TrustAnswerer] = [.accepting(), TrustAnswerer { _ in (.performDefaultHandling, nil) }]
        for delegate in answers {
            try await world.with(pins: ["localhost": Pins(leaves: Self.wrong)], delegate: delegate) { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == Self.refused)
                #expect(delegate.challenges.count == 0 && server.requests.count == 0)
            }
        }
        try await world.with(pins: ["localhost": Pins(leaves: Self.wrong)]) {
            $0.tlsVerifiesServer = false
        } _: { session, server in
            let outcome = await session.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == Self.refused)
        }
    }

    @Test("of a chain that is not trusted, an authority counts as far as the signatures are right")
    func untrusted() async throws {
        let world = try World()
        // Somebody else's certificate, with the pinned authority's behind it.
        let forged = try CertificateAuthority(
            CertificateAuthority.authorityTemplate("LoadingKit Loopback Intermediate CA")
        ).issue()
        let pins = ["localhost": Pins(authorities: try Self.pin(world.middle.certificatePEM))]
        let stranger = try CertificateAuthority().certificatePEM
        for (isForged, expected) in [(false, Outcome.ok("0")), (true, Self.refused)] {
            let delegate = TrustAnswerer.accepting()
            try await world.with(pins: pins, delegate: delegate) {
                $0.tlsTrustRoots = .pem(stranger)
            } tls: {
                guard isForged else { return }
                $0.identity = ServerIdentity(
                    certificatePEM: forged.certificatePEM + world.middle.certificatePEM,
                    privateKeyPEM: forged.privateKeyPEM)
            } _: { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == expected)
            }
        }
    }

    @Test(
        "two sessions with other pins share nothing, and a resumed session has fulfilled them",
        arguments: BothVersions.all)
    func sessions(version: String) async throws {
        let world = try World()
        let pins = ["localhost": Pins(leaves: try Self.pin(world.leaf.certificatePEM))]
        try await world.with(version, pins: pins) { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("0"))
            await session.forget()
            #expect(await session.outcome(request) == .ok("1"))
            #expect(server.requests.snapshot.last?.tls?.isResumed == true)
            let configuration = session.configuration
            configuration.appTransportSecurity.pinnedDomains = ["localhost": Pins(leaves: Self.wrong)]
            let other = URLSession(configuration: configuration)
            defer { other.invalidateAndCancel() }
            #expect(await other.outcome(request) == Self.refused)
        }
    }

    @Test("WebSockets, stream tasks and tunnels") func otherTasks() async throws {
        let world = try World()
        let right = ["localhost": Pins(leaves: try Self.pin(world.leaf.certificatePEM))]
        for (pins, isLoaded) in [(right, true), (["localhost": Pins(leaves: Self.wrong)], false)] {
            try await world.with(pins: pins) { session, server in
                let task = session.webSocketTask(with: try WebSocketServing.url(server, "/ws"))
                task.resume()
                do {
                    try await task.send(.string("x"))
                    try await expect(task, "x")
                    #expect(isLoaded)
                } catch let error as URLError {
                    #expect(!isLoaded && error.code == .serverCertificateUntrusted)
                }
                task.cancel()
                let stream = session.streamTask(withHostName: "localhost", port: Int(server.address.port ?? 0))
                stream.resume()
                stream.startSecureConnection()
                do {
                    try await stream.write(Data("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), timeout: 60)
                    let (data, _) = try await stream.readData(ofMinLength: 1, maxLength: 99, timeout: 60)
                    #expect(isLoaded && data?.starts(with: Data("HTTP/1.1 200".utf8)) == true)
                } catch let error as URLError {
                    #expect(!isLoaded && error.code == .serverCertificateUntrusted)
                }
                stream.cancel()
            }
            let proxy = try await onThread { try ProxyServer(.tinyproxy) }
            defer { proxy.stop() }
            let dictionary: [String: any Sendable] = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
            ]
            try await world.with(pins: pins) {
                $0.connectionProxyDictionary = dictionary
            } _: { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == (isLoaded ? .ok("0") : Self.refused))
            }
        }
    }
}
