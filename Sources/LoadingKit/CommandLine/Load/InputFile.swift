import Foundation

/// What an argument names to be read.
enum InputFile {
    /// A file's content; `-` is standard input.
    static func read(_ path: String) throws -> Data {
        path == "-"
            ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(fileURLWithPath: path))
    }
}
