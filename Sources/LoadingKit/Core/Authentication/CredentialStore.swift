/// Where a credential storage keeps the credentials that outlive the process. May be used from any thread.
package protocol CredentialStore: Sendable {
    /// What was saved last. May block.
    func load() -> [StoredCredential]

    /// Keeps changes, in the order of the calls. Must not block, nor call out.
    func save(_ changes: [CredentialChange])

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// One change of the credentials that are kept. Those of other processes stay as they are.
package enum CredentialChange: Sendable, Hashable {
    /// Keep it, in place of that of the same space and user; when it is the one to propose, no other is.
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
