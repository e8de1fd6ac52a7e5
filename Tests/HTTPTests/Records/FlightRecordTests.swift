import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The last events of a session, and of all sessions of a process.
@Suite struct FlightRecordTests {
    @Test func aSessionsEventsAreTold() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let session = makeSession()
        let request = URLRequest(url: try #require(URL(string: server.url("/path?query"))))
        try await withTimeout {
            for _ in 0..<2 { #expect(await session.outcome(request) == .ok("hello")) }
            let lines = await session.flightRecord.split(separator: "\n").map(String.init)
            #expect(lines[0].wholeMatch(of: #/session \d+: \d+ events/#) != nil)
            let parts = [
                "task 1: the task begins", "task 1: connection 1: the request is sent on a new connection",
                "task 1: status 200", "task 1: the task has ended, with 5 bytes",
                "task 2: connection 1: the request is sent on a used connection", "task 2: the task has ended",
            ]
            var rest = lines[1...]
            for part in parts {
                let index = try #require(rest.firstIndex { $0.contains(part) }, "\(part) in \(lines)")
                rest = rest[(index + 1)...]
            }
            #expect(lines.dropFirst().allSatisfy { $0.prefixMatch(of: #/ *-?\d+\.\d{4} s  /#) != nil })
        }
    }

    /// The probe ends by the signal where the environment does not name it.
    @Test(arguments: [["LOADKIT_FLIGHT_RECORD": "SIGUSR2"], [:], ["LOADKIT_FLIGHT_RECORD": "SIGKILL"]])
    func theSignalHasAllSessionsWritten(environment: [String: String]) async throws {
        let authority = try CertificateAuthority()
        let requests = Recorder<Int>()
        let server = try LoopbackServer(tls: try authority.issue()) { request in
            requests.append(request.connection)
            return .text("hello").closing()
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let certificate = try folder.write(authority.certificatePEM, to: "authority.pem").path
        let errors = Pipe()
        let variables = ["XDG_DATA_HOME": folder.path, "XDG_CACHE_HOME": folder.path].merging(environment) { $1 }
        let probe = try ChildProcess(
            ProgramRun.executable("ExitProbe"),
            ["thread", "\(UInt32.max)", server.url(host: "localhost"), certificate], environment: variables,
            streams: .init(errors: errors.fileHandleForWriting.fileDescriptor))
        defer { probe.kill() }
        try errors.fileHandleForWriting.close()
        try await withTimeout {
            _ = await requests.count(reaches: 9)
            probe.send(SIGUSR2)
            try await onThread {
                guard environment.values.contains("SIGUSR2") else {
                    #expect(probe.waitForExit() == 128 + SIGUSR2)
                    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                    #expect(text.contains("LOADKIT_FLIGHT_RECORD: SIGKILL is no signal") == !environment.isEmpty)
                    return
                }
                var text = ""
                while !(1...3).allSatisfy({ text.contains("session \($0): ") }) || !text.hasSuffix("\n") {
                    let more = errors.fileHandleForReading.availableData
                    try #require(!more.isEmpty, "the probe has ended: \(text)")
                    text += String(decoding: more, as: UTF8.self)
                }
                #expect(text.contains("the request is sent on a new connection"))
                #expect(!probe.hasExited)
            }
        }
    }
}
