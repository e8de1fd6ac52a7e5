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
    var ephemeralStores: [any EphemeralStore] {
        let stores: [(any EphemeralStore)?] = [httpCookieStorage, credentialStorage, urlCache, hsts]
        return stores.compactMap { $0 }.filter { $0.ephemeralUses != nil }
    }

    /// Marks the stores as the configuration's own.
    package func ownStores() {
        let stores: [(any EphemeralStore)?] = [httpCookieStorage, credentialStorage, urlCache, hsts]
        for store in stores.compactMap({ $0 }) { store.ephemeralUses = EphemeralUses() }
    }
}
