import Foundation

/// An installed program, run until it ends.
package enum ToolRun {
    /// Its standard output and error. Blocks.
    ///
    /// - Throws: `MissingProgram`; `ServerProcessError` where its exit status is not zero.
    @discardableResult
    package static func output(
        of program: String, _ arguments: [String], aptPackage: String, input: String = "",
        environment: [String: String] = [:]
    ) throws -> String {
        guard let executable = ServerProcess.find(program) else {
            throw MissingProgram(program: program, aptPackage: aptPackage)
        }
        let folder = try TemporaryFolder()
        let input = try FileHandle(forReadingFrom: folder.write(input, to: "input"))
        let output = try FileHandle(forWritingTo: folder.write("", to: "output"))
        let process = try ChildProcess(
            executable, arguments, environment: environment,
            streams: .init(
                input: input.fileDescriptor, output: output.fileDescriptor, errors: output.fileDescriptor))
        let status = process.waitForExit()
        withExtendedLifetime((input, output)) {}
        let text = try String(contentsOf: folder.file("output"), encoding: .utf8)
        guard status == 0 else {
            throw ServerProcessError(program: executable, problem: "ended with status \(status)", output: text)
        }
        return text
    }
}
