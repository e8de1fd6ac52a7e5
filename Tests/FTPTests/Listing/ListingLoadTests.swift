import Foundation
import LoadingKit
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
}
