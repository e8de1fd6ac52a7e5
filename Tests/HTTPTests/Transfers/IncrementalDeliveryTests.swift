import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// `prefersIncrementalDelivery`, and the text of a body.
@Suite struct IncrementalDeliveryTests {
    private static let pieces: LoopbackServer.Route = { request in
        .stream { writer in
            for number in 0..<50 { try writer.write("piece \(number) ") }
            if request.path == "/cut" { throw CancellationError() }
        }
    }
    private static let whole = (0..<50).map { "piece \($0) " }.joined()

    @Test(arguments: BothVersions.all) func aDelegateMayGetTheBodyWhole(_ version: String) async throws {
        let delegate = TransferRecorder()
        try await BothVersions.withServer(version, Self.pieces, delegate: delegate) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            #expect(task.prefersIncrementalDelivery)
            task.prefersIncrementalDelivery = false
            task.resume()
            #expect(await delegate.all() == ["response", "data", "metrics", "complete ok"])
            #expect(delegate.files.snapshot == [Data(Self.whole.utf8)])
        }
    }

    @Test func aBodyThatIsCutIsNotDelivered() async throws {
        let delegate = TransferRecorder()
        try await BothVersions.withServer("http/1.1", Self.pieces, delegate: delegate) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/cut"))
            task.prefersIncrementalDelivery = false
            task.resume()
            #expect(await delegate.all() == ["response", "metrics", "complete -1005"])
        }
    }

    @Test func aWholeBodyHasTheLimitOfCollectedOnes() async throws {
        let delegate = TransferRecorder()
        try await BothVersions.withServer("http/1.1", Self.pieces, delegate: delegate) {
            $0.maximumCollectedBodySize = 100
        } body: { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            task.prefersIncrementalDelivery = false
            task.resume()
            #expect(await delegate.all() == ["response", "metrics", "complete -1103"])
        }
    }

    @Test func whatIsAskedForByDefault() async throws {
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        #expect(session.dataTask(with: url).prefersIncrementalDelivery)
        #expect(!session.dataTask(with: url) { _, _, _ in }.prefersIncrementalDelivery)
        #expect(!session.downloadTask(with: url).prefersIncrementalDelivery)
        let task = session.dataTask(with: url) { _, _, _ in }
        task.prefersIncrementalDelivery = true
        #expect(task.prefersIncrementalDelivery)
    }

    @Test(arguments: BothVersions.all) func aBodyIsReadAsText(_ version: String) async throws {
        let text = "Grüße, e\u{301} 👨‍👩‍👧 \r\n"
        let bytes = Array(text.utf8) + [0xff]
        let route: LoopbackServer.Route = { _ in .stream { writer in for byte in bytes { try writer.write([byte]) } } }
        try await BothVersions.withServer(version, route) { session, server in
            let request = try BothVersions.request(server, "/")
            let expected = text + "\u{fffd}"
            var scalars = String.UnicodeScalarView()
            for try await scalar in try await session.bytes(for: request).0.unicodeScalars { scalars.append(scalar) }
            #expect(String(scalars) == expected)
            var characters: [Character] = []
            for try await character in try await session.bytes(for: request).0.characters {
                characters.append(character)
            }
            #expect(characters == Array(expected))
        }
    }

    /// A proxy looks them up, and does not say more.
    @Test func namesThatMustBeValidatedGoThroughNoProxy() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        try await withTimeout {
            let address = try #require(URL(string: server.url("/a")))
            let proxies: [AnyHashable: Any] = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": try #require(address.port),
                "ExceptionsList": ["127.0.0.1"],
            ]
            func session(_ isStrict: Bool) -> URLSession {
                makeSession {
                    $0.requiresDNSSECValidation = isStrict
                    $0.connectionProxyDictionary = proxies
                    $0.appTransportSecurity.allowsArbitraryLoads = true
                }
            }
            let (strict, other) = (session(true), session(false))
            defer { for session in [strict, other] { session.invalidateAndCancel() } }
            // An address is not looked up.
            #expect(await strict.outcome(URLRequest(url: address)) == .loaded(status: 200, body: "hello"))
            var request = URLRequest(url: try #require(URL(string: "http://name.example/a")))
            #expect(await strict.outcome(request) == .failed(.dnsLookupFailed))
            #expect(await other.outcome(request) == .loaded(status: 200, body: "hello"))
            request.requiresDNSSECValidation = true
            #expect(await other.outcome(request) == .failed(.dnsLookupFailed))
        }
    }
}
