import Foundation
import TestSupport

/// A run of the tool.
typealias ToolRun = ProgramRun

extension ProgramRun {
    init(
        _ arguments: [String], input: String = "", folder: TemporaryFolder? = nil, standardInput: FileHandle? = nil,
        standardOutput: FileHandle? = nil, errorOutput: FileHandle? = nil, environment: [String: String] = [:]
    ) async throws {
        try await self.init(
            "loadkit", arguments, input: input, folder: folder, standardInput: standardInput,
            standardOutput: standardOutput, errorOutput: errorOutput, environment: environment)
    }
}
