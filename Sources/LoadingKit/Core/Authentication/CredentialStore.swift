/// Where a credential storage keeps the credentials that outlive the process. May be used from any thread.
package protocol CredentialStore: Sendable {
    /// What was saved last. May block.
    func load() -> [StoredCredential]

    /// Keeps these in place of all that were kept before. Must not block. Calls of several threads may come in another
    /// order than the changes that led to them: one with a lower revision than another's before it is out of date.
    func save(_ credentials: [StoredCredential], revision: Int)
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
