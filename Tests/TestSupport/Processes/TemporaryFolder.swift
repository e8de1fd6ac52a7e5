import CTestFolders
import Foundation

/// A private folder that is removed, with all that is in it, when nobody holds it any more.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package var path: String { url.path }

    package init() throws {
        var template = Array("\(NSTemporaryDirectory())/loadingkit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        let path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        url = URL(fileURLWithPath: path, isDirectory: true).standardizedFileURL
    }

    deinit { remove() }

    /// Removes it now, also while a database in it is being closed, which removes files of its own.
    package func remove() { _ = test_folders_remove(path) }

    package func file(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }

    /// Writes a file, and the folders that its name mentions.
    @discardableResult
    package func write(_ bytes: some DataProtocol, to name: String) throws -> URL {
        let file = file(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
        return file
    }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> URL {
        try write(Array(text.utf8), to: name)
    }

    /// Writes a script that can be executed.
    @discardableResult
    package func writeProgram(_ text: String, to name: String) throws -> URL {
        let source = try write(text, to: name + ".text")
        defer { try? FileManager.default.removeItem(at: source) }
        return try copyProgram(source, to: name)
    }

    /// Copies a program, by another process: while a file is written here, a process that is just being started may have it
    /// open, too, and until that process runs, the system does not execute the file (`ETXTBSY`).
    @discardableResult
    package func copyProgram(_ program: URL, to name: String) throws -> URL {
        let copy = file(name)
        guard system("/usr/bin/install -D -m 755 '\(program.path)' '\(copy.path)'") == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
        return copy
    }

    /// The names of what is in it, sorted.
    package func contents() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
