import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Servers that end data connections without TLS's close_notify. For OpenSSL that is a failure, after which it does not resume
/// the connection's own session.
@Suite struct DataWithoutNotifyTests {
    @Test(arguments: [false, true]) func furtherDownloadsResumeTheSession(requiresResumption: Bool) async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: [])
        let fault = FaultyFTPServer.Fault(step: "RETR", act: .dataWithoutNotify(.max))
        let server = try FaultyFTPServer(
            [fault, fault],
            tls: .init(try TLSServerContext(options), isImplicit: true, requiresResumption: requiresResumption))
        defer { server.stop() }
        let session = makeFTPSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        for _ in 0..<3 { #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file)) }
        #expect(server.hasFailed && server.steps.filter { $0 == "PASS" }.count == 1)
    }
}
