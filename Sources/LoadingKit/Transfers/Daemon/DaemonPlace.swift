import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The meeting place of a user's programs and daemon: a folder that only the user can access.
package struct DaemonPlace: Hashable, Sendable {
    /// The folder `loadkit` in the user's runtime folder.
    package let folder: String

    package init(folder: String) { self.folder = folder }

    package var socket: String { folder + "/daemon.socket" }
    /// The lock file, which the daemon holds as long as it runs.
    package var lock: String { folder + "/daemon.lock" }

    /// The place that the environment names (`XDG_RUNTIME_DIR`), else the usual one. Another user's folder, whose name
    /// `su` and `sudo -E` leave in the environment, is not taken: a folder of root there would lock that user out.
    package static func find(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, usualFolders: String = "/run/user"
    ) throws -> DaemonPlace {
        if let named = environment["XDG_RUNTIME_DIR"], !named.isEmpty {
            guard named.hasPrefix("/") else { throw DaemonError("XDG_RUNTIME_DIR is not an absolute path: \(named)") }
            guard let owner = owner(ofFolder: named) else {
                throw DaemonError("XDG_RUNTIME_DIR names no folder: \(named). \(alternative)")
            }
            // Services have one of root's, which others may enter.
            if owner == geteuid() || owner == 0 && access(named, X_OK) == 0 {
                return DaemonPlace(folder: named + "/loadkit")
            }
        }
        let usual = "\(usualFolders)/\(geteuid())"
        var status = stat()
        guard SystemCalls.lstat(usual, &status) >= 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid()
        else {
            throw DaemonError(
                "there is no runtime folder: XDG_RUNTIME_DIR is not set, or names another user's. \(alternative)")
        }
        return DaemonPlace(folder: usual + "/loadkit")
    }

    private static let alternative =
        "URLSessionConfiguration.runsInProcess has the program perform its transfers itself."

    /// Creates the folder, and checks that only the user can access it. May block.
    package func prepare() throws {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard socket.utf8.count <= limit else {
            throw DaemonError(
                "the socket's path has more than \(limit) bytes: \(socket). XDG_RUNTIME_DIR has to be shorter")
        }
        guard !socket.utf8.contains(0) else { throw DaemonError("the socket's path has a NUL") }
        try PrivateFolder.make(folder, makesParents: false)
    }

    /// Removes the socket of a daemon that has ended. Only the process that holds the lock may call this.
    func removeSocket() throws {
        var status = stat()
        let result = SystemCalls.lstat(socket, &status)
        if result == -Int(ENOENT) { return }
        guard result >= 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw DaemonError("\(socket) is in the way: it is no socket of this user")
        }
        _ = SystemCalls.unlink(socket)
    }

    /// The user to whom a folder belongs; nil where there is no folder.
    private static func owner(ofFolder path: String) -> uid_t? {
        var status = stat()
        return SystemCalls.stat(path, &status) >= 0 && status.st_mode & S_IFMT == S_IFDIR ? status.st_uid : nil
    }
}

/// The reason why no daemon can perform transfers.
package struct DaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }

    package init(_ error: any Error) { self = error as? DaemonError ?? DaemonError("\(error)") }

    /// The error that a session reports.
    package var transferError: TransferError {
        TransferError(.backgroundSessionWasDisconnected, "Background sessions are not available: \(description)")
    }
}
