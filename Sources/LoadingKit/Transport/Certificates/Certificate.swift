import CLoadingKitOpenSSL

/// An X.509 certificate.
package struct Certificate: Sendable, Hashable {
    package var der: [UInt8]

    package init(der: [UInt8]) { self.der = der }

    init?(_ certificate: OpaquePointer) {
        guard let der = OpenSSLValues.der({ i2d_X509(certificate, &$0) }) else { return nil }
        self.der = der
    }

    /// The subject's distinguished name (RFC 2253); `nil` if the bytes are not a certificate.
    package var subject: String? { withParsed { X509_get_subject_name($0).map(Self.text(of:)) } }

    package var issuer: String? { withParsed { X509_get_issuer_name($0).map(Self.text(of:)) } }

    /// The first second at which the certificate is valid, since 1970.
    package var notBefore: Int64? { withParsed { CertificateTime(X509_get0_notBefore($0))?.seconds } }

    /// The last second at which the certificate is valid, since 1970.
    package var notAfter: Int64? { withParsed { CertificateTime(X509_get0_notAfter($0))?.seconds } }

    /// The certificate's hash for the channel binding `tls-server-end-point`: with the hash function of the
    /// certificate's signature, or with SHA-256 if that is MD5 or SHA-1 (RFC 5929 §4.1). `nil` if the signature has
    /// none.
    package var endPointHash: [UInt8]? {
        withParsed { certificate in
            var digest: Int32 = 0
            guard X509_get_signature_info(certificate, &digest, nil, nil, nil) == 1 else { return nil }
            if digest == NID_md5 || digest == NID_sha1 { digest = NID_sha256 }
            guard let function = EVP_get_digestbyname(OBJ_nid2sn(digest)) else { return nil }
            var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard X509_digest(certificate, function, &hash, &count) == 1 else { return nil }
            return Array(hash.prefix(Int(count)))
        }
    }

    func withParsed<R>(_ body: (OpaquePointer) -> R?) -> R? {
        guard let certificate = parse() else { return nil }
        defer { X509_free(certificate) }
        return body(certificate)
    }

    /// The certificate in OpenSSL's form, which the caller must free; nil if it is malformed.
    func parse() -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var pointer = buffer.baseAddress
            let certificate = d2i_X509(nil, &pointer, buffer.count)
            if certificate == nil { ERR_clear_error() }
            return certificate
        }
    }

    /// The subject of a parsed certificate, for a person.
    static func subject(of certificate: OpaquePointer?) -> String {
        certificate.flatMap { X509_get_subject_name($0) }.map(text) ?? "unknown"
    }

    private static func text(of name: OpaquePointer) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        X509_NAME_print_ex(bio, name, 0, lk_XN_FLAG_RFC2253 & ~UInt(ASN1_STRFLGS_ESC_MSB))
        var start: UnsafeMutablePointer<CChar>?
        let count = lk_BIO_get_mem_data(bio, &start)
        guard count > 0, let start else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

/// Parsed certificates in OpenSSL's list type.
final class CertificateStack {
    let pointer: OpaquePointer

    /// Nil if memory is exhausted, or if one of them is malformed.
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

    deinit { Self.free(pointer) }

    static func free(_ list: OpaquePointer?) { OPENSSL_sk_pop_free(list) { X509_free(OpaquePointer($0)) } }

    /// The certificates of a list. The list keeps its owner.
    static func certificates(in list: OpaquePointer?) -> [Certificate] {
        OpenSSLValues.elements(of: list).compactMap { Certificate($0) }
    }
}

/// Bytes for OpenSSL to read, such as PEM text.
enum BytesBIO {
    /// `body` gets nil if there are more bytes than OpenSSL accepts, or if memory is exhausted.
    static func reading<R, Failure>(
        _ bytes: [UInt8], _ body: (OpaquePointer?) throws(Failure) -> R
    ) throws(Failure) -> R {
        // OpenSSL does not copy the bytes, so they must stay at their address.
        try bytes.withUnsafeBufferPointer { buffer throws(Failure) in
            guard let count = Int32(exactly: buffer.count), let base = buffer.baseAddress,
                let bio = BIO_new_mem_buf(base, count)
            else { return try body(nil) }
            defer { BIO_free(bio) }
            return try body(bio)
        }
    }
}
