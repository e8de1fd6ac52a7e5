import LoadingKitCore
import LoadingKitPersistence
import LoadingKitPrimitives

extension URLSessionConfiguration {
    /// The name of the stores that the configuration's sessions use: cookies, cache, credentials, and hosts that are to be
    /// reached by `https` alone. Default nil: the program's own, which are known by its bundle identifier or, without one, by
    /// its name and where it is. An ephemeral configuration has stores in memory.
    ///
    /// All programs of a user that give the same name share the stores. So programs can work together, and a program that
    /// is moved, or installed in a folder for each version, finds again what it kept. Choose a name that no other program
    /// takes by chance, such as `org.example.reader`.
    ///
    /// Setting it gives the configuration the stores of that name on disk, an ephemeral one, too; what is set afterwards
    /// (``httpCookieStorage``, ``urlCache``, ``urlCredentialStorage``) holds instead. Setting nil gives it the program's
    /// own. The cookies are those of `HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier:)`.
    public var storeIdentifier: String? {
        get { settings.storeIdentifier }
        set {
            guard newValue != settings.storeIdentifier else { return }
            settings.storeIdentifier = newValue
            let stores = newValue.map(NamedStores.of) ?? NamedStores()
            settings.httpCookieStorage = stores.cookies
            settings.urlCache = stores.responses
            settings.credentialStorage = stores.credentials
            settings.hsts = stores.hsts
        }
    }
}

/// The stores of one name, which are the same for all of the process's configurations.
private struct NamedStores: Sendable {
    private static let made = Guarded<[String: NamedStores]>([:])

    let cookies: HTTPCookieStorage
    let responses: URLCache
    let credentials: URLCredentialStorage
    let hsts: HSTSStore

    /// The program's own.
    init() {
        cookies = .shared
        responses = .shared
        credentials = .shared
        hsts = .shared
    }

    private init(_ name: String) {
        cookies = .sharedCookieStorage(forGroupContainerIdentifier: name)
        responses = URLCache(
            memoryCapacity: URLCache.defaultMemoryCapacity, diskCapacity: URLCache.defaultDiskCapacity,
            directory: StoreLocation.responseFolder(group: name))
        credentials = StoreLocation.credentials(group: name).map { URLCredentialStorage($0) } ?? URLCredentialStorage()
        hsts = HSTSStore(persistence: StoreLocation.hsts(group: name))
    }

    static func of(_ name: String) -> NamedStores {
        if let known = made.withLock({ $0[name] }) { return known }
        let new = NamedStores(name)
        return made.withLock { made in
            let kept = made[name] ?? new
            made[name] = kept
            return kept
        }
    }
}
