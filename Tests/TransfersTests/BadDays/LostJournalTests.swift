import Foundation
import Glibc
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransfers

/// The journal is damaged or removed, and programs are attached.
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

    #if Persistence
        /// The daemon runs on: a transfer that it begins then is kept as others are.
        @Test(arguments: [["Transfers.sqlite", "Transfers.sqlite-wal", "Transfers.sqlite-shm"], [""]])
        func aTransferThatBeginsAfterTheLossIsKept(removed: [String]) async throws {
            try await withTimeout {
                let harness = try ServiceHarness()
                let date = harness.wall.value.addingTimeInterval(10)
                let first = try harness.start()
                let program = TestProgram(first, try harness.description())
                try await program.download(1, "http://127.0.0.1:1/") { $0.earliestBeginDate = date }
                for name in removed {
                    try FileManager.default.removeItem(at: harness.folder.file("state/" + name))
                }
                try await program.download(2, "http://127.0.0.1:1/") { $0.earliestBeginDate = date }
                first.stop()
                let second = try harness.start()
                defer { second.stop() }
                let other = TestProgram(second, try harness.description("other"))
                #expect(try await other.attached().transfers.isEmpty)
                let again = TestProgram(second, try harness.description())
                let state = try await again.attached()
                #expect(state.transfers.map(\.identifier) == [2] && state.nextIdentifier == 3)
            }
        }
    #endif
}
