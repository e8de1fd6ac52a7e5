import Foundation
import Glibc
import LoadingKitTransport

package enum PrivateFolder {
    /// Creates the folder where it is missing. Throws where something else is in its place: a symbolic link, another
    /// user's folder, or one that others can read.
    ///
    /// - Parameters:
    ///   - makesParents: Whether missing parent folders are created, too.
    ///   - failure: The error where the folder cannot be created, of the result of the system call.
    package static func make(
        _ path: String, makesParents: Bool = true,
        failure: (URLError.Code, String, Int) -> any Error = { DownloadFailure.make($0, $1, $2) }
    ) throws {
        let parent = (path as NSString).deletingLastPathComponent
        if makesParents {
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let made = SystemCalls.makeDirectory(path)
        guard made == 0 || made == -Int(EEXIST) else {
            throw failure(.cannotCreateFile, "the folder \(path) cannot be made", made)
        }
        try check(path)
    }

    private static func check(_ path: String) throws {
        var status = stat()
        let result = SystemCalls.lstat(path, &status)
        guard result == 0 else {
            throw DownloadFailure.make(.cannotOpenFile, "the folder \(path) cannot be examined", result)
        }
        let fault: String? =
            switch status.st_mode & S_IFMT {
            case S_IFLNK: "is a symbolic link"
            case S_IFDIR where status.st_uid != geteuid(): "belongs to another user"
            case S_IFDIR where status.st_mode & 0o077 != 0: "is open to other users (its mode must be 0700)"
            case S_IFDIR: nil
            case _: "is not a folder"
            }
        if let fault { throw LoadFailure(.cannotOpenFile, "the folder \(path) \(fault)") }
    }
}
