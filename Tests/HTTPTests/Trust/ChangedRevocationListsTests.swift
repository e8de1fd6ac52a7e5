import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The files of lists of revoked certificates change while a session lives.
@Suite struct ChangedRevocationListsTests {
    @Test(arguments: BothVersions.all) func newConnections(_ version: String) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        let options = TLSServerOptions(identity, applicationProtocols: [version])
        let server = try LoopbackServer(LoopbackServer.Options(tls: options)) { _ in .text("a") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let (empty, full) = (
            try authority.revocationList(), try authority.revocationList(of: [identity.certificatePEM])
        )
        let file = try folder.write(empty, to: "lists.der").path
        let session = makeSession {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.tlsRevocationLists = [.file(path: file)]
        }
        defer { session.invalidateAndCancel() }
        let request = try BothVersions.request(server, "/")
        let (loaded, revoked) = (Outcome.ok("a"), Outcome.failed(.serverCertificateUntrusted))
        try await withTimeout {
            #expect(await session.outcome(request) == loaded)
            try folder.write(full, to: "lists.der")
            // An open connection stays in use.
            #expect(await session.outcome(request) == loaded)
            await session.reset()
            #expect(await session.outcome(request) == revoked)
            // The lists that were read before apply while the file cannot be read.
            for broken in [nil, Array(full.dropLast(10)), []] as [[UInt8]?] {
                if let broken { try folder.write(broken, to: "lists.der") } else { unlink(file) }
                await session.reset()
                #expect(await session.outcome(request) == revoked)
            }
            try folder.write(empty, to: "lists.der")
            await session.reset()
            #expect(await session.outcome(request) == loaded)
        }
    }
}
