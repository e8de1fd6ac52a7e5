import Foundation
import LoadingKitCore
import LoadingKitPersistence
import LoadingKitPrimitives

// The stores of the program, which sessions share. Their places on disk are handed to Core here.

extension URLCache {
    /// The cache that sessions use unless told otherwise: 4 MiB of memory, 20 MiB of disk, in the program's folder below
    /// `~/.cache/LoadingKit` (`XDG_CACHE_HOME`).
    public class var shared: URLCache {
        get {
            handOverDiskStores()
            return ofProgram
        }
        set { ofProgram = newValue }
    }

    /// Makes a cache, which has what was kept in its folder before.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The most that responses may take of memory, in bytes.
    ///   - diskCapacity: The most that responses may take of the disk, in bytes; with 0 the folder is not touched.
    ///   - directory: The folder to keep responses in, as in ``init(memoryCapacity:diskCapacity:diskPath:)``.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        Self.handOverDiskStores()
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// Hands Core the stores on disk of caches, with the first call.
    static func handOverDiskStores() { diskStores }

    private static let diskStores: Void = DiskResponseStores.handOver { StoreLocation.responses(in: $0) }
}

/// Is found by its name where a program makes a cache before it uses anything of this module.
final class DiskStores: DiskResponseStoreComposition {
    static func handOverDiskStores() { URLCache.handOverDiskStores() }
}

extension URLCredentialStorage {
    /// The storage that sessions use unless told otherwise. It keeps permanent credentials on disk.
    ///
    /// They are in `Credentials.sqlite` in the program's folder below `~/.local/share/LoadingKit` (`XDG_DATA_HOME`),
    /// encrypted with AES-256-GCM; the key is in the file `Credentials.key` beside it, which the user alone may read. This
    /// protects credentials where the database gets into other hands without the key: copied, backed up or shared by itself.
    /// It does not protect them from a process that can read both, above all from any process of the same user. To move
    /// them, copy both files while no program uses them. Without its key a credential cannot be read, and counts as not
    /// there; one line of the log says so.
    ///
    /// Programs that run at the same time keep what each of them changes; a program reads what is kept at its first use.
    public class var shared: URLCredentialStorage {
        diskStore
        return ofProgram
    }

    /// Gives the program's storage its store, with the first use.
    private static let diskStore: Void = {
        if let store = StoreLocation.credentials() { ofProgram.attach(store) }
    }()
}

extension HTTPCookieStorage {
    private static let sharedStorage = HTTPCookieStorage(persistence: StoreLocation.cookies())
    private static let groupStorages = Guarded<[String: HTTPCookieStorage]>([:])

    /// The program's own storage, which sessions use unless told otherwise. Cookies that do not end with the session are
    /// kept on disk, in a folder of the program below `~/.local/share` (`XDG_DATA_HOME`) that no other user can read.
    public class var shared: HTTPCookieStorage { sharedStorage }

    /// The storage of a group of programs, always the same for an identifier.
    ///
    /// Programs of the same user that ask for the same identifier have the same file. Each reads it once, when it first
    /// asks; what others store afterwards it does not see.
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
    /// What the program's sessions share that keep things beyond their end.
    package static let shared = HSTSStore(persistence: StoreLocation.hsts())
}
