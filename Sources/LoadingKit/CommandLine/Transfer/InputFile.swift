import Foundation

/// Reads the files that arguments name.
enum InputFile {
    /// Returns a file's content; `-` is standard input.
    static func read(_ path: String) throws -> Data {
        path == "-" ? try StandardInput.readAll() : try content(of: path)
    }

    /// Whether a path is of a pipe, such as that of `<(…)` in a shell: its bytes can be read once.
    static func isPipe(_ path: String) -> Bool { kind(of: path) == S_IFIFO }

    /// Whether a path is of a pipe, a device or the like, whose number of bytes is known only at their end.
    static func isStream(_ path: String) -> Bool {
        guard let kind = kind(of: path) else { return false }
        return kind != S_IFREG && kind != S_IFDIR
    }

    /// Of the file to which a symbolic link leads; nil where there is none.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Reads to the end, as a pipe or a file of `/proc` has no size that is known before.
    static func content(of path: String) throws -> Data {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StandardInput.ReadError(name: path, code: errno) }
        defer { close(descriptor) }
        return try StandardInput.readAll(descriptor, name: path)
    }
}
