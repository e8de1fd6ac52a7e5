import Foundation
import Glibc
import LoadingKitCore
import LoadingKitTransport

/// Where programs and the daemon of a user meet: a folder that only the user may look into.
package struct DaemonPlace: Hashable, Sendable {
    /// `loadkit` in the user's folder for what runs.
    package let folder: String

    package init(folder: String) { self.folder = folder }

    package var socket: String { folder + "/daemon.socket" }
    /// Locked by the daemon as long as it runs.
    package var lock: String { folder + "/daemon.lock" }

    /// The place that the environment names (`XDG_RUNTIME_DIR`), else the usual one.
    package static func find(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, usualFolders: String = "/run/user"
    ) throws(DaemonError) -> DaemonPlace {
        if let named = environment["XDG_RUNTIME_DIR"], !named.isEmpty {
            guard named.hasPrefix("/") else { throw DaemonError("XDG_RUNTIME_DIR is not an absolute path: \(named)") }
            guard kind(of: named) == S_IFDIR else {
                throw DaemonError("XDG_RUNTIME_DIR names no folder: \(named). \(alternative)")
            }
            return DaemonPlace(folder: named + "/loadkit")
        }
        let usual = "\(usualFolders)/\(geteuid())"
        var status = stat()
        guard SystemCalls.lstat(usual, &status) >= 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid()
        else {
            throw DaemonError("there is no folder for what runs: XDG_RUNTIME_DIR is not set. \(alternative)")
        }
        return DaemonPlace(folder: usual + "/loadkit")
    }

    private static let alternative =
        "URLSessionConfiguration.runsInProcess has the program perform its transfers itself."

    /// Makes the folder, and checks that it is the user's alone. May block.
    package func prepare() throws(DaemonError) {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard socket.utf8.count <= limit else {
            throw DaemonError(
                "the socket's path has more than \(limit) bytes: \(socket). XDG_RUNTIME_DIR has to be shorter")
        }
        guard !socket.utf8.contains(0) else { throw DaemonError("the socket's path has a NUL") }
        do {
            try PrivateFolder.make(folder, makesParents: false)
        } catch {
            throw DaemonError("\(error)")
        }
    }

    /// Removes the socket of a daemon that has ended. Only for the one that has the lock.
    func removeSocket() throws(DaemonError) {
        var status = stat()
        let result = SystemCalls.lstat(socket, &status)
        if result == -Int(ENOENT) { return }
        guard result >= 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw DaemonError("\(socket) is in the way: it is no socket of this user")
        }
        _ = SystemCalls.unlink(socket)
    }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return SystemCalls.stat(path, &status) >= 0 ? status.st_mode & S_IFMT : nil
    }
}
