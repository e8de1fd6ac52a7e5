import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Connections and TLS sessions belong to the rules that a server was verified by: two sessions, and two hosts of one session,
/// that have other rules share none.
@Suite struct TrustSharingTests {
    private typealias Pins = AppTransportSecurity.PinnedDomain

    /// A server below an intermediate authority.
    private struct World: Sendable {
        let root: CertificateAuthority
        let middle: CertificateAuthority
        let leaf: ServerIdentity

        init() throws {
            root = try CertificateAuthority()
            middle = try root.intermediate()
            leaf = try middle.issue()
        }

        func hash(_ pem: String) -> Set<Data> {
            (try? X509Certificate(pemRepresentation: pem)).map { [$0.publicKeySHA256] } ?? []
        }
    }

    /// The difference between the second session and the first.
    private struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var isRefused = false
        let apply: @Sendable (URLSessionConfiguration, World) throws -> Void
    }

    private static let changes = [
        Change(testDescription: "nothing") { _, _ in },
        Change(testDescription: "pins") {
            $0.appTransportSecurity.pinnedDomains = ["localhost": Pins(leaves: $1.hash($1.leaf.certificatePEM))]
        },
        Change(testDescription: "other pins") {
            $0.appTransportSecurity.pinnedDomains = ["localhost": Pins(authorities: $1.hash($1.root.certificatePEM))]
        },
        Change(testDescription: "wrong pins", isRefused: true) {
            $0.appTransportSecurity.pinnedDomains = ["localhost": Pins(leaves: $1.hash($1.root.certificatePEM))]
        },
        Change(testDescription: "a list") { $0.tlsRevocationLists = [.der(Data(try $1.middle.revocationList()))] },
        Change(testDescription: "a list that has it", isRefused: true) {
            $0.tlsRevocationLists = [.der(Data(try $1.middle.revocationList(of: [$1.leaf.certificatePEM])))]
        },
        Change(testDescription: "other authorities") { $0.tlsTrustRoots = .pem($1.middle.certificatePEM) },
        Change(testDescription: "authorities that are not the server's", isRefused: true) { configuration, _ in
            configuration.tlsTrustRoots = .pem(try CertificateAuthority().certificatePEM)
        },
        Change(testDescription: "no verification") { configuration, _ in
            configuration.tlsVerifiesServer = false
        },
    ]

    private static func load(_ session: URLSession, _ server: LoopbackServer, host: String = "localhost") async throws
        -> Outcome
    {
        await session.outcome(URLRequest(url: try #require(URL(string: server.url("/", host: host)))))
    }

    private static func with(
        _ version: String, _ world: World, _ tls: TLSGeneration = .tls13,
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        try await BothVersions.withServer(version) { request in
            .text("\(request.connection)\(request.tls?.isResumed == true ? " resumed" : "")")
        } _: {
            $0.tlsTrustRoots = .pem(world.root.certificatePEM)
            configure($0)
        } tls: {
            $0.identity = world.leaf
            $0.maximumVersion = tls.version
        } body: {
            try await body($0, $1)
        }
    }

    @Test("two sessions", arguments: BothVersions.all, TLSGeneration.allCases)
    func sessions(version: String, tls: TLSGeneration) async throws {
        let world = try World()
        for change in Self.changes {
            try await Self.with(version, world, tls) { session, server in
                #expect(try await Self.load(session, server) == .ok("0"))
                let configuration = session.configuration
                try change.apply(configuration, world)
                let other = URLSession(configuration: configuration)
                defer { other.invalidateAndCancel() }
                let outcome = try await Self.load(other, server)
                if change.isRefused {
                    #expect(!outcome.isLoaded, "\(change.testDescription)")
                    #expect(server.requests.count == 1)
                } else {
                    #expect(outcome == .ok("1"), "\(change.testDescription)")
                }
                // Each goes on with its own.
                #expect(try await Self.load(session, server) == .ok("0"))
                #expect(try await Self.load(other, server) == outcome)
                // That the server can resume a session: the first session's own.
                await session.forget()
                guard case .loaded(_, let text) = try await Self.load(session, server) else {
                    Issue.record("not loaded")
                    return
                }
                #expect(text.hasSuffix(" resumed"), "\(change.testDescription): \(text)")
            }
        }
    }

    /// A certificate for both names would let HTTP/2 send requests for one over the connection of the other (RFC 9113 §9.1.1).
    @Test("two hosts of one server, with one certificate", arguments: BothVersions.all)
    func hosts(version: String) async throws {
        let world = try World()
        let pins = ["localhost": Pins(leaves: world.hash(world.root.certificatePEM))]
        for isPinned in [false, true] {
            try await Self.with(version, world) {
                if isPinned { $0.appTransportSecurity.pinnedDomains = pins }
            } _: { session, server in
                #expect(try await Self.load(session, server, host: "127.0.0.1") == .ok("0"))
                let outcome = try await Self.load(session, server)
                #expect(outcome == (isPinned ? .failed(.serverCertificateUntrusted) : .ok("1")))
                #expect(server.requests.count == (isPinned ? 1 : 2))
            }
        }
    }
}

extension Outcome {
    fileprivate var isLoaded: Bool { if case .loaded = self { true } else { false } }
}
