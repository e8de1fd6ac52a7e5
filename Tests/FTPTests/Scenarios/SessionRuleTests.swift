import Foundation
import LoadingKit
import TestSupport
import Testing

/// The rules of a session or a request for every load also apply to `ftp` and `ftps`.
@Suite(.usesPeers) struct SessionRuleTests {
    @Test func namesThatMustBeValidatedGoThroughNoProxy() async throws {
        let session = makeFTPSession {
            $0.connectionProxyDictionary = ["FTPEnable": 1, "FTPProxy": "127.0.0.1", "FTPPort": 1]
        }
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: "ftps://host.test/file.txt")))
        request.requiresDNSSECValidation = true
        #expect(await session.outcome(request) == .failed(.dnsLookupFailed))
    }

    @Test(arguments: [FTPServerProcess.Security.explicit, .implicit])
    func aServerWithAnotherKeyThanThePinnedOnesGetsNoPassword(_ security: FTPServerProcess.Security) async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, security)
        defer { run.server.stop() }
        let session = run.makeSession {
            $0.appTransportSecurity.pinnedDomains["localhost"] = .init(leaves: [Data(repeating: 7, count: 32)])
        }
        defer { session.invalidateAndCancel() }
        #expect(await session.outcome(try run.request("/a.txt")) == .failed(.serverCertificateUntrusted))
        let other = run.makeSession()
        defer { other.invalidateAndCancel() }
        #expect(try await run.load("/a.txt", in: other) == ScenarioRun.text)
    }
}
