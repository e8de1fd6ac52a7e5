import Foundation

/// Reads the files that arguments name.
enum InputFile {
    /// Returns a file's content; `-` is standard input.
    static func read(_ path: String) throws -> Data {
        path == "-" ? try StandardInput.readAll() : try content(of: path)
    }

    /// Reads to the end, as a pipe or a file of `/proc` has no size that is known before.
    static func content(of path: String) throws -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StandardInput.ReadError(name: path, code: errno) }
        defer { close(descriptor) }
        return try StandardInput.readAll(descriptor, name: path)
    }
}
