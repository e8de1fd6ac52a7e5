import Foundation

/// The folder for a new package. Existing files are not changed.
struct PackageFolder {
    /// The absolute path.
    let path: String

    /// - Parameter path: a path as the user types it.
    init(_ path: String) throws(ToolFailure) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw ToolFailure(.usage, "the folder has no name") }
        self.path = URL(fileURLWithPath: path, isDirectory: true).standardizedFileURL.path
        guard !isTaken else {
            throw ToolFailure(.writeError, "\(path) is there, and is not an empty folder; --folder says another place")
        }
    }

    /// SwiftPM identifies a package by its folder's name, and cannot distinguish two with the same name.
    func checkIdentity(against source: LoadingKitSource) throws(ToolFailure) {
        guard RepositoryAddress.lastPart(of: path).lowercased() == source.identity.lowercased() else { return }
        throw ToolFailure(
            .usage, "the package's folder must not be named \(source.identity) like LoadingKit's: --folder says another"
        )
    }

    /// Writes the files. Where this fails, the written files are removed.
    func write(_ files: [PackageFile]) throws(ToolFailure) {
        var made: [URL] = []
        do {
            try makeFolder(URL(fileURLWithPath: path, isDirectory: true), &made)
            for file in files {
                let place = URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent(file.path)
                try makeFolder(place.deletingLastPathComponent(), &made)
                // A file created in the meantime is not overwritten.
                try Data(file.text.utf8).write(to: place, options: .withoutOverwriting)
                made.append(place)
            }
        } catch {
            // A folder that has other files by now stays.
            for place in made.reversed() { remove(place.path) }
            throw ToolFailure(.writeError, "\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Creates the folder, and its parents, where they are missing.
    private func makeFolder(_ folder: URL, _ made: inout [URL]) throws {
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        try makeFolder(folder.deletingLastPathComponent(), &made)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        made.append(folder)
    }

    /// Whether something other than an empty folder exists there. A dangling symbolic link counts.
    private var isTaken: Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        guard let contents = try? FileManager.default.contentsOfDirectory(atPath: path) else { return true }
        return !contents.isEmpty
    }
}
