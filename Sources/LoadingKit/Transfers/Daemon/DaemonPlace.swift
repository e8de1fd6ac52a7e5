import Foundation
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
    ) throws -> DaemonPlace {
        if let named = environment["XDG_RUNTIME_DIR"], !named.isEmpty {
            guard named.hasPrefix("/") else { throw DaemonError("XDG_RUNTIME_DIR is not an absolute path: \(named)") }
            guard isFolder(named) else {
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
    package func prepare() throws {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard socket.utf8.count <= limit else {
            throw DaemonError(
                "the socket's path has more than \(limit) bytes: \(socket). XDG_RUNTIME_DIR has to be shorter")
        }
        guard !socket.utf8.contains(0) else { throw DaemonError("the socket's path has a NUL") }
        try PrivateFolder.make(folder, makesParents: false)
    }

    /// Removes the socket of a daemon that has ended. Only for the one that has the lock.
    func removeSocket() throws {
        var status = stat()
        let result = SystemCalls.lstat(socket, &status)
        if result == -Int(ENOENT) { return }
        guard result >= 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw DaemonError("\(socket) is in the way: it is no socket of this user")
        }
        _ = SystemCalls.unlink(socket)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return SystemCalls.stat(path, &status) >= 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

/// Why there is no daemon to perform transfers.
package struct DaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }

    package init(_ error: any Error) { self = error as? DaemonError ?? DaemonError("\(error)") }

    /// As a session reports it.
    package var transferError: TransferError {
        TransferError(.backgroundSessionWasDisconnected, "Background sessions are not available: \(description)")
    }
}
