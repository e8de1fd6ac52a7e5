import CLoadingKitOpenSSL

/// The rounds of key derivation for which encrypted keys and files ask, together. A file with more rounds is made to
/// waste time.
enum KeyDerivation {
    private static let maximumRounds = 10_000_000.0

    /// Checks a key in DER. One that is not PKCS#8, or not encrypted, passes.
    static func check(keyDER: [UInt8]) throws(IdentityFailure) {
        defer { ERR_clear_error() }
        try check(keyDER.withUnsafeBufferPointer { rounds(inPKCS8: $0.baseAddress, $0.count) })
    }

    /// Checks all parts of a PEM text, as OpenSSL looks for a key in each of them.
    static func check(keyPEM: [UInt8]) throws(IdentityFailure) {
        defer { ERR_clear_error() }
        guard let sum = rounds(inPEM: keyPEM) else {
            throw .malformed("its key is in PKCS#8, and has PEM's own encryption, too")
        }
        try check(sum)
    }

    /// Checks a PKCS#12 file, whose encrypted parts may contain keys that are encrypted once more.
    static func check(pkcs12 file: OpaquePointer, _ password: String) throws(IdentityFailure) {
        defer { ERR_clear_error() }
        let list = PKCS12_unpack_authsafes(file)
        defer { OPENSSL_sk_pop_free(list) { PKCS7_free($0?.assumingMemoryBound(to: PKCS7.self)) } }
        let parts = OpenSSLValues.elements(of: list).map { UnsafeMutablePointer<PKCS7>($0) }
        var sum = macRounds(file)
        for part in parts {
            sum += lk_key_derivation_rounds(lk_PKCS7_encryption(part))
            sum += countAndFree(PKCS12_unpack_p7data(part))
        }
        // Before a key is derived to open the parts.
        try check(sum)
        for part in parts where lk_PKCS7_encryption(part) != nil {
            if password.isEmpty { sum += countAndFree(PKCS12_unpack_p7encdata(part, nil, 0)) }
            sum += countAndFree(PKCS12_unpack_p7encdata(part, password, -1))
        }
        try check(sum)
    }

    private static func check(_ rounds: Double) throws(IdentityFailure) {
        guard rounds <= maximumRounds else { throw .malformed("it asks for too many rounds of key derivation") }
    }

    private static func macRounds(_ file: OpaquePointer) -> Double {
        var algorithm: UnsafePointer<X509_ALGOR>?
        var rounds: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, &algorithm, nil, &rounds, file)
        return lk_rounds(rounds) + lk_key_derivation_rounds(algorithm)
    }

    private static func countAndFree(_ bags: OpaquePointer?) -> Double {
        defer { OPENSSL_sk_pop_free(bags) { PKCS12_SAFEBAG_free(OpaquePointer($0)) } }
        return rounds(inBags: bags)
    }

    private static func rounds(inBags bags: OpaquePointer?) -> Double {
        var sum = 0.0
        for bag in OpenSSLValues.elements(of: bags) {
            if let key = PKCS12_SAFEBAG_get0_pkcs8(bag) { sum += rounds(ofKey: key) }
            if let more = PKCS12_SAFEBAG_get0_safes(bag) { sum += rounds(inBags: more) }
        }
        return sum
    }

    /// Nil where a key in PKCS#8 has fields of PEM's own encryption (RFC 1421 §4.6), which RFC 7468 does not allow:
    /// OpenSSL would decrypt it, and only then find the key's own algorithm.
    private static func rounds(inPEM text: [UInt8]) -> Double? {
        BytesBIO.reading(text) { (bio) -> Double? in
            guard let bio else { return 0 }
            var (sum, left) = (0.0, Int.max)
            // Behind a malformed part others may follow.
            while case let pending = BIO_ctrl_pending(bio), pending > 0, pending < left {
                left = pending
                var name: UnsafeMutablePointer<CChar>?
                var header: UnsafeMutablePointer<CChar>?
                var der: UnsafeMutablePointer<UInt8>?
                var count = 0
                guard PEM_read_bio(bio, &name, &header, &der, &count) == 1 else { continue }
                defer {
                    lk_OPENSSL_free(name)
                    lk_OPENSSL_free(header)
                    CRYPTO_clear_free(der, count, nil, 0)
                }
                if let header, let name, header.pointee != 0, namesOfPKCS8.contains(String(cString: name)) {
                    return nil
                }
                sum += rounds(inPKCS8: der, count)
            }
            return sum
        }
    }

    /// The names with which OpenSSL looks for a key in PKCS#8.
    private static let namesOfPKCS8 = ["ENCRYPTED PRIVATE KEY", "ANY PRIVATE KEY", "PRIVATE KEY"]

    private static func rounds(inPKCS8 der: UnsafePointer<UInt8>?, _ count: Int) -> Double {
        var pointer = der
        guard let key = d2i_X509_SIG(nil, &pointer, count) else { return 0 }
        defer { X509_SIG_free(key) }
        return rounds(ofKey: key)
    }

    private static func rounds(ofKey key: OpaquePointer) -> Double {
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(key, &algorithm, nil)
        return lk_key_derivation_rounds(algorithm)
    }
}
