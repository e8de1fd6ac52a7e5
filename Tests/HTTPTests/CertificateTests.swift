import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Certificates made on the spot, judged by OpenSSL's own verification in a handshake.
@Suite struct CertificateTests {
    /// The verdict on `identity` of a client that trusts `trusted` and expects `name`.
    private struct Handshake: Sendable {
        var what: String
        var identity: ServerIdentity
        var trusted: String
        var name = "localhost"
        /// A part of the error; nil where the handshake succeeds.
        var error: String?
    }

    private static func handshakes() throws -> [Handshake] {
        let authority = try CertificateAuthority()
        let other = try CertificateAuthority()
        let intermediate = try authority.intermediate()
        let lowest = try intermediate.intermediate(CertificateAuthority.authorityTemplate("Lowest"))
        let own = try ServerIdentity.selfSigned()
        let root = authority.certificatePEM
        var headless = try intermediate.issue()
        headless.certificatePEM = String(headless.certificatePEM.prefix(through: endOfFirst(headless.certificatePEM)))
        let wildcard = try authority.issue(.names("*.example.test"))
        let failed = "certificate verify failed"
        return [
            Handshake(what: "issued", identity: try authority.issue(), trusted: root),
            Handshake(what: "issued, by address", identity: try authority.issue(), trusted: root, name: "127.0.0.1"),
            Handshake(what: "issued, by IPv6 address", identity: try authority.issue(), trusted: root, name: "::1"),
            Handshake(what: "one intermediate", identity: try intermediate.issue(), trusted: root),
            Handshake(what: "two intermediates", identity: try lowest.issue(), trusted: root),
            Handshake(what: "an intermediate left out", identity: headless, trusted: root, error: failed),
            Handshake(what: "another root", identity: try other.issue(), trusted: root, error: failed),
            Handshake(what: "self-signed", identity: own, trusted: root, error: failed),
            Handshake(what: "self-signed and trusted", identity: own, trusted: own.certificatePEM),
            Handshake(what: "expired", identity: try authority.issue(.expired), trusted: root, error: failed),
            Handshake(what: "not valid yet", identity: try authority.issue(.notYetValid), trusted: root, error: failed),
            Handshake(what: "a client's", identity: try authority.issue(.client("me")), trusted: root, error: failed),
            Handshake(
                what: "another name", identity: try authority.issue(.names("a.test")), trusted: root, name: "b.test",
                error: failed),
            Handshake(what: "another address", identity: wildcard, trusted: root, name: "127.0.0.1", error: failed),
            Handshake(what: "a wildcard", identity: wildcard, trusted: root, name: "a.example.test"),
            Handshake(
                what: "a wildcard, too deep", identity: wildcard, trusted: root, name: "a.b.example.test", error: failed
            ),
        ]
    }

    private static func endOfFirst(_ pem: String) -> String.Index {
        pem.range(of: "-----END CERTIFICATE-----\n").map { pem.index(before: $0.upperBound) } ?? pem.startIndex
    }

    @Test func areWhatTheirTemplatesSay() async throws {
        for handshake in try Self.handshakes() {
            let peer = try ScriptedPeer([.readUntilClose], tls: TLSServerOptions(handshake.identity))
            defer { peer.stop() }
            let address = peer.address
            let error = try await withTimeout(handshake.what) {
                try await onThread { () -> String? in
                    do {
                        let context = try TLSClientContext(trusting: [handshake.trusted], checksName: true)
                        try LoopbackClient(address, tls: context, serverName: handshake.name).close()
                        return nil
                    } catch let error as OpenSSLError {
                        return error.description
                    }
                }
            }
            if let expected = handshake.error {
                #expect(error?.contains(expected) == true, "\(handshake.what): \(error ?? "accepted")")
            } else {
                #expect(error == nil, "\(handshake.what)")
            }
        }
    }

    @Test func goOutAsDER() throws {
        let authority = try CertificateAuthority()
        let chain = try authority.intermediate().issue().certificatesDER()
        #expect(chain.count == 2)
        // DER begins with a SEQUENCE whose length takes two bytes.
        for certificate in chain + [try authority.certificateDER()] {
            #expect(certificate.prefix(2) == [0x30, 0x82])
            #expect(certificate.count == 4 + Int(certificate[2]) << 8 + Int(certificate[3]))
        }
        #expect(throws: OpenSSLError.self) {
            try ServerIdentity(certificatePEM: "nonsense", privateKeyPEM: "nonsense").certificatesDER()
        }
        #expect(throws: OpenSSLError.self) {
            try authority.issue(CertificateTemplate(ipAddresses: ["nonsense"]))
        }
    }

    @Test func sessionsAreResumedWhereTheServerAllowsIt() async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        for version in [TLSVersion.v1_2, .v1_3] {
            for allowsResumption in [true, false] {
                var options = TLSServerOptions(identity)
                options.minimumVersion = version
                options.maximumVersion = version
                options.allowsResumption = allowsResumption
                let resumed = try await facts(options, trusting: authority, connections: 2).map(\.isResumed)
                #expect(resumed == [false, allowsResumption], "\(version)")
            }
        }
    }

    @Test func clientsIdentifyThemselvesWhenAsked() async throws {
        let authority = try CertificateAuthority()
        let client = try authority.issue(.client("somebody"))
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: ["x", "http/1.1"])
        options.clientAuthoritiesPEM = [authority.certificatePEM]
        let anonymous = try await facts(options, trusting: authority)
        #expect(anonymous.map(\.peerCertificateDER) == [nil])
        let identified = try await facts(options, trusting: authority, identity: client)
        let certificates = try client.certificatesDER()
        #expect(identified.map(\.peerCertificateDER) == [certificates[0]])
        #expect(identified.map(\.applicationProtocol) == ["http/1.1"])
        options.requiresClientCertificate = true
        let turnedAway = try await facts(options, trusting: authority)
        #expect(turnedAway == [])
        options.applicationProtocols = ["h2"]
        let withoutProtocol = try await facts(options, trusting: authority, identity: client)
        #expect(withoutProtocol == [])
    }

    /// The protocols that the server's side agreed on, for connections made one after another; failures are left out.
    private func facts(
        _ options: TLSServerOptions, trusting authority: CertificateAuthority, identity: ServerIdentity? = nil,
        connections: Int = 1
    ) async throws -> [TLSFacts] {
        let peer = try ScriptedPeer([.expectBytes(1), .send("x")], tls: options)
        defer { peer.stop() }
        let address = peer.address
        let root = authority.certificatePEM
        return try await withTimeout {
            try await onThread {
                let context = try TLSClientContext(trusting: [root], identity: identity)
                for _ in 0..<connections {
                    guard let client = try? LoopbackClient(address, tls: context) else { continue }
                    // A server that refuses the client's certificate says so only after TLS 1.3's handshake.
                    try? client.send("x")
                    _ = try? client.receiveAll()
                    client.close()
                }
            }
            // Ends may be noted in another order.
            await peer.endedCount(reaches: connections)
            return peer.connections.compactMap(\.tls)
        }
    }
}
