import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Connections over Multipath TCP (RFC 8684).
@Suite struct MultipathTests {
    private typealias Service = URLSessionConfiguration.MultipathServiceType

    /// The metrics of one request.
    private static func metrics(
        _ url: String, _ service: Service, _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws -> URLSessionTaskTransactionMetrics {
        let session = makeSession {
            $0.multipathServiceType = service
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        let recorder = TransferRecorder()
        let request = URLRequest(url: try #require(URL(string: url)))
        let (body, _) = try await session.data(for: request, delegate: recorder)
        #expect(body == Data("hello".utf8))
        return try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.last)
    }

    /// Where the system has no Multipath TCP, the relay speaks TCP, and so do the connections to it.
    @Test(arguments: [Service.none, .handover, .interactive, .aggregate])
    func aServerThatSpeaksIt(_ service: URLSessionConfiguration.MultipathServiceType) async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let relay = try MultipathRelay(to: try #require(server.address.port))
        defer { relay.stop() }
        try await withTimeout {
            let metrics = try await Self.metrics("http://127.0.0.1:\(relay.port)/", service)
            #expect(metrics.isMultipath == (MultipathRelay.isThere && service != .none))
            #expect(metrics.remotePort == "\(relay.port)" && metrics.localAddress == "127.0.0.1")
        }
    }

    /// TLS that begins in a proxy's tunnel does not change what the connection is.
    @Test func aProxyThatSpeaksIt() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: authority.issue()) { _ in .text("hello") }
        defer { server.stop() }
        let proxy = try RelayProxy(.http)
        defer { proxy.stop() }
        let relay = try MultipathRelay(to: proxy.port)
        defer { relay.stop() }
        let pem = authority.certificatePEM
        try await withTimeout {
            let metrics = try await Self.metrics(server.url("/", host: "localhost"), .handover) {
                $0.connectionProxyDictionary = [
                    "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(relay.port),
                ]
                $0.tlsTrustRoots = .pem(pem)
            }
            #expect(metrics.isProxyConnection && metrics.secureConnectionEndDate != nil)
            #expect(metrics.isMultipath == MultipathRelay.isThere)
        }
    }

    @Test func aServerThatDoesNot() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        try await withTimeout {
            let metrics = try await Self.metrics(server.url("/"), .handover)
            #expect(!metrics.isMultipath && metrics.connectEndDate != nil)
        }
    }
}
