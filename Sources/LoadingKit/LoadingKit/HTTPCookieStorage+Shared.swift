import LoadingKitCore
import LoadingKitPersistence
import LoadingKitPrimitives

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
