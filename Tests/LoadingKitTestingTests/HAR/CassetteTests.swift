import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import Testing

@Suite struct CassetteTests {
    enum Result: Sendable { case records, replays, fails }

    static let rows: [(HARCassette.Mode, String?, Bool, Result)] = [
        (.automatic, nil, false, .records), (.automatic, nil, true, .replays), (.automatic, "1", true, .records),
        (.automatic, "0", false, .fails), (.automatic, "0", true, .replays), (.automatic, "", false, .records),
        (.replayUnlessTold, nil, false, .fails), (.replayUnlessTold, nil, true, .replays),
        (.replayUnlessTold, "1", true, .records), (.replay, "1", true, .replays), (.replay, "1", false, .fails),
        (.record, "0", true, .records),
    ]

    @Test(arguments: rows)
    func mode(_ mode: HARCassette.Mode, _ variable: String?, _ fileExists: Bool, _ expected: Result) throws {
        let folder = try TemporaryFolder()
        let file = folder.file("x.har")
        if fileExists { try HARLog().write(to: file) }
        let cassette = HARCassette(file, environment: variable.map { [HARCassette.environmentVariable: $0] } ?? [:])
        do {
            switch try cassette.install(in: .ephemeral, mode: mode) {
            case .records: #expect(expected == .records)
            case .replays: #expect(expected == .replays)
            }
        } catch {
            #expect(expected == .fails)
            #expect(error.description.contains("x.har") && error.description.contains("LOADINGKIT_RECORD=1"))
        }
    }

    @Test func aCassetteIsRecordedOnceAndThenReplayed() async throws {
        let folder = try TemporaryFolder()
        let server = try LoopbackServer { .text("answer to \($0.path)") }
        let address = server.url("/x")
        for round in 0..<3 {
            if round == 1 { server.stop() }
            let configuration = URLSessionConfiguration.ephemeral
            let cassette = HARCassette(folder.file("a/x.har"), environment: [:])
            try cassette.install(in: configuration)
            let (data, _) = try await URLSession(configuration: configuration).data(from: url(address))
            #expect(data == Data("answer to /x".utf8))
            try cassette.finish()
        }
        #expect(server.requests.count == 1)
    }

    /// The sessions of two configurations have one recording, in the order of all requests.
    @Test func aCassetteOfTwoConfigurations() async throws {
        let folder = try TemporaryFolder()
        let server = try LoopbackServer { .text("answer to \($0.path)") }
        defer { server.stop() }
        let requests = [(0, server.url("/a1")), (1, server.url("/b1")), (0, server.url("/a2"))]
        for isReplayed in [false, true] {
            if isReplayed { server.stop() }
            let configurations = [URLSessionConfiguration.ephemeral, URLSessionConfiguration.ephemeral]
            let cassette = HARCassette(folder.file("x.har"), environment: [:])
            for configuration in configurations { try cassette.install(in: configuration) }
            let sessions = configurations.map { URLSession(configuration: $0) }
            for (index, address) in requests { _ = try await sessions[index].data(from: url(address)) }
            try cassette.finish()
        }
        #expect(server.requests.count == 3)
    }

    @Test func finishTellsWhatWasNotReplayed() async throws {
        let folder = try TemporaryFolder()
        try ChromeExport.data.write(to: folder.file("x.har"))
        let cassette = HARCassette(folder.file("x.har"), environment: [:])
        try cassette.install(in: .ephemeral)
        #expect(throws: HARReplayError.self) { try cassette.finish() }
        #expect(throws: Never.self) { try cassette.finish(playsAll: false) }
    }

    @Test func aBrokenFileIsNotRecordedOver() throws {
        let folder = try TemporaryFolder()
        try Data("{".utf8).write(to: folder.file("x.har"))
        let cassette = HARCassette(folder.file("x.har"), environment: [:])
        let error = #expect(throws: HARError.self) { try cassette.install(in: .ephemeral) }
        #expect(
            error?.description.hasSuffix(
                "x.har: this is no JSON: line 1, column 2: the text ends early: the name of a member is expected")
                == true)
        #expect(try Data(contentsOf: folder.file("x.har")) == Data("{".utf8))
    }
}
