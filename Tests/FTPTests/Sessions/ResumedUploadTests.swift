import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// An upload reads nothing from its data connection, and so none of the tickets that the server sends there.
@Suite struct ResumedUploadTests {
    @Test(arguments: [false, true]) func moreUploadsThanTicketsResumeTheSession(isTLS13: Bool) async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: [])
        options.maximumVersion = isTLS13 ? .v1_3 : .v1_2
        let server = try FaultyFTPServer(
            tls: .init(try TLSServerContext(options), isImplicit: true, requiresResumption: true))
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsTrustRoots = .pem(authority.certificatePEM)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.httpMethod = "PUT"
        for _ in 0..<5 {
            let (_, response) = try await session.upload(for: request, from: Data("abc".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 201)
        }
        #expect(server.steps.filter { $0 == "PASS" }.count == 1)
    }
}
