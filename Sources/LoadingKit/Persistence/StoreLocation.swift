import Foundation
import LoadingKitCore

/// Where a program's stores are: a folder of its own below `~/.local/share` (or `XDG_DATA_HOME`), and for what can be had
/// again below `~/.cache` (or `XDG_CACHE_HOME`).
package enum StoreLocation {
    /// What a storage keeps its cookies with; nil where the package was built without stores on disk.
    ///
    /// - Parameter group: The name of a group of programs that share the storage; nil for the program's own.
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
            let own = Self.folder(.cachesDirectory)?.appendingPathComponent("Responses", isDirectory: true)
            return (folder ?? own).map { ResponseDatabase(folder: $0, log: log) }
        #else
            return nil
        #endif
    }

    /// What the program's permanent credentials are kept with.
    package static func credentials() -> (any CredentialStore)? {
        #if Persistence
            return folder().map { CredentialDatabase(folder: $0) }
        #else
            return nil
        #endif
    }

    /// What the program's hosts of strict transport security are kept with.
    package static func strictTransport() -> (any StrictTransportPersistence)? {
        #if Persistence
            return folder().map { StrictTransportDatabase(url: $0.appendingPathComponent("StrictTransport.sqlite")) }
        #else
            return nil
        #endif
    }

    static func folder(
        _ directory: FileManager.SearchPathDirectory = .applicationSupportDirectory, group: String? = nil
    ) -> URL? {
        let base = FileManager.default.urls(for: directory, in: .userDomainMask).first
        let owner = group.map { "Groups/\(fileName($0))" } ?? fileName(program)
        return base?.appendingPathComponent("LoadingKit/\(owner)", isDirectory: true)
    }

    private static var program: String {
        Bundle.main.bundleIdentifier ?? URL(fileURLWithPath: CommandLine.arguments.first ?? "").lastPathComponent
    }

    /// A name as that of one file, whatever is in it; different names give different files.
    static func fileName(_ name: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        let encoded = name.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return encoded.hasPrefix(".") || encoded.isEmpty ? "%2E" + encoded.dropFirst() : encoded
    }
}
