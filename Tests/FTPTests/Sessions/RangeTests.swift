import Foundation
import LoadingKit
import TestSupport
import Testing

/// Ranges of a file, as an HTTP server would answer them.
@Suite struct RangeTests {
    private static let size = FaultyFTPServer.file.count

    private static func load(
        _ range: String, _ server: FaultyFTPServer, _ session: URLSession
    ) async throws -> (Data, HTTPURLResponse) {
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.setValue(range, forHTTPHeaderField: "Range")
        let (data, response) = try await session.data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }

    @Test(arguments: ["bytes=\(size)-", "bytes=\(size + 1)-\(size + 9)", "bytes=-0"])
    func aRangeThatTheFileDoesNotHave(_ range: String) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let (data, answer) = try await Self.load(range, server, session)
            #expect(answer.statusCode == 416 && data.isEmpty && answer.expectedContentLength == 0)
            #expect(answer.value(forHTTPHeaderField: "Content-Range") == "bytes */\(Self.size)")
            #expect(!server.steps.contains("RETR"))
            // The server is still there for others.
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        }
    }

    /// A suffix can be satisfied whatever the file's length is (RFC 9110 §14.1.2). Another range of an empty file cannot.
    @Test(arguments: [("bytes=-5", 200), ("bytes=0-", 416)])
    func aRangeOfAnEmptyFile(_ range: String, _ status: Int) async throws {
        let server = try FaultyFTPServer([
            .init(step: "SIZE", act: .reply("213 0\r\n")), .init(step: "RETR", act: .cutData(0)),
        ])
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let (data, answer) = try await Self.load(range, server, session)
            #expect(answer.statusCode == status && data.isEmpty && answer.expectedContentLength == 0)
        }
    }

    /// The range is of another version of the file.
    @Test func aRangeWhoseConditionFailsIsTheWholeFile() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.setValue("bytes=\(Self.size)-", forHTTPHeaderField: "Range")
        request.setValue("\"other\"", forHTTPHeaderField: "If-Range")
        #expect(await session.outcome(request) == .loaded(FaultyFTPServer.file))
    }
}
