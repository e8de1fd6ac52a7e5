import Foundation
import TestSupport

/// Counts the instructions that a run of `GrowthProbe` executes, with Valgrind: they are the same however busy the machine is.
struct InstructionCounter {
    /// The probe without its debugging information, which is newer than what Valgrind reads.
    private let folder: TemporaryFolder
    private let valgrind: String
    private var probe: URL { folder.file("GrowthProbe") }

    init() throws {
        folder = try TemporaryFolder()
        valgrind = try Self.path(of: "valgrind", in: "valgrind")
        let strip = try Self.path(of: "strip", in: "binutils")
        let built = try ProgramRun.executable("GrowthProbe")
        let status = try ChildProcess(strip, ["--strip-debug", "-o", probe.path, built]).waitForExit()
        guard status == 0 else { throw GrowthError(text: "\(strip) \(built) ended with \(status)") }
    }

    private static func path(of program: String, in package: String) throws -> String {
        let path = "/usr/bin/\(program)"
        guard access(path, X_OK) == 0 else { throw MissingProgram(program: program, aptPackage: package) }
        return path
    }

    /// May block for many seconds.
    func instructions(_ row: String, _ count: Int) throws -> Double {
        let log = folder.file("\(row)-\(count).log").path
        let status = try ChildProcess(
            valgrind,
            [
                "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=\(log)", probe.path, row, "\(count)",
            ]
        ).waitForExit()
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let total = text.split(separator: "\n").last { $0.contains("Collected : ") }?.split(separator: " ").last
        guard status == 0, let count = total.flatMap({ Double($0) }) else {
            throw GrowthError(text: "\(row) \(count) under Valgrind ended with \(status): \(text)")
        }
        return count
    }
}

struct GrowthError: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
