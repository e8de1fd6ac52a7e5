import CLoadingKitOpenSSL

/// Trusted certificates.
final class TrustAnchors: @unchecked Sendable {  // OpenSSL locks a store; it is not changed after it was made
    let store: OpaquePointer

    init?(sharing store: OpaquePointer?) {
        guard let store, X509_STORE_up_ref(store) == 1 else { return nil }
        self.store = store
    }

    /// Nil if one of them is malformed.
    init?(_ certificates: [Certificate]) {
        guard let store = X509_STORE_new() else { return nil }
        self.store = store
        TrustStore.allowPartialChains(store)
        for certificate in certificates {
            guard let parsed = certificate.parse() else { return nil }
            defer { X509_free(parsed) }
            guard X509_STORE_add_cert(store, parsed) == 1 else { return nil }
        }
    }

    deinit { X509_STORE_free(store) }
}
