import CTestUsers
import Foundation
import Glibc
import LoadingKitCore
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport
import Testing

/// Who comes to the meeting place, or is there already, and should not be.
@Suite struct StrangersTests {
    private static let isRoot = geteuid() == 0
    private static let nobody: UInt32 = 65_534

    @Test(.enabled(if: isRoot, "only root can act as another user"))
    func anotherUsersSocketIsNotUsed() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            try fixture.place.prepare()
            let listener = test_users_listen(fixture.place.socket, Self.nobody)
            try #require(listener >= 0)
            defer { close(listener) }
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            let error = await session.detachment(1)
            #expect(error?.code == URLError.Code.backgroundSessionWasDisconnected.rawValue)
            #expect(error?.text?.contains("is another user's") == true)
            #expect(fixture.daemons.isEmpty)
        }
    }

    @Test(.enabled(if: isRoot, "only root can act as another user"))
    func anotherUsersProgramIsNotServed() async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            // As if somebody had opened the place.
            for path in [server.folder.path, server.place.folder] { #expect(chmod(path, 0o711) == 0) }
            #expect(chmod(server.place.socket, 0o666) == 0)
            let stranger = PlainProgram(descriptor: test_users_connect(server.place.socket, Self.nobody))
            #expect(try stranger.greet() == nil)
            let log = try String(contentsOf: server.folder.file("daemon.log"), encoding: .utf8)
            #expect(log.contains("refuses a process of another user"))
            #expect(try PlainProgram(server.place).greet() != nil)
        }
    }

    @Test func aLinkInTheSocketsPlaceIsNotReplaced() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            try fixture.place.prepare()
            #expect(symlink("/there/is/none", fixture.place.socket) == 0)
            var access = fixture.access()
            access.patience = 1
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.detachment(1)?.text?.contains("loadkit background log") == true)
            let log = try String(contentsOf: fixture.folder.file("state/loadkit/daemon.log"), encoding: .utf8)
            #expect(log.contains("is in the way: it is no socket of this user"))
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: fixture.place.socket) == "/there/is/none")
        }
    }

    @Test func aPlaceWhosePathIsTooLongIsToldToTheSession() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            var access = fixture.access()
            let folder = fixture.folder.path + "/" + String(repeating: "x", count: 100)
            access.place = { DaemonPlace(folder: folder) }
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.detachment(1)?.text?.contains("XDG_RUNTIME_DIR has to be shorter") == true)
        }
    }

    /// It ends, and nobody waits for it.
    @Test func aProgramThatIsNoDaemonIsToldToTheSession() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let program = try fixture.folder.writeProgram(
                "#!/bin/sh\necho $$ > \"$XDG_RUNTIME_DIR/number\"\nexec sleep 1000\n", to: "program")
            var access = fixture.access()
            access.start = {
                try DaemonProgram(path: program.path).start(fixture.environment, time: 500)
            }
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.detachment(1)?.text?.contains("is not a daemon of LoadingKit") == true)
            guard let text = try? String(contentsOf: fixture.folder.file("number"), encoding: .utf8) else { return }
            let number = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(kill(number, 0) == -1 && errno == ESRCH)
        }
    }

    @Test func tenDaemonsAtOnceAreOne() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { try await onThread { try fixture.startDaemon() } } }
                try await group.waitForAll()
            }
            #expect(try await fixture.access().overview().isEmpty)
            #expect(fixture.daemons.count == 1)
        }
    }

    /// Each byte comes in time; the whole message does not.
    @Test(arguments: [false, true])
    func aByteASecondIsCutOffWhileOthersAreServed(afterGreeting: Bool) async throws {
        try await withTimeout {
            let server = try ServerInProcess()
            await server.untilItServes()
            let slow = try PlainProgram(server.place)
            let limit = afterGreeting ? 60 : 10
            if afterGreeting { #expect(try slow.greet() != nil) }
            try await server.untilConnectionsAre(1)
            let hello = try MessageFrame(.hello(TransferMessage.Hello(process: getpid()))).bytes
            let attach = try MessageFrame(.attach(WireSamples.session)).bytes
            for byte in (afterGreeting ? attach : hello).prefix(limit) {
                slow.write([byte])
                let other = try PlainProgram(server.place)
                #expect(try other.greet() != nil)
                other.close()
                try await server.untilConnectionsAre(1)
                await server.advance(by: .seconds(1))
            }
            try await server.untilConnectionsEnd()
            #expect(slow.readAll().last?.contains("says nothing") == true)
        }
    }
}
