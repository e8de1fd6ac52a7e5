import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A state folder that cannot be written: a small file system of its own, in a namespace of the program and its daemon.
@Suite(.timeLimit(.minutes(5))) struct StateFolderTests {
    @Test func aFolderThatCanOnlyBeReadIsToldToTheSession() async throws {
        let programs = try SmallState(size: "4m", then: "mount -o remount,ro \"$0\"")
        try await onThread {
            let program = try programs.start()
            // URLError.backgroundSessionWasDisconnected
            let reason = program.next(with: "because")?.joined(separator: " ")
            #expect(reason?.contains("Read-only file system") == true)
            #expect(program.next(with: "invalid") == ["invalid", "-997"])
            program.waitForExit()
        }
    }

    @Test func aFolderThatIsFullWhenTheDaemonStartsServesWhenThereIsRoom() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let programs = try SmallState(size: "4m", then: "dd if=/dev/zero of=\"$0/fill\" bs=4k status=none || true")
        try await onThread {
            let program = try programs.start()
            #expect(program.next(with: "tasks") == ["tasks", ""])
            program.send("get a \(server.url("/"))")
            // URLError.cannotWriteToFile
            #expect(program.next(with: "because")?.joined(separator: " ").contains("journal") == true)
            #expect(program.next(with: "end") == ["end", "a", "-3003"])
            try programs.remove("fill")
            program.send("get b \(server.url("/"))")
            #expect(program.next(with: "end") == ["end", "b", "0"])
            program.send("finish")
            #expect(program.next(with: "invalid") == ["invalid", "0"])
        }
        #expect(server.requests.count == 1)
    }

    @Test func aFolderThatGetsFullLosesNothing() async throws {
        let gate = Signal()
        let server = try LoopbackServer { request in
            guard request.path == "/held" else { return .text("hello") }
            return .stream(.length(400_000)) { body in
                try body.write([UInt8](repeating: 1, count: 200_000))
                try body.wait(for: gate)
                try body.write([UInt8](repeating: 2, count: 200_000))
            }
        }
        defer {
            gate.fire()
            server.stop()
        }
        let downloads = try TemporaryFolder()
        let programs = try SmallState(size: "4m", variables: ["PROBE_DOWNLOADS": downloads.path])
        try await onThread {
            let program = try programs.start()
            program.send("get a \(server.url("/held"))")
            #expect(program.next(with: "wrote") != nil)
            try programs.fill()
            // What is under way ends when its end can be kept; what is new cannot be begun.
            gate.fire()
            program.send("get b \(server.url("/"))")
            #expect(program.next(with: "end") == ["end", "b", "-3003"])
            try programs.remove("fill")
            #expect(program.next(with: "end") == ["end", "a", "0"])
        }
        #expect(try Data(contentsOf: programs.file("a")).count == 400_000)
    }
}

/// Programs whose state folder is a file system of their own.
private final class SmallState: Sendable {
    private let programs: ChaosPrograms
    private let state: URL
    private let command: [String]

    /// - Parameters:
    ///   - size: Of the file system, as `mount` has it.
    ///   - then: What is done before the program runs; `$0` is the folder.
    init(size: String, then: String = ":", variables: [String: String] = [:]) throws {
        programs = try ChaosPrograms(variables: variables)
        state = programs.folder.file("state")
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        let script =
            "mount -t tmpfs -o mode=700,size=\(size) tmpfs \"$0\" && mkdir -m 700 \"$0/loadkit\" && \(then) && exec \"$@\""
        command = ["/usr/bin/unshare"] + Namespaces.ofMounts + ["/bin/sh", "-c", script, state.path]
    }

    func start() throws -> ChaosProgram { try programs.start(by: command) }

    func file(_ name: String) -> URL { programs.folder.file("got/" + name) }

    /// As the daemon sees it.
    private func path(_ name: String) throws -> String {
        let daemon = try #require(programs.daemons.first)
        return "/proc/\(daemon)/root\(state.path)/\(name)"
    }

    func remove(_ name: String) throws { try #require(unlink(try path(name)) == 0) }

    /// Writes until there is no more room, to the last byte.
    func fill() throws {
        let file = open(try path("fill"), O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        for size in [1 << 16, 1] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(file, bytes, size) > 0 {}
        }
        #expect(errno == ENOSPC)
    }
}
