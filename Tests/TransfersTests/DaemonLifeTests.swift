import Dispatch
import Foundation
import Glibc
import LoadingKitLoopbackServer
import LoadingKitTransfers
import TestSupport
import Testing

/// Programs and the daemon as processes of their own, on bad days.
@Suite(.timeLimit(.minutes(5))) struct DaemonLifeTests {
    @Test func aProgramCarriesTheDaemonInside() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let programs = try ChaosPrograms(carriesDaemon: true)
        try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "end") == ["end", "a", "0"])
            // The same file, started once more, which goes on when the program is gone.
            #expect(programs.processes.count == 2)
            program.kill()
            let daemon = programs.processes
            #expect(daemon.count == 1)
            let second = try programs.start()
            second.send("get b \(server.url("/"))")
            #expect(second.waitForEnd(of: "b") == "0")
            #expect(Set(daemon).isSubset(of: programs.processes))
        }
        // The first program may have been killed before it was known that it was told.
        #expect(Set(programs.ends.keys) == ["a", "b"])
    }

    /// The program ends in `didBecomeInvalid`: what it was told before is not in the journal any more.
    @Test func whatWasToldIsTakenWhenTheSessionIsInvalid() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        try await onThread {
            for round in 1...5 {
                let program = try programs.start()
                #expect(program.next(with: "tasks") == ["tasks", ""])
                program.send("get \(round) \(server.url("/"))\nfinish")
                #expect(program.next(with: "invalid") == ["invalid", "0"])
                program.waitForExit()
            }
        }
        #expect(programs.ends == ["1": [0], "2": [0], "3": [0], "4": [0], "5": [0]])
    }

    @Test func anIdentifierIsInUseByOneProcess() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        try await onThread {
            let first = try programs.start()
            #expect(first.next(with: "tasks") != nil)
            let second = try programs.start()
            // URLError.backgroundSessionInUseByAnotherProcess
            #expect(second.next(with: "invalid") == ["invalid", "-996"])
            second.waitForExit()
            first.send("get a \(server.url("/"))")
            #expect(first.next(with: "end") == ["end", "a", "0"])
            first.kill()
            let third = try programs.start()
            third.send("get b \(server.url("/"))")
            #expect(third.waitForEnd(of: "b") == "0")
        }
    }

    @Test(arguments: ["a/../../b", "/etc/passwd", String(repeating: "x", count: 10_240), "長い名前", "..", " "])
    func identifiersOfEveryKind(_ identifier: String) async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let programs = try ChaosPrograms(identifier: identifier)
        try await onThread {
            let first = try programs.start()
            first.send("get a \(server.url("/"))")
            #expect(first.next(with: "end") == ["end", "a", "0"])
            first.kill()
            let second = try programs.start()
            second.send("get b \(server.url("/"))\nfinish")
            #expect(second.next(with: "invalid") == ["invalid", "0"])
        }
        #expect(Set(programs.ends.keys) == ["a", "b"])
        // Nothing is beside the folders that the daemon and the program have.
        let contents = try programs.folder.contents()
        #expect(Set(contents).isSubset(of: ["cache", "data", "got", "run", "state"]))
    }

    /// What is damaged is put aside and said, and the rest goes on.
    @Test func aDamagedJournalIsPutAside() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        let journal = try programs.folder.write(
            [UInt8](repeating: 0x41, count: 5_000), to: "state/loadkit/Transfers.sqlite")
        #expect(chmod(journal.deletingLastPathComponent().path, 0o700) == 0)
        try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))\nfinish")
            #expect(program.next(with: "end") == ["end", "a", "0"])
            program.waitForExit()
        }
        #expect(FileManager.default.fileExists(atPath: journal.path + ".damaged"))
        let log = try String(contentsOf: programs.folder.file("state/loadkit/daemon.log"), encoding: .utf8)
        #expect(log.contains("warning: ") && log.contains("Transfers.sqlite"))
    }

    /// A server that says nothing more: the attempt fails, and the next one goes on.
    @Test func aStalledServerIsLeftAfterTheTimeout() async throws {
        let count = Box(0)
        let server = try LoopbackServer { request in
            guard
                count.update({
                    $0 += 1; return $0
                }) == 1
            else { return .text("hello") }
            return .stream(.length(5)) { _ in try request.exchange.waitUntilClientCloses() }
        }
        defer { server.stop() }
        let programs = try ChaosPrograms()
        try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "end") == ["end", "a", "0"])
        }
        #expect(count.value == 2)
    }

    /// The daemon starts the command when all is done and the program is gone.
    @Test func theProgramIsStartedWhenAllIsDone() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            .stream(.length(400_000)) { body in
                try body.write([UInt8](repeating: 1, count: 200_000))
                gate.wait()
                try body.write([UInt8](repeating: 2, count: 200_000))
            }
        }
        defer {
            gate.signal()
            server.stop()
        }
        let folder = try TemporaryFolder()
        let script = try folder.write(
            "echo \"$LOADKIT_BACKGROUND_SESSION $1 ${LOADKIT_DAEMON_STAGE-none}\" > \"$2\"\n", to: "script")
        let pipe = folder.file("pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let programs = try ChaosPrograms(
            identifier: "an identifier", variables: ["PROBE_LAUNCH": "/bin/sh|\(script.path)|one word|\(pipe)"])
        let said = try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "wrote") != nil)
            program.kill()
            gate.signal()
            return try FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)).readToEnd()
        }
        #expect(said == Data("an identifier one word none\n".utf8))
        try await onThread {
            let second = try programs.start()
            #expect(second.next(with: "end") == ["end", "a", "0"])
        }
    }

    @Test func downloadsArePutTogetherWhereTheProgramSays() async throws {
        let server = try LoopbackServer { request in
            .stream(.length(400_000)) { body in
                try body.write([UInt8](repeating: 1, count: 200_000))
                try request.exchange.waitUntilClientCloses()
            }
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let programs = try ChaosPrograms(variables: ["PROBE_DOWNLOADS": folder.path])
        try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/"))")
            #expect(program.next(with: "wrote") != nil)
        }
        #expect(try folder.contents() == [".loadkit-downloads"])
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        #expect(files.count { $0.hasSuffix(".part") } == 1)
        var status = stat()
        #expect(stat(folder.file(".loadkit-downloads").path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(!FileManager.default.fileExists(atPath: programs.folder.file("state/loadkit/downloads").path))
    }
}
