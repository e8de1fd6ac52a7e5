import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// For tests whose one body runs over HTTP/1.1 and HTTP/2.
enum BothVersions {
    static let all = ["http/1.1", "h2"]

    /// Calls `body` with a server that speaks this version alone, and a session that trusts it.
    static func withServer(
        _ version: String, _ route: @escaping LoopbackServer.Route,
        delegate: (any URLSessionDelegate)? = nil, on loop: EventLoop = .next(),
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        tls change: (inout TLSServerOptions) -> Void = { _ in },
        body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: [version])
        change(&options)
        let server = try LoopbackServer(LoopbackServer.Options(tls: options), route: route)
        defer { server.stop() }
        let session = makeSession(delegate: delegate, on: loop) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout(version) { try await body(session, server) }
    }

    static func request(
        _ server: LoopbackServer, _ path: String, _ method: String = "GET", body: Data? = nil, isStreamed: Bool = false
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url(path, host: "localhost"))))
        request.httpMethod = method
        if isStreamed { request.httpBodyStream = body.map { InputStream(data: $0) } } else { request.httpBody = body }
        return request
    }
}

/// The versions of TLS that both sides speak, for tests that run over each.
enum TLSGeneration: CaseIterable {
    case tls12, tls13

    var version: TLSVersion {
        switch self {
        case .tls12: .v1_2
        case .tls13: .v1_3
        }
    }
}
