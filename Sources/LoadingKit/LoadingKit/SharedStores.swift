import Foundation
import LoadingKitCore
import LoadingKitPersistence
import LoadingKitPrimitives

/// Core finds this class by its name.
final class DiskStores: DiskResponseStoreComposition {
    static let makeStore: @Sendable (URL?) -> (any DiskResponseStore)? = { StoreLocation.responses(in: $0) }
}

// The stores of the program, which sessions share. Core gets their locations on disk here.

extension URLCredentialStorage {
    /// The default credential storage of sessions. It stores permanent credentials on disk.
    ///
    /// They are in `Credentials.sqlite` in the program's folder below `~/.local/share/LoadingKit` (`XDG_DATA_HOME`),
    /// encrypted with AES-256-GCM. The key is in the file `Credentials.key` beside it, which only the user can read.
    /// This protects credentials where the database is disclosed without the key: copied, backed up or shared by
    /// itself. It does not protect them from a process that can read both, above all from any process of the same user.
    /// To move them, copy both files while no program uses them. Without its key a credential cannot be read, and
    /// counts as missing; this is logged in one line.
    ///
    /// Programs that run at the same time keep each other's changes. A program reads the stored credentials at its
    /// first use.
    public class var shared: URLCredentialStorage {
        diskStore
        return ofProgram
    }

    /// Attaches the store to the program's storage, at the first use.
    private static let diskStore: Void = {
        if let store = StoreLocation.credentials() { ofProgram.attach(store) }
    }()
}

extension HTTPCookieStorage {
    private static let sharedStorage = HTTPCookieStorage(persistence: StoreLocation.cookies())
    private static let groupStorages = Guarded<[String: HTTPCookieStorage]>([:])

    /// The program's own storage, the default for sessions. Cookies that do not expire with the session are stored on
    /// disk, in a folder of the program below `~/.local/share` (`XDG_DATA_HOME`) that no other user can read.
    public class var shared: HTTPCookieStorage { sharedStorage }

    /// The storage of a group of programs, always the same object for an identifier.
    ///
    /// Programs of the same user with the same identifier share a file. Each program reads it once, at the first call;
    /// it does not see cookies that others store afterwards.
    public class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage {
        if let known = groupStorages.withLock({ $0[identifier] }) { return known }
        let made = HTTPCookieStorage(persistence: StoreLocation.cookies(group: identifier))
        return groupStorages.withLock { storages in
            let kept = storages[identifier] ?? made
            storages[identifier] = kept
            return kept
        }
    }
}

extension HSTSStore {
    /// The store that the program's persistent sessions share.
    package static let shared = HSTSStore(persistence: StoreLocation.hsts())
}
