import CLoadingKitOpenSSL

/// The source of lists of revoked certificates.
package enum RevocationListSource: Sendable, Hashable {
    /// A file with lists in PEM, or with one list in DER.
    case file(path: String)
    /// Lists in PEM, or one list in DER.
    case bytes([UInt8])
}

/// Lists of revoked certificates (RFC 5280 §5), against which certificates are verified.
///
/// An authority's list applies to each certificate that the authority has issued, and must be valid at that time.
/// Certificates of authorities without a list are not checked.
final class RevocationLists: @unchecked Sendable {  // OpenSSL locks a list; they are not changed after they were read
    private let stack: OpaquePointer

    /// - Parameters:
    ///   - others: further lists that apply.
    ///   - place: the origin of lists that are not from a file.
    init(
        _ sources: [RevocationListSource], besides others: RevocationLists? = nil,
        of place: String = "the configuration"
    ) throws(TransportError) {
        guard let stack = OPENSSL_sk_new_null() else { throw TransportError.misconfiguredTLS("no memory is left") }
        self.stack = stack
        if let others { try append(all: others) }
        for source in sources { try read(source, place) }
    }

    deinit { OPENSSL_sk_pop_free(stack) { X509_CRL_free(OpaquePointer($0)) } }

    /// Makes a verification use the lists, which must outlive it.
    func install(in store: OpaquePointer) {
        X509_STORE_CTX_set0_crls(store, stack)
        X509_VERIFY_PARAM_set_flags(
            X509_STORE_CTX_get0_param(store), UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
        X509_STORE_CTX_set_verify_cb(store, passOverMissingList)
    }

    /// The entry of a list for a revoked certificate, as text.
    func text(about certificate: OpaquePointer) -> String? {
        let issuer = X509_get_issuer_name(certificate)
        for list in OpenSSLValues.elements(of: stack) where X509_NAME_cmp(X509_CRL_get_issuer(list), issuer) == 0 {
            var entry: OpaquePointer?
            guard X509_CRL_get0_by_cert(list, &entry, certificate) > 0 else { continue }
            let when = CertificateTime(X509_REVOKED_get0_revocationDate(entry)).map { " at \($0)" } ?? ""
            let begin = CertificateTime(X509_CRL_get0_lastUpdate(list)).map { " of \($0)" } ?? ""
            return "revoked\(when), by the authority's list\(begin)"
        }
        return nil
    }

    // MARK: Reading

    private func append(all others: RevocationLists) throws(TransportError) {
        for list in OpenSSLValues.elements(of: others.stack) {
            X509_CRL_up_ref(list)
            try append(list)
        }
    }

    /// Takes over the reference.
    private func append(_ list: OpaquePointer) throws(TransportError) {
        guard OPENSSL_sk_push(stack, UnsafeMutableRawPointer(list)) > 0 else {
            X509_CRL_free(list)
            throw TransportError.misconfiguredTLS("no memory is left")
        }
    }

    private func read(_ source: RevocationListSource, _ place: String) throws(TransportError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        switch source {
        case .file(let path):
            try append(all: RevocationListFile.read(path).lists)
        case .bytes(let bytes):
            try BytesBIO.reading(bytes) { bio throws(TransportError) in
                guard let bio else { throw Self.malformed(place) }
                guard try readPEM(bio) == 0 else { return }
                try BytesBIO.reading(bytes) { bio throws(TransportError) in try readDER(bio, place) }
            }
        }
    }

    /// Returns the number of lists in PEM text.
    private func readPEM(_ bio: OpaquePointer) throws(TransportError) -> Int {
        var count = 0
        while let list = PEM_read_bio_X509_CRL(bio, nil, lk_no_password, nil) {
            count += 1
            try append(Self.checked(list))
        }
        guard count == 0 || OpenSSLError.lastIsEndOfPEM else { throw Self.malformed("PEM text") }
        return count
    }

    private func readDER(_ bio: OpaquePointer?, _ place: String) throws(TransportError) {
        ERR_clear_error()
        guard let bio, let list = d2i_X509_CRL_bio(bio, nil) else { throw Self.malformed(place) }
        try append(Self.checked(list))
    }

    private static func malformed(_ place: String) -> TransportError {
        TransportError.misconfiguredTLS("\(place) has no list of revoked certificates, or a malformed one")
    }

    /// A list that OpenSSL would ignore is refused, as otherwise its lack of effect would remain unnoticed.
    private static func checked(_ list: OpaquePointer) throws(TransportError) -> OpaquePointer {
        guard let kind = unusableKind(of: list) else { return list }
        X509_CRL_free(list)
        throw TransportError.misconfiguredTLS(
            "a list of revoked certificates is \(kind); only complete lists can be used")
    }

    private static func unusableKind(of list: OpaquePointer) -> String? {
        if X509_CRL_get_ext_by_NID(list, NID_delta_crl, -1) >= 0 { return "a delta list (RFC 5280 §5.2.4)" }
        guard let raw = X509_CRL_get_ext_d2i(list, NID_issuing_distribution_point, nil, nil) else { return nil }
        let point = raw.assumingMemoryBound(to: ISSUING_DIST_POINT.self)
        defer { ISSUING_DIST_POINT_free(point) }
        if point.pointee.indirectCRL > 0 { return "one of several authorities (indirect, RFC 5280 §5.2.5)" }
        if point.pointee.onlysomereasons != nil { return "one of some reasons alone (RFC 5280 §5.2.5)" }
        return nil
    }
}

/// Accepts a certificate whose authority has no list.
private func passOverMissingList(_ isValid: Int32, _ store: OpaquePointer?) -> Int32 {
    guard isValid == 0, X509_STORE_CTX_get_error(store) == X509_V_ERR_UNABLE_TO_GET_CRL else { return isValid }
    X509_STORE_CTX_set_error(store, X509_V_OK)
    return 1
}
