import Foundation
import Glibc
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The journal is damaged while the daemon is away, and programs are attached.
@Suite(.timeLimit(.minutes(5))) struct LostJournalTests {
    @Test(arguments: [false, true])
    func tasksOfTwoSessionsAreToldThatTheyAreLost(removed: Bool) async throws {
        let server = try LoopbackServer { request in
            guard request.path == "/held" else { return .text("hello") }
            return .stream(.length(400_000)) { body in
                try body.write([UInt8](repeating: 1, count: 200_000))
                try request.exchange.waitUntilClientCloses()
            }
        }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        let journal = programs.folder.file("state/loadkit/Transfers.sqlite")
        try await onThread {
            let names = ["one", "other"]
            let running = try names.map { try programs.start($0) }
            for (program, name) in zip(running, names) {
                program.send("get \(name) \(server.url("/held"))")
                #expect(program.next(with: "wrote") == ["wrote", name])
            }
            let daemons = Set(programs.daemons)
            // None of them starts the next daemon meanwhile.
            let stopped = programs.processes.filter { !daemons.contains($0) }
            for process in stopped { kill(process, SIGSTOP) }
            for daemon in daemons { kill(daemon, SIGKILL) }
            programs.waitForDaemonsEnd()
            for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: journal.path + suffix) }
            if removed {
                try FileManager.default.removeItem(at: journal)
            } else {
                try Data(repeating: 0x41, count: 5_000).write(to: journal)
            }
            for process in stopped { kill(process, SIGCONT) }
            for (program, name) in zip(running, names) {
                #expect(program.next(with: "because")?.joined(separator: " ").contains("is lost") == true)
                // URLError.backgroundSessionWasDisconnected
                #expect(program.next(with: "end") == ["end", name, "-997"])
                program.send("get \(name)-again \(server.url("/"))\nfinish")
                #expect(program.next(with: "end") == ["end", "\(name)-again", "0"])
                #expect(program.next(with: "invalid") == ["invalid", "0"])
            }
        }
        #expect(FileManager.default.fileExists(atPath: journal.path + ".damaged") == !removed)
    }
}
