#if Persistence
    import Foundation
    import TestSupport

    /// The program that makes processes to be killed.
    final class WritingProgram {
        private let process: ChildProcess
        private let input: FileHandle
        private let output: FileHandle
        private var unread = Data()

        /// - Parameters:
        ///   - shell: commands that a shell is to run before it becomes the program.
        ///   - errors: where its log goes.
        init(_ arguments: [String], after shell: String = "", errors: Int32? = nil) throws {
            let executable = try ProgramRun.executable("StoreWriter")
            let (input, output) = (Pipe(), Pipe())
            process = try ChildProcess(
                "/bin/sh", ["-c", shell + "\nexec \"$0\" \"$@\"", executable] + arguments,
                streams: .init(
                    input: input.fileHandleForReading.fileDescriptor,
                    output: output.fileHandleForWriting.fileDescriptor, errors: errors))
            try input.fileHandleForReading.close()
            try output.fileHandleForWriting.close()
            self.input = input.fileHandleForWriting
            self.output = output.fileHandleForReading
        }

        deinit { process.stop(after: 5) }

        /// The last step acknowledged of a process that is killed so many microseconds after so many acknowledgements.
        func killed(from start: Int, after count: Int, delay: Int) throws -> Int {
            try input.write(contentsOf: Data("\(start) \(count) \(delay)\n".utf8))
            while true {
                if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { unread = Data(unread[(end + 1)...]) }
                    return Int(String(decoding: unread[..<end], as: UTF8.self)) ?? -1
                }
                let more = output.availableData
                if more.isEmpty { throw CocoaError(.executableLoad) }
                unread += more
            }
        }
    }
#endif
