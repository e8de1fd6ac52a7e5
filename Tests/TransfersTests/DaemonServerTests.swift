import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport
import Testing

/// A server in this process, with programs that behave badly, and a clock that stands still.
@Suite struct DaemonServerTests {
    @Test func itEndsWhenNothingWasToDoForAMinute() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            await server.advance(by: .seconds(59))
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            await server.advance(by: .seconds(61))
            // It was closed for saying nothing; the minute begins anew.
            #expect(program.readAll().last?.contains("says nothing") == true)
            await server.run {}
            await server.advance(by: .seconds(50))
            let other = try PlainProgram(server.place)
            #expect(try other.greet() != nil)
            other.close()
            try await server.untilConnectionsEnd()
            await server.advance(by: .seconds(60))
            await server.ended.wait(for: 1)
            #expect(!FileManager.default.fileExists(atPath: server.place.socket))
        }
    }

    @Test func itStaysWhileSomethingIsToDo() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            server.performer.say(isIdle: false)
            await server.run {}
            await server.advance(by: .seconds(1_000_000))
            await server.run {}
            let program = try PlainProgram(server.place)
            #expect(try program.greet()?.contains("isIdle: Optional(false)") == true)
            program.close()
            try await server.untilConnectionsEnd()
            server.performer.say(isIdle: true)
            await server.run {}
            await server.advance(by: .seconds(60))
            await server.ended.wait(for: 1)
        }
    }

    @Test func aProgramThatDoesNotGreetIsCutOff() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            await server.performer.observer.wait(for: 1)
            try await server.untilConnectionsAre(1)
            await server.advance(by: .seconds(10))
            #expect(program.readAll().last?.contains("says nothing") == true)
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "\0\0\0\0\0\u{1}\0\0", "\0\0\0\u{2}\0\u{1}\0\0{}",
        "\u{7f}\u{7f}\u{7f}\u{7f}\0\u{1}\0\0",
    ])
    func garbageIsCutOff(_ text: String) async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            program.write(Array(text.utf8))
            #expect(program.readAll().isEmpty)
        }
    }

    @Test func aMessageThatIsNotExpectedIsCutOff() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let messages: [TransferMessage] = [
                .command(number: 1, .suspend(1)), .event(.deliveredEarlierEvents), .performed(number: 1, error: nil),
            ]
            for message in messages {
                let program = try PlainProgram(server.place)
                #expect(try program.greet() != nil)
                program.write(try MessageFrame(message).bytes)
                #expect(program.readAll().last?.contains("an unexpected message") == true)
            }
        }
    }

    @Test func whatALaterVersionAsksForIsAnswered() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(payload: Array(#"{"explode":{"number":8}}"#.utf8)).bytes)
            #expect(program.readOne()?.contains("performed(number: 8, error: Optional(") == true)
            program.write(try MessageFrame(.overviewRequest(number: 9)).bytes)
            #expect(program.readOne()?.contains("performed(number: 9, error: nil)") == true)
        }
    }

    @Test func connectionsHaveABound() async throws {
        try await withTimeout {
            var limits = DaemonServer.Limits()
            limits.maximumConnections = 3
            let server = try ServerInProcess(limits)
            await server.untilItServes()
            let programs = try (0..<3).map { _ in try PlainProgram(server.place) }
            for program in programs { #expect(try program.greet() != nil) }
            #expect(try PlainProgram(server.place).readAll().isEmpty)
            programs[0].close()
            try await server.untilConnectionsAre(2)
            #expect(try PlainProgram(server.place).greet() != nil)
        }
    }

    @Test func aProgramThatReadsNothingIsCutOff() async throws {
        try await withTimeout {
            var limits = DaemonServer.Limits()
            limits.maximumWaiting = 1 << 20
            let server = try ServerInProcess(limits)
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            await server.performer.attached.wait(for: 1)
            for _ in 0..<10_000 { server.performer.send(.ended(1, WireSamples.end)) }
            await server.performer.detached.wait(for: 1)
            #expect(program.readAll().count < 10_000)
        }
    }

    @Test func aProgramThatSendsMoreThanIsPerformedHasToWait() async throws {
        try await withTimeout {
            var limits = DaemonServer.Limits()
            limits.maximumCommands = 10
            let server = try ServerInProcess(limits)
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            await server.performer.attached.wait(for: 1)
            let frames = try (0..<100_000).map { try MessageFrame(.command(number: UInt64($0), .suspend($0))).bytes }
            let writing = Task.detached { for frame in frames { program.write(frame) } }
            await server.performer.commands.wait(for: 10)
            await server.run {}
            // What one read has brought, at most.
            #expect(server.performer.heldCount < 3000)
            server.performer.performAll()
            await server.performer.commands.wait(for: 100_000)
            await writing.value
        }
    }

    @Test func aPerformerThatCannotBeMadeIsReported() async throws {
        try await withTimeout {
            let server = try ServerInProcess(isBroken: true)
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            #expect(program.readAll().last?.contains("the journal is broken") == true)
        }
    }

    /// systemd puts its own socket there when its unit is installed while a daemon runs that a program has started.
    @Test(arguments: [false, true]) func itEndsWhenItsSocketIsAnother(hasOther: Bool) async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            await server.performer.attached.wait(for: 1)
            await server.advance(by: .seconds(60))
            await server.run {}
            #expect(server.ended.count == 0)
            try FileManager.default.removeItem(atPath: server.place.socket)
            if hasOther { try Data().write(to: URL(fileURLWithPath: server.place.socket)) }
            await server.advance(by: .seconds(60))
            await server.ended.wait(for: 1)
            #expect(FileManager.default.fileExists(atPath: server.place.socket) == hasOther)
            // The program connects to the next daemon, which waits for it.
            _ = program.readAll()
            #expect(server.performer.detached.count == 0)
        }
    }

    /// The folder is removed at the user's logout. The transfers go on.
    @Test func itGoesOnWithoutItsFolder() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            await server.performer.attached.wait(for: 1)
            try FileManager.default.removeItem(atPath: server.place.folder)
            await server.advance(by: .seconds(60))
            await server.run {}
            #expect(server.ended.count == 0)
            server.server.stop("the test ends it")
            await server.ended.wait(for: 1)
        }
    }

    /// The next daemon waits for the programs that were attached.
    @Test func itsEndLeavesTheSessionsAttached() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let program = try PlainProgram(server.place)
            #expect(try program.greet() != nil)
            program.write(try MessageFrame(.attach(WireSamples.session)).bytes)
            await server.performer.attached.wait(for: 1)
            server.server.stop("the test ends it")
            await server.ended.wait(for: 1)
            _ = program.readAll()
            #expect(server.performer.detached.count == 0)
        }
    }
}
