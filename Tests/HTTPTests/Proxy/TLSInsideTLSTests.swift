import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A server's TLS inside a proxy's TLS, with peers that are slow or misbehave.
@Suite struct TLSInsideTLSTests {
    private static let connected: ScriptedPeer.Step = .send("HTTP/1.1 200 OK\r\n\r\n")

    private static func withPeer(
        _ steps: (TLSServerOptions) -> [ScriptedPeer.Step], trustsServer: Bool = true, version: TLSVersion? = nil,
        body: @escaping @Sendable (URLSession, ScriptedPeer) async throws -> Void
    ) async throws {
        let (authority, other) = (try CertificateAuthority(), try CertificateAuthority())
        let outer = TLSServerOptions(try authority.issue())
        let inner = TLSServerOptions(try (trustsServer ? authority : other).issue())
        let peer = try ScriptedPeer([.expectRequest, connected] + steps(inner), tls: outer)
        defer { peer.stop() }
        let session = makeSession {
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "https://localhost:\(peer.address.port ?? 0)",
            ]
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, peer) }
    }

    private static func request(_ path: String = "/") throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "https://localhost\(path)")))
    }

    /// Both layers send each byte in its own record. The connection is kept.
    @Test func smallRecords() async throws {
        try await Self.withPeer {
            [
                .startTLS($0), .expectRequest,
                .sendByteByByte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nslow!"), .expectRequest, .respond("again"),
            ]
        } body: { session, peer in
            let outcome1 = await session.outcome(try Self.request("/1"))
            #expect(outcome1 == .ok("slow!"))
            let outcome2 = await session.outcome(try Self.request("/2"))
            #expect(outcome2 == .ok("again"))
            let requests = await peer.requestCount(reaches: 3)
            #expect(requests.map(\.target) == ["localhost:443", "/1", "/2"])
            #expect(requests.map(\.connection) == [0, 0, 0])
        }
    }

    /// A slow reader stops both layers, and goes on.
    @Test func backpressure() async throws {
        let count = 24 << 20
        try await Self.withPeer {
            [
                .startTLS($0), .expectRequest,
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"),
                .send([UInt8](repeating: 7, count: count)), .hold,
            ]
        } body: { session, _ in
            let (bytes, _) = try await session.bytes(for: try Self.request())
            var total = 0
            for try await byte in bytes { total += byte == 7 ? 1 : 0 }
            #expect(total == count)
        }
    }

    /// The records of the outer layer are sent together, and those of the inner one are in them.
    @Test func upload() async throws {
        let body = Data((0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 / 251) })
        try await Self.withPeer {
            [.startTLS($0), .expectRequest, .respond("stored")]
        } body: { session, peer in
            var request = try Self.request()
            request.httpMethod = "PUT"
            let (answer, _) = try await session.upload(for: request, from: body)
            #expect(String(decoding: answer, as: UTF8.self) == "stored")
            let received = await peer.requestCount(reaches: 2).last?.body
            #expect(received.map { Data($0) == body } == true)
        }
    }

    /// The server's TLS ends without `close_notify`: the response is truncated, though the proxy's TLS ends with one.
    @Test func truncation() async throws {
        try await Self.withPeer {
            [
                .startTLS($0), .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart"),
                .closeWithoutNotify,
            ]
        } body: { session, _ in
            let outcome3 = await session.outcome(try Self.request())
            #expect(outcome3 == .failed(.networkConnectionLost))
        }
    }

    @Test func aServerThatIsNotTrusted() async throws {
        try await Self.withPeer({ [.startTLS($0), .hold] }, trustsServer: false) { session, _ in
            let outcome = await session.outcome(try Self.request())
            #expect(
                outcome == .failed(.serverCertificateHasUnknownRoot) || outcome == .failed(.serverCertificateUntrusted))
        }
    }

    /// The proxy forwards bytes that are not TLS.
    @Test func noTLSInside() async throws {
        try await Self.withPeer({ _ in [.expectAnything, .send("SSH-2.0\r\n"), .hold] }) { session, _ in
            let outcome4 = await session.outcome(try Self.request())
            #expect(outcome4 == .failed(.secureConnectionFailed))
        }
    }

    /// The proxy asks who the client is when the tunnel is open, and gets no certificate.
    @Test func aCertificateRequestOutside() async throws {
        try await Self.withPeer {
            [.startTLS($0), .expectRequest, .askForCertificateOutside, .respond("in"), .readUntilClose]
        } body: { session, _ in
            let outcome = await session.outcome(try Self.request())
            #expect(outcome == .ok("in"))
        }
    }

    /// The session closes in order: `close_notify` to the server, then to the proxy.
    @Test func closing() async throws {
        try await Self.withPeer({ [.startTLS($0), .expectRequest, .respond("one"), .readUntilClose] }) {
            session, peer in
            let outcome5 = await session.outcome(try Self.request())
            #expect(outcome5 == .ok("one"))
            session.finishTasksAndInvalidate()
            await peer.endedCount(reaches: 1)
        }
    }
}
