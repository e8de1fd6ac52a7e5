import Foundation
import LoadingKit
import TestSupport
import Testing

/// Every scenario with every server, in every way in which it protects connections.
@Suite(.usesPeers) struct ScenarioTests {
    struct Place: Sendable, CustomStringConvertible {
        let program: FTPServerProcess.Program
        let security: FTPServerProcess.Security

        var description: String { "\(program.rawValue), TLS \(security.rawValue)" }

        static let all = FTPServerProcess.Program.runnable.flatMap { program in
            program.securities.map { Place(program: program, security: $0) }
        }
    }

    @Test(arguments: Place.all) func table(_ place: Place) async throws {
        let run = try await ScenarioRun.start(place.program, place.security)
        defer { run.server.stop() }
        for scenario in Scenario.all {
            let result = try await result(of: scenario, run)
            print("FTP | \(place) | \(scenario.name) | \(result)")
            #expect(result == "ok" || result == "cannot be", "\(place): \(scenario.name)")
        }
    }

    private func result(of scenario: Scenario, _ run: ScenarioRun) async throws -> String {
        guard scenario.isPossible(run.server) else { return "cannot be" }
        do {
            try await withTimeout(scenario.name) { try await scenario.run(run) }
            return "ok"
        } catch {
            return "\(error)"
        }
    }

    /// vsftpd takes any password then, pyftpdlib has the user besides the others.
    @Test(arguments: [FTPServerProcess.Program.vsftpd, .pyftpdlib]) func anonymous(_ program: FTPServerProcess.Program)
        async throws
    {
        let run = try await ScenarioRun.start(program, .none, allowsAnonymous: true)
        defer { run.server.stop() }
        let session = run.makeSession()
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(for: run.request("/a.txt", credential: ""))
        #expect(Array(data) == ScenarioRun.text)
    }

    @Test func aServerThatWantsTheControlConnectionsTLSSession() async throws {
        var faults = FTPServerProcess.Faults()
        faults.requiresTLS = true
        faults.requiresSessionReuse = true
        for security in [FTPServerProcess.Security.explicit, .implicit] {
            let run = try await ScenarioRun.start(.pyftpdlib, security, faults: faults)
            defer { run.server.stop() }
            for scenario in Scenario.reading + Scenario.writing {
                let result = try await result(of: scenario, run)
                #expect(result == "ok", "\(security): \(scenario.name)")
            }
            #expect(!run.server.output.contains("data session new"))
        }
    }

    @Test(arguments: [
        ["MLSD", "MLST"], ["EPSV"], ["SIZE"], ["MDTM"], ["REST"], ["FEAT"],
        ["MLSD", "MLST", "EPSV", "SIZE", "MDTM", "REST", "FEAT"],
    ])
    func aServerThatLacksCommands(_ commands: [String]) async throws {
        var faults = FTPServerProcess.Faults()
        faults.missingCommands = commands
        let run = try await ScenarioRun.start(.pyftpdlib, .none, faults: faults)
        defer { run.server.stop() }
        let session = run.makeSession()
        defer { session.invalidateAndCancel() }
        for path in ["/a.txt", "/empty", "/large.bin"] {
            let bytes = try await run.load(path, in: session)
            #expect(bytes == ScenarioRun.files[String(path.dropFirst())], "\(commands): \(path)")
        }
        for name in ["folder as HTML", "folder as JSON", "no such file"] {
            guard let scenario = Scenario.reading.first(where: { $0.name == name }) else { continue }
            let result = try await result(of: scenario, run)
            #expect(result == "ok", "without \(commands): \(name)")
        }
    }

    /// A server that ends the data connection again and again, with a download that goes on each time.
    @Test(arguments: FTPServerProcess.Security.allCases) func aServerThatCutsDownloads(
        _ security: FTPServerProcess.Security
    ) async throws {
        var faults = FTPServerProcess.Faults()
        let cuts = 8
        faults.cut = (bytes: 1_500_000, times: cuts)
        let run = try await ScenarioRun.start(.pyftpdlib, security, faults: faults)
        defer { run.server.stop() }
        let session = run.makeSession()
        defer { session.invalidateAndCancel() }
        run.keepCredential(in: session)
        var resumeData: Data?
        for attempt in 0...cuts {
            do {
                let (file, _) =
                    if let resumeData {
                        try await session.download(resumeFrom: resumeData)
                    } else {
                        try await session.download(for: run.request("/large.bin", credential: ""))
                    }
                defer { try? FileManager.default.removeItem(at: file) }
                #expect(Array(try Data(contentsOf: file)) == ScenarioRun.large)
                #expect(attempt == cuts)
                return
            } catch let error as URLError {
                #expect(error.code == .networkConnectionLost, "\(attempt): \(error)")
                resumeData = try #require(
                    error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data, "\(attempt): \(error)")
            }
        }
        Issue.record("the download did not come to its end")
    }

    @Test(arguments: ProxyServer.Program.allCases) func throughAProxy(
        _ program: ProxyServer.Program
    ) async throws {
        let proxy = try await onThread { try ProxyServer(program) }
        defer { proxy.stop() }
        for security in FTPServerProcess.Security.allCases {
            let run = try await ScenarioRun.start(.pyftpdlib, security)
            defer { run.server.stop() }
            let session = run.makeSession { $0.connectionProxyDictionary = proxy.dictionary }
            defer { session.invalidateAndCancel() }
            try await withTimeout("\(program) \(security)") {
                for _ in 0..<3 {
                    let bytes = try await run.load("/a.txt", in: session)
                    #expect(bytes == ScenarioRun.text)
                }
                let large = try await run.load("/large.bin", in: session)
                #expect(large == ScenarioRun.large)
                _ = try await session.upload(
                    for: run.request("/written/p", method: "PUT"), from: Data(ScenarioRun.large))
                let stored = try run.stored("written/p")
                #expect(stored == ScenarioRun.large)
            }
        }
    }

    /// A thousand loads of a user need few control connections.
    @Test func controlConnectionsAreUsedAgain() async throws {
        let run = try await ScenarioRun.start(.pyftpdlib, .none)
        defer { run.server.stop() }
        let session = run.makeSession()
        defer { session.invalidateAndCancel() }
        func connections() -> Int { run.server.output.components(separatedBy: "connected\n").count }
        _ = try await run.load("/many/0.txt", in: session)
        // Whether the server accepts connections was found out by making others; each is written before it is greeted.
        let before = connections()
        for number in 1..<100 { _ = try await run.load("/many/\(number).txt", in: session) }
        #expect(connections() == before)
    }
}
