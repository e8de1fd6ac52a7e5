import Foundation
import LoadingKitCore
import LoadingKitTransfers
import LoadingKitTransport
import TestSupport
import Testing

/// Sessions and daemons that are processes of their own.
@Suite struct DaemonTests {
    @Test func aSessionStartsTheDaemon() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await session.state(1)?.nextIdentifier == 1)
            #expect(await session.perform(.begin(fixture.transfer(1))) == nil)
            #expect(fixture.daemons.count == 1)
            let daemon = try #require(fixture.daemons.first)
            // Nobody's child, in a session of its own.
            #expect(getsid(daemon) == daemon)
            #expect(Self.parent(of: daemon) != getpid())
        }
    }

    @Test func theDaemonInheritsNeitherDescriptorsNorProxies() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let file = open(try fixture.folder.write("", to: "not-for-the-daemon").path, O_RDONLY)
            defer { close(file) }
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await session.state(1) != nil)
            let daemon = try #require(fixture.daemons.first)
            let files = try Self.files(of: daemon)
            #expect(files.count { $0 == "/dev/null" } == 3)
            #expect(!files.contains { $0.contains("not-for-the-daemon") || $0.hasPrefix("pipe:") })
            let variables = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(daemon)/environ"))
            let environment = String(decoding: variables, as: UTF8.self)
            #expect(environment.contains("XDG_RUNTIME_DIR="))
            for name in ["http_proxy", "LISTEN_", "LOADKIT_HAR", "LOADKIT_INSPECT", "LOADKIT_FLIGHT_RECORD"] {
                #expect(!environment.contains(name), "\(name)")
            }
        }
    }

    @Test func manySessionsAtOnceStartOneDaemon() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let sessions = (0..<16).map {
                AttachedSession(fixture.access(), fixture.session("session-\($0)"))
            }
            for session in sessions { #expect(await session.state(1) != nil) }
            #expect(fixture.daemons.count == 1)
        }
    }

    @Test func aDaemonThatIsKilledIsStartedAgain() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await session.state(1)?.transfers.isEmpty == true)
            #expect(await session.perform(.begin(fixture.transfer(1))) == nil)
            for round in 2...5 {
                // It is kept when the second command was performed, and not answered.
                let begun = Task { await session.perform(.begin(fixture.transfer(round, method: "PAUSE"))) }
                while await session.perform(.suspend(1)) == nil, !Self.isKept(round, fixture) {}
                fixture.killDaemon()
                let transfers = await session.state(round)?.transfers.map(\.identifier)
                #expect(transfers == Array(1...round))
                #expect(await begun.value == nil)
                #expect(fixture.daemons.count == round)
            }
        }
    }

    @Test func filesGoOverAsDescriptors() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await session.state(1) != nil)
            let url = try fixture.folder.write("twelve bytes", to: "upload")
            let file = try FileHandle(forReadingFrom: url)
            try FileManager.default.removeItem(at: url)
            let descriptor = OwnedDescriptor(dup(file.fileDescriptor))
            #expect(await session.perform(.begin(fixture.transfer(1)), descriptors: [descriptor]) == nil)
            guard case .didResume(1, offset: 12, expected: 1)? = await session.event(2) else {
                Issue.record("the daemon could not read the file")
                return
            }
        }
    }

    @Test func errorsOfCommandsComeBack() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            let error = await session.perform(.cancel(5, producingResumeData: false))
            #expect((error as? URLError)?.code == .fileDoesNotExist)
        }
    }

    @Test func aSessionIsAttachedOnce() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let first = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await first.state(1) != nil)
            let second = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await second.detachment(1)?.code == URLError.Code.backgroundSessionInUseByAnotherProcess.rawValue)
            #expect(await second.perform(.suspend(1)) != nil)
            first.channel.detach()
            #expect(await first.perform(.suspend(1)) != nil)
            let third = AttachedSession(fixture.access(), fixture.session("a"))
            #expect(await third.state(1) != nil)
        }
    }

    /// So often that an end that is noticed late would be seen.
    @Test func aSessionCanBeAttachedAgainAtOnce() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let loop = EventLoop(name: "program")
            let transfers = fixture.access(on: loop)
            for _ in 0..<50 {
                let session = AttachedSession(transfers, fixture.session("a"))
                #expect(await session.state(1) != nil)
                session.channel.detach()
            }
            // The daemon listens at one, and has others for this question at most.
            #expect(try await fixture.access(on: loop).overview().isEmpty)
            let daemon = try #require(fixture.daemons.first)
            #expect(try Self.files(of: daemon).count { $0.hasPrefix("socket:") } <= 3)
            loop.stop()
        }
    }

    // MARK: Ends

    @Test func aSignalEndsTheDaemon() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let control = fixture.access()
            #expect(try await control.overview().isEmpty)
            let daemon = try #require(fixture.daemons.first)
            kill(daemon, SIGTERM)
            try await onThread { fixture.waitForDaemonsEnd() }
            #expect(!FileManager.default.fileExists(atPath: fixture.place.socket))
            let log = try String(contentsOf: fixture.folder.file("state/loadkit/daemon.log"), encoding: .utf8)
            #expect(log.contains("serves \(fixture.place.socket)"))
            #expect(log.contains("ends: signal 15"))
        }
    }

    @Test func aDaemonThatHasNothingToDoEnds() async throws {
        try await withTimeout {
            // Longer than the pauses between the tries to reach it, on a busy machine, too.
            let fixture = try DaemonFixture(idleTime: 3)
            #expect(try await fixture.access().overview().isEmpty)
            try await onThread { fixture.waitForDaemonsEnd() }
            let log = try String(contentsOf: fixture.folder.file("state/loadkit/daemon.log"), encoding: .utf8)
            #expect(log.contains("ends: nothing is to do"))
        }
    }

    /// Both hold to the end: the one that a program has started, and systemd's, which waits for it.
    @Test func theDaemonOfSystemdWaitsForTheOther() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            #expect(try await fixture.access().overview().isEmpty)
            let first = try #require(fixture.daemons.first)
            let path = fixture.folder.path + "/s"
            let listener = try ListeningSocket(path)
            let process = try Self.activated(listener, fixture)
            listener.close()
            kill(first, SIGTERM)
            // The other's socket is gone; systemd's would be in its place.
            while symlink(path, fixture.place.socket) != 0, errno == EEXIST { await Task.yield() }
            var access = fixture.access()
            access.start = { throw DaemonError("it is not to be started") }
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.state(1) != nil)
            session.channel.detach()
            process.stop(after: 10)
        }
    }

    @Test func aNewerProgramReplacesADaemonThatHasNothingToDo() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            #expect(try await fixture.access().overview().isEmpty)
            let newer = fixture.access(library: "99.0")
            let session = AttachedSession(newer, fixture.session("a"))
            #expect(await session.state(1) != nil)
            #expect(fixture.daemons.count == 2)
            // With a session attached it is not replaced.
            #expect(try await newer.overview().isEmpty)
            #expect(fixture.daemons.count == 2)
        }
    }

    /// The daemons of a fixture all have the same environment.
    @Test(arguments: [false, true])
    func aDaemonWithAnotherJournalIsReplacedOnceOrAnError(isIdle: Bool) async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let own = fixture.folder.path + "/state/loadkit"
            // Another name of the same folder.
            let link = fixture.folder.file("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.folder.file("state"))
            let same = fixture.access(stateFolder: link.path + "/loadkit")
            let first = isIdle ? nil : AttachedSession(same, fixture.session("a"))
            if let first { #expect(await first.state(1) != nil) }
            // The tool accesses any daemon.
            #expect(try await fixture.access(stateFolder: "/other").overview().isEmpty)
            let second = AttachedSession(fixture.access(stateFolder: "/other"), fixture.session("b"))
            let error = await second.detachment(1)
            #expect(error?.code == URLError.Code.backgroundSessionWasDisconnected.rawValue)
            #expect(error?.text?.contains("\(own), and this program's would be in /other") == true)
            #expect(fixture.daemons.count == (isIdle ? 2 : 1))
        }
    }

    @Test func aProgramThatSpeaksNoCommonVersionIsToldSo() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let access = fixture.access(versions: WireVersion(lowest: 7, highest: 9))
            let session = AttachedSession(access, fixture.session("a"))
            let error = await session.detachment(1)
            #expect(error?.code == URLError.Code.backgroundSessionWasDisconnected.rawValue)
            #expect(error?.text?.contains("versions 1 to 1") == true)
        }
    }

    @Test func aProgramOfALaterVersionSpeaksTheOlderOne() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let access = fixture.access(versions: WireVersion(lowest: 1, highest: 9))
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.state(1) != nil)
        }
    }

    // MARK: No daemon

    @Test func aDaemonThatCannotBeStartedIsAnError() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            var access = fixture.access()
            access.start = {
                _ = try DaemonProgram.find(["LOADKITD": "/there/is/none"])
            }
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.detachment(1)?.text?.contains("LOADKITD names no program: /there/is/none") == true)
        }
    }

    @Test func aDaemonThatEndsAtOnceIsTriedForAWhile() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            var access = fixture.access()
            access.patience = 0.3
            access.start = { try DaemonProgram(path: "/bin/true").start([:]) }
            let session = AttachedSession(access, fixture.session("a"))
            let begun = Task { await session.perform(.begin(fixture.transfer(1))) }
            // What it says depends on how far the last try came.
            #expect(await session.detachment(1)?.code == URLError.Code.backgroundSessionWasDisconnected.rawValue)
            #expect((await begun.value as? URLError)?.code == .backgroundSessionWasDisconnected)
        }
    }

    @Test func aDaemonThatOnlyGreetsASessionIsAnError() async throws {
        try await withTimeout {
            let silent = try SilentDaemon()
            let session = AttachedSession(silent.access, silent.fixture.session("a"))
            let begun = Task { await session.perform(.begin(silent.fixture.transfer(1))) }
            let connection = try await silent.greet()
            silent.time.advance(by: .seconds(300))
            let error = await session.detachment(1)
            #expect(error?.code == URLError.Code.backgroundSessionWasDisconnected.rawValue)
            let text = "the daemon cannot be used: it has greeted, and does not answer"
            #expect(error?.text?.hasSuffix(text) == true)
            #expect((await begun.value as? URLError)?.code == .backgroundSessionWasDisconnected)
            connection.close()
        }
    }

    @Test func aDaemonThatOnlyGreetsTheToolIsAnError() async throws {
        try await withTimeout {
            let silent = try SilentDaemon()
            let overview = Task { try await silent.access.overview() }
            let connection = try await silent.greet()
            silent.time.advance(by: .seconds(300))
            await #expect(throws: DaemonError.self) { try await overview.value }
            connection.close()
        }
    }

    // MARK: Control

    @Test func allSessionsAreShownAndControlled() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            let control = fixture.access()
            let session = AttachedSession(fixture.access(), fixture.session("a"))
            for number in 1...250 { #expect(await session.perform(.begin(fixture.transfer(number))) == nil) }
            let overview = try await control.overview()
            #expect(overview.map(\.identifier) == ["a"])
            #expect(overview.first?.isAttached == true)
            #expect(overview.first?.transfers.map(\.identifier) == Array(1...250))
            // Bodies are not shown.
            #expect(overview.first?.transfers.allSatisfy { $0.request.body == nil } == true)
            try await control.control(session: "a", .cancel(3, producingResumeData: false))
            #expect(try await control.overview().first?.transfers.count == 249)
            await #expect(throws: URLError.self) {
                try await control.control(session: "a", .cancel(3, producingResumeData: false))
            }
            try await control.endDaemon()
            // The session has another one by then, or soon.
            #expect(await session.state(2)?.transfers.count == 249)
        }
    }

    @Test func theSocketOfSystemdIsUsed() async throws {
        try await withTimeout {
            let fixture = try DaemonFixture()
            try fixture.place.prepare()
            let listener = try ListeningSocket(fixture.place.socket)
            let process = try Self.activated(listener, fixture)
            listener.close()
            // Another daemon of systemd would have the same folder, and not this one.
            var access = fixture.access(stateFolder: "/other")
            access.start = { throw DaemonError("it is not to be started") }
            let session = AttachedSession(access, fixture.session("a"))
            #expect(await session.state(1) != nil)
            session.channel.detach()
            process.stop(after: 10)
            // It is systemd's.
            #expect(FileManager.default.fileExists(atPath: fixture.place.socket))
        }
    }

    /// A daemon that gets its socket as systemd hands it over.
    private static func activated(_ listener: ListeningSocket, _ fixture: DaemonFixture) throws -> ChildProcess {
        let program = try ProgramRun.executable("DaemonProbe")
        let script = "exec 3<&0 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\""
        return try ChildProcess(
            "/bin/sh", ["-c", script, program], environment: fixture.environment,
            streams: .init(input: listener.descriptor))
    }

    /// What a process's descriptors are of.
    private static func files(of process: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
    }

    private static func isKept(_ transfer: Int, _ fixture: DaemonFixture) -> Bool {
        FileManager.default.fileExists(atPath: fixture.folder.path + "/kept/transfer-a-\(transfer)")
    }

    private static func parent(of process: pid_t) -> pid_t? {
        let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // The name is in parentheses, and may have spaces.
        return text?.split(separator: ")").last?.split(separator: " ").dropFirst().first.flatMap { pid_t($0) }
    }
}

/// A daemon that greets, and does nothing else, as one that was stopped by a signal. Its programs' time stands still.
private final class SilentDaemon: Sendable {
    let fixture: DaemonFixture
    let time = ManualTime()
    let access: DaemonAccess
    private let loop: EventLoop
    private let listener: Int32

    init() throws {
        fixture = try DaemonFixture()
        try fixture.place.prepare()
        listener = try ListeningSocket(fixture.place.socket).descriptor
        loop = EventLoop(name: "program", time: .manual(time))
        access = fixture.access(on: loop)
    }

    deinit {
        // A thread that still waits for a connection ends.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        loop.stop()
    }

    /// Returns when it has read the first request of a program.
    func greet() async throws -> PlainProgram {
        try await onThread { [listener] in
            let descriptor = accept(listener, nil, nil)
            try #require(descriptor >= 0)
            let connection = PlainProgram(descriptor: descriptor)
            _ = try connection.greet()
            _ = connection.readOne()
            return connection
        }
    }
}

/// A socket that listens in the file system.
final class ListeningSocket {
    let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    func close() { Glibc.close(descriptor) }
}
