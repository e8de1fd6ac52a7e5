import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The files of trusted authorities change while a session lives.
@Suite(.usesPeers) struct ChangedAuthoritiesTests {
    @Test(arguments: [FTPServerProcess.Security.explicit, .implicit])
    func newConnections(_ security: FTPServerProcess.Security) async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, security)
        defer { run.server.stop() }
        let other = try CertificateAuthority()
        let folder = try TemporaryFolder()
        let file = try folder.write(other.certificatePEM, to: "roots.pem").path
        let session = run.makeSession { $0.tlsTrustRoots = .file(path: file) }
        defer { session.invalidateAndCancel() }
        let unknown = FTPOutcome.failed(.serverCertificateHasUnknownRoot)
        let changes = [(other, unknown), (run.authority, .loaded(ScenarioRun.text)), (other, unknown)]
        for (authority, outcome) in changes {
            try folder.write(authority.certificatePEM, to: "roots.pem")
            await session.reset()
            #expect(await session.outcome(try run.request("/a.txt")) == outcome)
        }
    }
}
