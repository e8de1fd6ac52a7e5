import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The location of a program's stores: a separate folder below `~/.local/share` (or `XDG_DATA_HOME`), and for data that
/// can be restored below `~/.cache` (or `XDG_CACHE_HOME`).
///
/// Each function takes the name of a group of programs that share the store; nil for the program's own store.
package enum StoreLocation {
    /// The store of a cookie storage; nil if the package was built without stores on disk.
    package static func cookies(group: String? = nil) -> (any CookiePersistence)? {
        cookies(at: folder(group: group).appendingPathComponent("Cookies.sqlite").path)
    }

    /// The store of a cookie storage in a file that the caller has chosen.
    package static func cookies(at path: String) -> (any CookiePersistence)? {
        #if Persistence
            return CookieDatabase(url: URL(fileURLWithPath: path))
        #else
            return nil
        #endif
    }

    /// The store of a cache's responses.
    ///
    /// - Parameter folder: Nil for the program's own.
    package static func responses(in folder: URL?, log: StoreLog = StoreLog()) -> (any DiskResponseStore)? {
        #if Persistence
            return ResponseDatabase(folder: folder ?? responseFolder(), log: log)
        #else
            return nil
        #endif
    }

    /// The folder of a cache's responses.
    package static func responseFolder(group: String? = nil) -> URL {
        folder(.cache, group: group).appendingPathComponent("Responses", isDirectory: true)
    }

    /// The store of permanent credentials.
    package static func credentials(group: String? = nil) -> (any CredentialStore)? {
        #if Persistence
            return CredentialDatabase(folder: folder(group: group))
        #else
            return nil
        #endif
    }

    /// The store of HSTS hosts.
    package static func hsts(group: String? = nil) -> (any HSTSPersistence)? {
        #if Persistence
            let former = group == nil ? formerFolder?.appendingPathComponent(hstsName) : nil
            return HSTSDatabase(url: folder(group: group).appendingPathComponent(hstsName), former: former)
        #else
            return nil
        #endif
    }

    /// The journal of background sessions; nil if the package was built without stores on disk. Throws if the folder
    /// belongs to another user or cannot be created.
    package static func transferJournal(folder: URL, log: StoreLog = StoreLog()) throws -> (any TransferJournal)? {
        #if Persistence
            return try TransferDatabase(folder: folder, log: log)
        #else
            return nil
        #endif
    }

    /// The folder of the user's background sessions, of all programs: `loadkit` in `XDG_STATE_HOME`, or in
    /// `~/.local/state`.
    package static func stateFolder(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        BaseFolder.state.url(environment).appendingPathComponent("loadkit", isDirectory: true)
    }

    static func folder(_ base: BaseFolder = .data, group: String? = nil) -> URL {
        folder(base, named: group.map { "Groups/\(fileName($0))" } ?? fileName(RunningProgram.identifier))
    }

    /// The folder in which former versions stored the data of all programs with this name together. Each of these
    /// programs may have written to it, so no secrets are imported from it.
    private static var formerFolder: URL? {
        RunningProgram.bundleIdentifier == nil
            ? folder(.data, named: fileName(RunningProgram.name)) : nil
    }

    static func folder(
        _ base: BaseFolder, named name: String,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        base.url(environment).appendingPathComponent("LoadingKit/\(name)", isDirectory: true)
    }

    /// Converts any name to the name of a single file. Different names have different file names.
    static func fileName(_ name: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        let encoded = name.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return encoded.hasPrefix(".") || encoded.isEmpty ? "%2E" + encoded.dropFirst() : encoded
    }
}

#if Persistence
    /// A store's folder on disk, which only its user can access.
    enum StoreFolder {
        /// Creates the folder if it does not exist. An existing folder keeps its mode.
        static func make(_ url: URL) throws {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Shows which processes use a folder: each holds a shared lock on a file in it until its end, whatever the cause
    /// of the end.
    final class FolderLock: Sendable {
        private let descriptor: Int32
        /// Whether this process was the only user of the folder, and remains so until it calls ``share()``.
        let isAlone: Bool

        init(_ url: URL) throws {
            let result = SystemCalls.open(url.path, O_RDWR | O_CREAT, mode: 0o600)
            descriptor = Int32(try StoreFailure.check("open", url.path, result))
            isAlone = SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) == 0
            if !isAlone { share() }
        }

        /// Allows other processes to use the folder. Waits for a process that is the only user.
        func share() { _ = SystemCalls.lock(descriptor, LOCK_SH) }

        deinit { SystemCalls.closeLocked(descriptor) }
    }
#endif
