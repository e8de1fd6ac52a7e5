import LoadingKitCore
import LoadingKitPersistence
import LoadingKitPrimitives

extension URLSessionConfiguration {
    /// The name of the stores that the configuration's sessions use: cookies, cache, credentials, and hosts that must
    /// be reached by `https` only. Default nil: the program's own stores, which are identified by its bundle identifier
    /// or, without one, by its name and location. An ephemeral configuration has stores in memory.
    ///
    /// All programs of a user with the same name share the stores. Programs can thus work together, and a program that
    /// is moved, or installed in a folder for each version, keeps its stores. Choose a name that no other program uses
    /// by chance, such as `org.example.reader`.
    ///
    /// Setting it assigns the stores of that name on disk to the configuration, even to an ephemeral one. Stores that
    /// are set afterwards (``httpCookieStorage``, ``urlCache``, ``urlCredentialStorage``) replace them. Setting nil
    /// assigns the program's own stores. The cookies are those of
    /// `HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier:)`.
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

/// The stores with one name, which are the same for all of the process's configurations.
private struct NamedStores: Sendable {
    private static let made = Guarded<[String: NamedStores]>([:])

    let cookies: HTTPCookieStorage
    let responses: URLCache
    let credentials: URLCredentialStorage
    let hsts: HSTSStore

    /// The program's own stores.
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
