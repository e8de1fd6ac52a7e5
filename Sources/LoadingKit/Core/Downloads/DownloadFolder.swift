import Foundation
import Glibc
import LoadingKitTransport

/// The private folder in which downloads are put together: `LoadingKit-<user>` in the temporary folder, of mode 0700, so
/// that a download that broke can be resumed by another process of the same user.
///
/// Its functions may block.
enum DownloadFolder {
    private static let prefix = "CFNetworkDownload_"
    private static let suffix = ".tmp"

    /// A name that no file has.
    static func newName() -> String { "\(prefix)\(UUID().uuidString)\(suffix)" }

    /// Whether the name is one of those that `newName` gives: others are not to be touched.
    static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))) != nil
    }

    /// The path of a file, whose folder is made where there is none.
    static func path(of name: String) throws -> String {
        let folder = NSTemporaryDirectory() + "LoadingKit-\(getuid())"
        let made = SystemCalls.makeDirectory(folder)
        guard made == 0 || made == -Int(EEXIST) else {
            throw DownloadFailure.make(.cannotCreateFile, "the folder \(folder) cannot be made", made)
        }
        // Whoever may write to the temporary folder could have made it.
        guard isPrivate(folder) else {
            let text =
                "the folder \(folder), in which downloads are put together, belongs to another user or is open to"
            throw LoadFailure(.cannotCreateFile, "\(text) others: remove it, or set TMPDIR")
        }
        return "\(folder)/\(name)"
    }

    private static func isPrivate(_ folder: String) -> Bool {
        var status = stat()
        guard lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
        return status.st_uid == getuid() && status.st_mode & 0o077 == 0
    }
}

/// Failures of the file that a download goes to.
enum DownloadFailure {
    /// - Parameter result: of the system call.
    static func make(_ code: URLError.Code, _ text: String, _ result: Int) -> LoadFailure {
        let errno = Int32(clamping: -result)
        let reason = SystemCalls.text(ofError: errno)
        switch errno {
        case ENOSPC: return LoadFailure(code, "\(text): the disk is full (\(reason))")
        case EDQUOT: return LoadFailure(code, "\(text): the user's quota is used up (\(reason))")
        case EFBIG: return LoadFailure(code, "\(text): it is larger than a file may be (\(reason))")
        case EACCES, EPERM, EROFS: return LoadFailure(code, "\(text): that is not permitted (\(reason))")
        case _: return LoadFailure(code, "\(text): \(reason)")
        }
    }
}
