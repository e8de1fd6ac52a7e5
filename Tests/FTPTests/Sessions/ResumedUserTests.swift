import Foundation
import LoadingKit
import TestSupport
import Testing

/// As whom an interrupted download goes on, and that nothing else is loaded as that user.
@Suite(.usesPeers) struct ResumedUserTests {
    /// A session in which alice, whom the URL named, has read `/who.txt` and begun to read `/large.bin`.
    private func withResumeData(
        _ body: (ScenarioRun, URLSession, Data) async throws -> Void
    ) async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, .none)
        defer { run.server.stop() }
        let session = run.makeSession()
        defer { session.invalidateAndCancel() }
        #expect(try await run.load("/who.txt", in: session) == Array("alice".utf8))
        var data: Data?
        // All of it may have come before the delegate is told of the first bytes, where the machine is busy.
        for _ in 0..<20 where data == nil {
            let watcher = Watcher { $0.suspend() }
            let task = session.downloadTask(with: try run.request("/large.bin"))
            task.delegate = watcher
            task.resume()
            await watcher.began.wait()
            data = await task.cancelByProducingResumeData()
        }
        try await body(run, session, try #require(data))
    }

    @Test func aResumedDownloadGoesOnAsItsUser() async throws {
        try await withResumeData { run, session, data in
            let text = String(decoding: data, as: UTF8.self)
            #expect(!text.contains(run.server.user) && !text.contains(run.server.password))
            let (file, response) = try await session.download(resumeFrom: data)
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(Array(try Data(contentsOf: file)) == ScenarioRun.large)
            #expect((response as? HTTPURLResponse)?.statusCode == 206)
        }
    }

    @Test(arguments: ["\"5-0\"", "\"0\""]) func aRangeOfNobodysIsNotReadAsTheLastReader(_ tag: String) async throws {
        try await withResumeData { run, session, _ in
            for path in ["/who.txt", "/large.bin"] {
                let request = try run.request(path, fields: ["Range": "bytes=0-", "If-Range": tag], credential: "")
                #expect(await session.outcome(request) == .failed(.userAuthenticationRequired), "\(path)")
            }
        }
    }

    /// The word of resume data means something to its own session, for the server that it was made for.
    @Test func resumeDataOfAnotherSessionOrServerNamesNobody() async throws {
        try await withResumeData { run, session, data in
            let other = run.makeSession()
            defer { other.invalidateAndCancel() }
            await #expect(throws: URLError.self) { _ = try await other.download(resumeFrom: data) }
            let elsewhere = try FaultyFTPServer()
            defer { elsewhere.stop() }
            let port = ":\(run.server.port)/"
            let changed = String(decoding: data, as: UTF8.self).replacing(
                "ftp://localhost\(port)large.bin", with: elsewhere.url())
            _ = try? await session.download(resumeFrom: Data(changed.utf8))
            #expect(elsewhere.commands.contains("USER anonymous"))
            #expect(!elsewhere.commands.contains { $0.contains("alice") })
        }
    }
}
