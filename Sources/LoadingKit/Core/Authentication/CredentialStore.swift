/// Where a credential storage keeps the credentials that outlive the process. May be used from any thread.
package protocol CredentialStore: Sendable {
    /// The credentials that were saved last. May block.
    func load() -> [StoredCredential]

    /// Keeps changes, in the order of the calls. Must not block, and must not call the storage: it holds a lock.
    func save(_ changes: [CredentialChange])

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// One change of the credentials that are kept. Credentials that other processes have kept stay as they are.
package enum CredentialChange: Sendable, Hashable {
    /// Keep a credential, in place of the one for the same space and user. If it is the default of its space, no other
    /// credential of the space is the default any longer.
    case keep(StoredCredential)
    case forget(user: String, URLProtectionSpace)
    case forgetAll
}

/// A credential as it is kept.
package struct StoredCredential: Sendable, Hashable {
    package let space: URLProtectionSpace
    package let credential: URLCredential
    /// Whether it is the one to propose for its protection space.
    package let isDefault: Bool

    package init(space: URLProtectionSpace, credential: URLCredential, isDefault: Bool) {
        self.space = space
        self.credential = credential
        self.isDefault = isDefault
    }
}
