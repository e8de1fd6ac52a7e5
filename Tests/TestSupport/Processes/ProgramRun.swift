import Foundation

/// A program of this package, run as a process until it ends.
package struct ProgramRun: Sendable {
    package let status: Int32
    package let output: Data
    package let errors: String

    package var text: String { String(decoding: output, as: UTF8.self) }

    /// - Parameters:
    ///   - program: the name of its target.
    ///   - folder: where it runs; a private one by default.
    ///   - standardInput: where its input comes from instead of `input`.
    ///   - standardOutput: where its output goes instead of to `output`.
    ///   - errorOutput: where its errors go instead of to `errors`.
    package init(
        _ program: String, _ arguments: [String], input: String = "", folder: TemporaryFolder? = nil,
        standardInput: FileHandle? = nil, standardOutput: FileHandle? = nil, errorOutput: FileHandle? = nil,
        environment: [String: String] = [:]
    ) async throws {
        let streams = try TemporaryFolder()
        let home = try folder ?? TemporaryFolder()
        let input = try standardInput ?? FileHandle(forReadingFrom: streams.write(input, to: "input"))
        let results = try standardOutput ?? FileHandle(forWritingTo: streams.write("", to: "output"))
        let messages = try errorOutput ?? FileHandle(forWritingTo: streams.write("", to: "errors"))
        let process = try ChildProcess(
            Self.executable(program), arguments, folder: home.url.path,
            environment: Self.withoutLeaks.merging(environment) { $1 },
            streams: .init(
                input: input.fileDescriptor, output: results.fileDescriptor, errors: messages.fileDescriptor))
        status = try await onThread { process.waitForExit() }
        withExtendedLifetime((input, results, messages)) {}
        output = standardOutput == nil ? try Data(contentsOf: streams.file("output")) : Data()
        errors = errorOutput == nil ? try String(contentsOf: streams.file("errors"), encoding: .utf8) : ""
    }

    /// Programs exit with open sessions, whose memory is not a leak for AddressSanitizer.
    private static let withoutLeaks = [
        "ASAN_OPTIONS": (ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? "") + "detect_leaks=0"
    ]

    /// The path of a program of this package, in the folder of the tests.
    package static func executable(_ program: String) throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(program).path
    }
}
