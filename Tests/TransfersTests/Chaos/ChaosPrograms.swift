import Foundation
import Glibc
import TestSupport

/// The program with a background session, and the daemon that it starts, in a world of their own.
final class ChaosPrograms: Sendable {
    let folder: TemporaryFolder
    private let runsInProcess: Bool
    private let identifier: String
    private let program: String
    private let variables: [String: String]

    /// - Parameters:
    ///   - carriesDaemon: Whether the program is the daemon, too.
    ///   - variables: Of the program's environment, besides.
    init(
        runsInProcess: Bool = false, identifier: String = "chaos", carriesDaemon: Bool = false,
        variables: [String: String] = [:]
    ) throws {
        self.runsInProcess = runsInProcess
        self.identifier = identifier
        self.variables = variables.merging(
            ["LOADKITD": carriesDaemon ? "" : try ProgramRun.executable("loadkitd")]
        ) { $1 }
        program = try ProgramRun.executable("BackgroundProbe")
        folder = try TemporaryFolder()
        for name in ["run", "got"] {
            try FileManager.default.createDirectory(
                at: folder.file(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    deinit { for process in processes { kill(process, SIGKILL) } }

    /// - Parameters:
    ///   - other: The identifier of the session, where it is another one.
    ///   - command: What runs the program, which is its last arguments.
    func start(_ other: String? = nil, by command: [String] = []) throws -> ChaosProgram {
        let words =
            command + [program, other ?? identifier, folder.file("got").path] + (runsInProcess ? ["in-process"] : [])
        return try ChaosProgram(words[0], Array(words.dropFirst()), environment)
    }

    var environment: [String: String] {
        variables.merging([
            "XDG_RUNTIME_DIR": folder.file("run").path, "XDG_STATE_HOME": folder.file("state").path,
            "XDG_DATA_HOME": folder.file("data").path, "XDG_CACHE_HOME": folder.file("cache").path,
        ]) { $1 }
    }

    /// How often each end was reported, and with which codes.
    var ends: [String: [Int]] {
        let text = (try? String(contentsOf: folder.file("got/ends"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").reduce(into: [:]) { ends, line in
            let words = line.split(separator: " ")
            if words.count == 2, let code = Int(words[1]) { ends[String(words[0]), default: []].append(code) }
        }
    }

    /// Those of this world, by their environment.
    var processes: [pid_t] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
        return numbers.filter { number in
            number != getpid() && Self.environment(of: number).contains("XDG_RUNTIME_DIR=\(folder.file("run").path)")
        }
    }

    var daemons: [pid_t] {
        processes.filter { number in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/exe")
            return path?.hasSuffix("/loadkitd") == true
        }
    }

    /// A daemon has the lock as long as it runs.
    func waitForDaemonsEnd() {
        let lock = open(folder.file("run/loadkit/daemon.lock").path, O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return }
        flock(lock, LOCK_EX)
        close(lock)
    }

    private static func environment(of process: pid_t) -> Set<String> {
        guard let file = FileHandle(forReadingAtPath: "/proc/\(process)/environ"), let data = try? file.readToEnd()
        else {
            return []
        }
        return Set(data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    }
}

/// One run of the program.
final class ChaosProgram {
    private let process: ChildProcess
    private let input: FileHandle
    private let output: FileHandle
    private var rest: [UInt8] = []

    init(_ program: String, _ arguments: [String], _ environment: [String: String]) throws {
        let (commands, lines) = (Pipe(), Pipe())
        process = try ChildProcess(
            program, arguments, environment: environment,
            streams: .init(
                input: commands.fileHandleForReading.fileDescriptor, output: lines.fileHandleForWriting.fileDescriptor,
                errors: 2))
        (input, output) = (commands.fileHandleForWriting, lines.fileHandleForReading)
        try commands.fileHandleForReading.close()
        try lines.fileHandleForWriting.close()
    }

    func send(_ line: String) { try? input.write(contentsOf: Data("\(line)\n".utf8)) }

    /// The next line of the program's; nil when it has ended. Blocks.
    func next() -> [String]? {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                return line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = Glibc.read(output.fileDescriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            rest += buffer[..<count]
        }
    }

    /// The next line that begins with a word; nil when the program has ended before. Blocks.
    func next(with word: String) -> [String]? {
        while let line = next() { if line.first == word { return line } }
        return nil
    }

    /// The code that a transfer has ended with; nil when the program has ended before. Blocks.
    func waitForEnd(of transfer: String) -> String? {
        while let line = next(with: "end") { if line.count == 3, line[1] == transfer { return line[2] } }
        return nil
    }

    func kill() { process.kill() }

    @discardableResult
    func waitForExit() -> Int32 { process.waitForExit() }
}
