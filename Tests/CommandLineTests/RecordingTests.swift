import Foundation
import LoadingKitHAR
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import loadkit

/// `--har`, and `LOADKIT_HAR`.
@Suite(.timeLimit(.minutes(5))) struct RecordingTests {
    private func lines(_ file: URL) throws -> [String] {
        try HARLog(contentsOf: file).entries.map { entry in
            "\(entry.request.method) \(URL(string: entry.request.url)?.path ?? "") \(entry.response.status)"
        }
    }

    @Test func allTransfersAreInOneFile() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write("old", to: "t.har")
        for _ in 0..<2 {
            let run = try await ToolRun(
                [
                    "--har", "t.har", "-u", "joe:hidden", server.url("/old"), server.url("/digest"), "--next",
                    "--har", "t.har", "-d", "password=hidden", server.url("/digits"),
                ], folder: folder)
            #expect(run.status == 0, "\(run.errors)")
            // Each run replaces the file.
            #expect(
                try lines(folder.file("t.har")) == [
                    "GET /old 302", "GET /echo 200", "GET /digest 401", "GET /digest 200", "POST /digits 200",
                ])
        }
        let text = try String(contentsOf: folder.file("t.har"), encoding: .utf8)
        #expect(text.contains("password=(redacted)") && !text.contains("hidden"))
        let failed = try await ToolRun(["--har", "none/t.har", server.url("/digits")], folder: folder)
        #expect(failed.status == 23 && failed.errors.contains("none/t.har: the recording cannot be written"))
        #expect(failed.text.isEmpty)
    }

    /// The environment's file is for all programs that run, at once and one after the other.
    @Test func programsAddToTheEnvironmentsFile() async throws {
        let server = try LoopbackServer(route: CurlServer.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let urls = (0..<10).map { server.url("/digits?\(number)-\($0)") }
                    let run = try await ToolRun(urls, folder: folder, environment: ["LOADKIT_HAR": "all.har"])
                    #expect(run.status == 0, "\(run.errors)")
                }
            }
            try await group.waitForAll()
        }
        let entries = try HARLog(contentsOf: folder.file("all.har")).entries
        #expect(Set(entries.map(\.request.url)).count == 40 && entries.count == 40)
        // A file that is none of these is not changed, and loads go on.
        try folder.write("mine", to: "other")
        let run = try await ToolRun([server.url("/digits")], folder: folder, environment: ["LOADKIT_HAR": "other"])
        #expect(run.text == CurlServer.digits && run.errors.contains("LOADKIT_HAR: "))
        #expect(try String(contentsOf: folder.file("other"), encoding: .utf8) == "mine")
    }
}
