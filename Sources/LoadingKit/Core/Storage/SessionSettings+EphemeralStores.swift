extension HTTPCookieStorage: EphemeralStore {
    package func clear() { removeCookies(since: .distantPast) }
}

extension URLCredentialStorage: EphemeralStore {
    package func clear() { removeAll() }
}

extension URLCache: EphemeralStore {
    package func clear() { removeAllCachedResponses() }
}

extension HSTSStore: EphemeralStore {
    package func clear() { removeAll() }
}

extension SessionSettings {
    /// The stores that an ephemeral configuration has made.
    var ephemeralStores: [any EphemeralStore] { stores.filter { $0.ephemeralUses != nil } }

    /// Marks the stores as the configuration's own.
    package func ownStores() { for store in stores { store.ephemeralUses = EphemeralUses() } }

    private var stores: [any EphemeralStore] {
        let stores: [(any EphemeralStore)?] = [httpCookieStorage, credentialStorage, urlCache, hsts]
        return stores.compactMap { $0 }
    }
}
