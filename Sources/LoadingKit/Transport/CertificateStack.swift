import CLoadingKitOpenSSL

/// Parsed certificates in a list of OpenSSL's.
final class CertificateStack {
    let pointer: OpaquePointer

    /// Nil when memory is out, or one of them is malformed.
    init?(_ certificates: some Sequence<Certificate>) {
        guard let pointer = OPENSSL_sk_new_null() else { return nil }
        self.pointer = pointer
        for certificate in certificates {
            guard let parsed = certificate.parse() else { return nil }
            guard OPENSSL_sk_push(pointer, UnsafeMutableRawPointer(parsed)) > 0 else {
                X509_free(parsed)
                return nil
            }
        }
    }

    deinit {
        while let element = OPENSSL_sk_pop(pointer) { X509_free(OpaquePointer(element)) }
        OPENSSL_sk_free(pointer)
    }

    /// The certificates of a list that somebody else owns.
    static func certificates(in list: OpaquePointer?) -> [Certificate] {
        guard let list else { return [] }
        return (0..<max(0, OPENSSL_sk_num(list))).compactMap { index in
            OPENSSL_sk_value(list, index).flatMap { Certificate(OpaquePointer($0)) }
        }
    }
}
