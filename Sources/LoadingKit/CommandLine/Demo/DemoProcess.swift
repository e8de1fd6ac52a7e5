#if CommandLineTool
    import Foundation
    import Glibc

    /// A run of this program as a separate process, and the lines that it writes.
    final class DemoProcess {
        /// The path of this program.
        static let program =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/proc/self/exe"

        private let process = Process()
        private let lines: AsyncStream<String>

        init(_ arguments: [String], _ environment: [String: String]) throws {
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: Self.program)
            process.arguments = arguments
            process.environment = environment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            let (lines, input) = AsyncStream.makeStream(of: String.self)
            self.lines = lines
            try process.run()
            let reader = output.fileHandleForReading
            Thread.detachNewThread {
                var rest = Data()
                while case let data = reader.availableData, !data.isEmpty {
                    rest += data
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        input.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest = Data(rest[(end + 1)...])
                    }
                }
                input.finish()
            }
        }

        deinit { kill() }

        /// The rest of the next line that begins with `word`. Lines before it are skipped.
        func next(_ word: String) async throws -> String {
            for await line in lines {
                if line.hasPrefix("failed ") { throw DemoProblem(String(line.dropFirst("failed ".count))) }
                if line.hasPrefix(word + " ") { return String(line.dropFirst(word.count + 1)) }
            }
            throw DemoProblem("the program of the download ended without a word")
        }

        /// Kills the process where it still runs, and returns when it has ended.
        func kill() {
            if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
        }

        func waitForEnd() { process.waitUntilExit() }
    }
#endif
