import CLoadingKitOpenSSL

/// Public keys of which a server's certificates have to have one, besides being trusted: what App Transport Security calls
/// pinned identities.
package struct PublicKeyPins: Sendable, Hashable {
    /// SHA-256 of the SubjectPublicKeyInfo of authorities: one of them has to be in the chain. Empty: any.
    package var authorities: Set<[UInt8]>
    /// The same of servers' own certificates. Empty: any.
    package var leaves: Set<[UInt8]>

    package init(authorities: Set<[UInt8]>, leaves: Set<[UInt8]>) {
        self.authorities = authorities
        self.leaves = leaves
    }

    /// Why a chain that was verified, or that could not be, does not fulfil the pins; nil where it does.
    ///
    /// - Parameter isTrusted: whether the verification has succeeded. Where it has not, the signatures may be wrong: a
    ///   certificate counts as far as they are right.
    func failure(of store: OpaquePointer, isTrusted: Bool) -> CertificateFailure? {
        let chain = X509_STORE_CTX_get0_chain(store)
        let certificates = (0..<max(0, OPENSSL_sk_num(chain))).compactMap { index in
            OPENSSL_sk_value(chain, index).map { OpaquePointer($0) }
        }
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

    /// The certificates up to the last that is signed by the one behind it, and that one.
    private static func signed(_ chain: [OpaquePointer]) -> ArraySlice<OpaquePointer> {
        var count = min(1, chain.count)
        while count < chain.count, let key = X509_get0_pubkey(chain[count]), X509_verify(chain[count - 1], key) == 1 {
            count += 1
        }
        ERR_clear_error()
        return chain[..<count]
    }

    private static func failure(_ leaf: OpaquePointer, _ text: String) -> CertificateFailure {
        CertificateFailure(
            code: X509_V_ERR_APPLICATION_VERIFICATION,
            subject: X509_get_subject_name(leaf).map(Certificate.text(of:)) ?? "unknown", depth: 0, text: text,
            reason: .pinMismatch)
    }
}
