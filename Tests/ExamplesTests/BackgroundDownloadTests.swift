import Dispatch
import Foundation
import Glibc
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// `BackgroundDownloadExample`, which carries the daemon inside: killed, and started again.
@Suite(.timeLimit(.minutes(5))) struct BackgroundDownloadTests {
    @Test func isKilledAndGoesOn() async throws {
        let gate = DispatchSemaphore(value: 0)
        let half = [UInt8](repeating: 7, count: 300_000)
        let server = try LoopbackServer { _ in
            .stream(.length(600_000)) { body in
                try body.write(half)
                gate.wait()
                try body.write(half)
            }
        }
        defer {
            gate.signal()
            server.stop()
        }
        let folder = try TemporaryFolder()
        for name in ["run", "got"] { try folder.write("", to: name + "/.keep") }
        let environment = ["RUNTIME_DIR": "run", "STATE_HOME": "state", "DATA_HOME": "data", "CACHE_HOME": "cache"]
            .reduce(into: ["LOADKITD": ""]) { $0["XDG_" + $1.key] = folder.file($1.value).path }
        defer { Self.endDaemon(folder.file("run").path) }

        let first = try ChildProcess(
            ProgramRun.executable("BackgroundDownloadExample"),
            [folder.file("got").path, server.url("/large.iso")], environment: environment)
        // The download is in the journal before it is begun.
        await server.requests.count(reaches: 1)
        try await onThread { first.kill() }
        // The rest is sent when the second run has found the download.
        let output = Pipe()
        let second = try ChildProcess(
            ProgramRun.executable("BackgroundDownloadExample"), [folder.file("got").path], environment: environment,
            streams: .init(output: output.fileHandleForWriting.fileDescriptor))
        try output.fileHandleForWriting.close()
        let (text, status) = try await onThread {
            var text = output.fileHandleForReading.availableData
            gate.signal()
            text += try output.fileHandleForReading.readToEnd() ?? Data()
            return (String(decoding: text, as: UTF8.self), second.waitForExit())
        }
        #expect(text.hasPrefix("goes on: large.iso\n") && status == 0)
        #expect(text.hasSuffix("done: large.iso\n"))
        #expect(try Data(contentsOf: folder.file("got/large.iso")) == Data(half + half))
        #expect(server.requests.snapshot.count == 1)
    }

    /// The daemon is this program's file; it serves the folder.
    private static func endDaemon(_ folder: String) {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
        for number in numbers where number != getpid() {
            let variables = (try? FileHandle(forReadingAtPath: "/proc/\(number)/environ")?.readToEnd()) ?? Data()
            if variables.range(of: Data("XDG_RUNTIME_DIR=\(folder)\0".utf8)) != nil { kill(number, SIGKILL) }
        }
    }
}
