import CLoadingKitOpenSSL

/// Public keys, one of which a server's certificates must have in addition to being trusted: App Transport Security's
/// pinned identities.
package struct PublicKeyPins: Sendable, Hashable {
    /// SHA-256 of the SubjectPublicKeyInfo of authorities. One of them must be in the chain. Empty for any.
    package var authorities: Set<[UInt8]>
    /// SHA-256 of the SubjectPublicKeyInfo of servers' own certificates. Empty for any.
    package var leaves: Set<[UInt8]>

    package init(authorities: Set<[UInt8]>, leaves: Set<[UInt8]>) {
        self.authorities = authorities
        self.leaves = leaves
    }

    /// The failure if a chain does not match the pins, whether or not its verification succeeded; nil if it matches.
    ///
    /// - Parameter isTrusted: whether the verification has succeeded. If it has not, signatures may be wrong:
    ///   certificates count only as far as the signatures are correct.
    func failure(of store: OpaquePointer, isTrusted: Bool) -> CertificateFailure? {
        let certificates = OpenSSLValues.elements(of: X509_STORE_CTX_get0_chain(store))
        guard let leaf = certificates.first ?? X509_STORE_CTX_get0_cert(store) else { return .malformed }
        if !leaves.isEmpty, !leaves.contains(where: { $0 == Certificate.publicKeyHash(of: leaf) }) {
            return Self.failure(leaf, "its public key is none of the pinned ones")
        }
        guard !authorities.isEmpty else { return nil }
        let issuers = isTrusted ? certificates[...] : Self.signed(certificates)
        let isPinned = issuers.dropFirst().contains { issuer in
            Certificate.publicKeyHash(of: issuer).map(authorities.contains) ?? false
        }
        return isPinned ? nil : Self.failure(leaf, "none of the authorities in its chain is a pinned one")
    }

    /// The first certificates of the chain in which each is signed by the next one.
    private static func signed(_ chain: [OpaquePointer]) -> ArraySlice<OpaquePointer> {
        var count = min(1, chain.count)
        while count < chain.count, let key = X509_get0_pubkey(chain[count]), X509_verify(chain[count - 1], key) == 1 {
            count += 1
        }
        ERR_clear_error()
        return chain[..<count]
    }

    private static func failure(_ leaf: OpaquePointer, _ text: String) -> CertificateFailure {
        CertificateFailure(X509_V_ERR_APPLICATION_VERIFICATION, leaf, text, .pinMismatch)
    }
}
