import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A load of a folder reports lines that could not be read.
@Suite struct ListingLoadTests {
    private func listing(_ accept: String, _ faults: [FaultyFTPServer.Fault]) async throws -> Data {
        let server = try FaultyFTPServer(faults)
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url("/"))))
        request.setValue(accept, forHTTPHeaderField: "Accept")
        return try await session.data(for: request).0
    }

    /// Lines behind the entries are not entries.
    private static let surplus = FaultyFTPServer.Fault(step: "MLSD", act: .moreData(3))

    @Test(arguments: [0, 1]) func json(_ count: Int) async throws {
        let data = try await listing("application/json", Array(repeating: Self.surplus, count: count))
        let value = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(value["unreadableLines"] as? Int == count)
        #expect((value["entries"] as? [Any])?.count == 2)
    }

    @Test(arguments: [0, 1]) func page(_ count: Int) async throws {
        let data = try await listing("text/html", Array(repeating: Self.surplus, count: count))
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("1 line of the server's listing could not be read") == (count == 1))
    }

    /// Servers that refuse to list a folder that has no entries.
    @Test(arguments: ["450 nothing here", "550 No files found"], [false, true])
    func emptyFolder(_ reply: String, isProtected: Bool) async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: [])
        let tls = FaultyFTPServer.TLS(try TLSServerContext(options), isImplicit: true)
        let fault = FaultyFTPServer.Fault(step: "MLSD", act: .reply(reply + "\r\n"))
        let server = try FaultyFTPServer([fault], tls: isProtected ? tls : nil)
        defer { server.stop() }
        let session = makeFTPSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url("/folder/"))))
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        for count in [0, 2] {
            let (data, response) = try await session.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            let value = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect((value["entries"] as? [Any])?.count == count && value["unreadableLines"] as? Int == 0)
        }
        // With TLS the server may say more about the data connection's handshake.
        #expect(server.steps.filter { $0 == "PASS" }.count == (isProtected ? 2 : 1))
    }
}
