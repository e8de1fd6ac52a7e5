import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Where a program's stores are: a folder of its own below `~/.local/share` (or `XDG_DATA_HOME`), and for what can be had
/// again below `~/.cache` (or `XDG_CACHE_HOME`).
///
/// Each function takes the name of a group of programs that share the store; nil for the program's own.
package enum StoreLocation {
    /// What a storage keeps its cookies with; nil where the package was built without stores on disk.
    package static func cookies(group: String? = nil) -> (any CookiePersistence)? {
        folder(group: group).flatMap { cookies(at: $0.appendingPathComponent("Cookies.sqlite").path) }
    }

    /// What a storage keeps its cookies with in a file of the caller's choice.
    package static func cookies(at path: String) -> (any CookiePersistence)? {
        #if Persistence
            return CookieDatabase(url: URL(fileURLWithPath: path))
        #else
            return nil
        #endif
    }

    /// What a cache keeps its responses with.
    ///
    /// - Parameter folder: Nil for the program's own.
    package static func responses(in folder: URL?, log: StoreLog = StoreLog()) -> (any DiskResponseStore)? {
        #if Persistence
            return (folder ?? responseFolder()).map { ResponseDatabase(folder: $0, log: log) }
        #else
            return nil
        #endif
    }

    /// Where a cache keeps its responses.
    package static func responseFolder(group: String? = nil) -> URL? {
        folder(.cachesDirectory, group: group)?.appendingPathComponent("Responses", isDirectory: true)
    }

    /// What permanent credentials are kept with.
    package static func credentials(group: String? = nil) -> (any CredentialStore)? {
        #if Persistence
            return folder(group: group).map { CredentialDatabase(folder: $0) }
        #else
            return nil
        #endif
    }

    /// What hosts of HSTS are kept with.
    package static func hsts(group: String? = nil) -> (any HSTSPersistence)? {
        #if Persistence
            let former = group == nil ? formerFolder?.appendingPathComponent(hstsName) : nil
            return folder(group: group).map {
                HSTSDatabase(url: $0.appendingPathComponent(hstsName), former: former)
            }
        #else
            return nil
        #endif
    }

    /// What background sessions are kept with; nil where the package was built without stores on disk. Throws where the
    /// folder is another user's, or cannot be made.
    package static func transferJournal(folder: URL, log: StoreLog = StoreLog()) throws -> (any TransferJournal)? {
        #if Persistence
            return try TransferDatabase(folder: folder, log: log)
        #else
            return nil
        #endif
    }

    /// Where the user's background sessions are kept, those of all programs: `loadkit` in `XDG_STATE_HOME`, or in
    /// `~/.local/state`.
    package static var stateFolder: URL {
        let given = ProcessInfo.processInfo.environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let base = given.map { URL(fileURLWithPath: $0, isDirectory: true) }
        let state = base ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/state")
        return state.appendingPathComponent("loadkit", isDirectory: true)
    }

    static func folder(
        _ directory: FileManager.SearchPathDirectory = .applicationSupportDirectory, group: String? = nil
    ) -> URL? {
        folder(directory, named: group.map { "Groups/\(fileName($0))" } ?? fileName(RunningProgram.identifier))
    }

    /// Where former versions kept the stores of all programs of this one's name together. Each of them may have kept
    /// something there, so that nothing secret is taken from it.
    private static var formerFolder: URL? {
        RunningProgram.bundleIdentifier == nil
            ? folder(.applicationSupportDirectory, named: fileName(RunningProgram.name)) : nil
    }

    private static func folder(_ directory: FileManager.SearchPathDirectory, named name: String) -> URL? {
        let base = FileManager.default.urls(for: directory, in: .userDomainMask).first
        return base?.appendingPathComponent("LoadingKit/\(name)", isDirectory: true)
    }

    /// A name as that of one file, whatever is in it; different names give different files.
    static func fileName(_ name: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        let encoded = name.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return encoded.hasPrefix(".") || encoded.isEmpty ? "%2E" + encoded.dropFirst() : encoded
    }
}

#if Persistence
    /// A store's folder on disk, which only its user may look into.
    enum StoreFolder {
        /// Makes it where there is none. One that is there keeps its mode.
        static func make(_ url: URL) throws {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Says which processes use a folder: each holds a shared lock on a file in it, until it ends, however it ends.
    final class FolderLock: Sendable {
        private let descriptor: Int32
        /// Whether this one was alone with the folder, and still is until it calls ``share()``.
        let isAlone: Bool

        init(_ url: URL) throws {
            let result = SystemCalls.open(url.path, O_RDWR | O_CREAT, mode: 0o600)
            descriptor = Int32(try StoreFailure.check("open", url.path, result))
            isAlone = SystemCalls.lock(descriptor, LOCK_EX | LOCK_NB) == 0
            if !isAlone { share() }
        }

        /// Lets others in. Waits for one that is alone.
        func share() { _ = SystemCalls.lock(descriptor, LOCK_SH) }

        deinit { SystemCalls.close(descriptor) }
    }
#endif
