import CLoadingKitOpenSSL

/// OpenSSL's lists and encodings as values of Swift.
package enum OpenSSLValues {
    /// The elements of a list (`STACK_OF`), which still owns them. A list that is nil has none.
    static func elements(of list: OpaquePointer?) -> [OpaquePointer] {
        (0..<max(0, OPENSSL_sk_num(list))).compactMap { OPENSSL_sk_value(list, $0).map { OpaquePointer($0) } }
    }

    /// The DER that an `i2d` function of OpenSSL allocates; nil where it fails.
    package static func der(_ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8]? {
        var pointer: UnsafeMutablePointer<UInt8>?
        let count = encode(&pointer)
        guard count > 0, let pointer else { return nil }
        // The bytes may be those of a private key.
        defer { CRYPTO_clear_free(pointer, Int(count), nil, 0) }
        return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
    }

    /// The DNS name or the IP address in a general name (RFC 5280 §4.2.1.6); nil for other kinds of names.
    static func hostOrAddress(_ name: UnsafePointer<GENERAL_NAME>) -> (isAddress: Bool, bytes: [UInt8])? {
        var kind: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(name, &kind), kind == GEN_DNS || kind == GEN_IPADD else { return nil }
        return (kind == GEN_IPADD, bytes(of: value.assumingMemoryBound(to: ASN1_STRING.self)))
    }

    static func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(max(0, ASN1_STRING_length(string)))))
    }
}
