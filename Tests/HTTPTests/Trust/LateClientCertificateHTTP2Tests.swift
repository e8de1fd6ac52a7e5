import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Servers that ask over HTTP/2 who the client is when the handshake is over, which HTTP/2 does not allow (RFC 9113 §9.2.3).
@Suite struct LateClientCertificateHTTP2Tests {
    private typealias Step = ScriptedPeer.Step

    private static func frames(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        write(&output)
        return output
    }

    /// The head of a request without a body, or of one with.
    private static func expectHead(_ stream: UInt8, hasBody: Bool = false) -> Step {
        .expectThrough([1, hasBody ? 4 : 5, 0, 0, 0, stream])
    }

    private static let settings = Step.send(frames { HTTP2FrameEncoder.settings([], to: &$0) })

    private static func answer(_ stream: UInt32, _ body: String) -> Step {
        let number = HTTP2StreamID(rawValue: stream)
        return .send(
            frames { output in
                // `:status: 200` is number 8 of HPACK's static table.
                [UInt8(0x88)].withUnsafeBytes {
                    HTTP2FrameEncoder.headers($0, stream: number, endStream: false, to: &output)
                }
                HTTP2FrameEncoder.dataHeader(
                    length: body.utf8.count, stream: number, endStream: true, to: &output)
                output += Array(body.utf8)
            })
    }

    /// The behaviour of the next connection.
    private static let good = [expectHead(1), settings, answer(1, "good"), .readUntilClose]

    private static func withPeer(
        _ script: [Step], delegate: TrustAnswerer,
        _ body: @escaping @Sendable (URLSession, ScriptedPeer, URLRequest) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2"])
        let peer = try ScriptedPeer(scripts: [script, good], tls: tls)
        defer { peer.stop() }
        let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "https://localhost:\(peer.address.port ?? 0)/"))
        try await withTimeout { try await body(session, peer, URLRequest(url: url)) }
        // Nobody was asked.
        #expect(Set(delegate.methods) == ["ServerTrust"])
    }

    private static func delegate() throws -> TrustAnswerer {
        let ada = try LateClientCertificateTests.identity(try CertificateAuthority(), "Ada")
        return LateClientCertificateTests.answerer { LateClientCertificateTests.credential(ada) }
    }

    @Test("the connection's only request fails, and the error says what the server may do; the next is unharmed")
    func first() async throws {
        try await Self.withPeer(
            [Self.expectHead(1), Self.settings, .askForCertificate, .readUntilClose], delegate: try Self.delegate()
        ) { session, peer, request in
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(error?.code == .secureConnectionFailed)
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("§9.2.3") && text.contains("HTTP_1_1_REQUIRED"), "\(text)")
            await peer.endedCount(reaches: 1)
            #expect(await session.outcome(request) == .ok("good"))
            #expect(peer.connections.count == 2)
        }
    }

    @Test("a later request is sent again where that does no harm", arguments: ["GET", "POST"])
    func later(method: String) async throws {
        try await Self.withPeer(
            [
                Self.expectHead(1), Self.settings, Self.answer(1, "first"),
                Self.expectHead(3, hasBody: method == "POST"), .askForCertificate, .readUntilClose,
            ], delegate: try Self.delegate()
        ) { session, peer, request in
            #expect(await session.outcome(request) == .ok("first"))
            var next = request
            next.httpMethod = method
            if method == "POST" { next.httpBody = Data("x".utf8) }
            let outcome = await session.outcome(next)
            #expect(outcome == (method == "GET" ? .ok("good") : .failed(.secureConnectionFailed)))
            await peer.endedCount(reaches: 1)
        }
    }

    @Test("a connection that nobody uses is closed, and no load hears of it")
    func idle() async throws {
        let asks = Signal()
        try await Self.withPeer(
            [
                Self.expectHead(1), Self.settings, Self.answer(1, "first"), .waitFor(asks), .askForCertificate,
                .readUntilClose,
            ], delegate: try Self.delegate()
        ) { session, peer, request in
            #expect(await session.outcome(request) == .ok("first"))
            asks.fire()
            await peer.endedCount(reaches: 1)
            #expect(await session.outcome(request) == .ok("good"))
        }
    }
}
