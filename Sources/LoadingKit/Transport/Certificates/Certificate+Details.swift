import CLoadingKitOpenSSL

extension Certificate {
    /// Every certificate in PEM text, in order; nil if one is malformed or there is none.
    package static func all(inPEM text: [UInt8]) -> [Certificate]? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return BytesBIO.reading(text) { bio in
            guard let bio else { return nil }
            var all: [Certificate] = []
            while let pointer = PEM_read_bio_X509(bio, nil, lk_no_password, nil) {
                defer { X509_free(pointer) }
                guard let certificate = Certificate(pointer) else { return nil }
                all.append(certificate)
            }
            return OpenSSLError.lastIsEndOfPEM && !all.isEmpty ? all : nil
        }
    }

    /// Whether the bytes are exactly one certificate.
    package var isWellFormed: Bool {
        withParsed { i2d_X509($0, nil) == Int32(truncatingIfNeeded: der.count) } ?? false
    }

    /// The bytes of the serial number's magnitude, the most significant first.
    package var serialNumber: [UInt8]? {
        withParsed { X509_get0_serialNumber($0).map { OpenSSLValues.bytes(of: $0) } }
    }

    /// SHA-256 of the certificate's bytes.
    package var fingerprint: [UInt8] { Self.sha256(der) }

    /// SHA-256 of the SubjectPublicKeyInfo (RFC 7469 §2.4), which a renewed certificate with the same key shares.
    package var publicKeyHash: [UInt8]? { withParsed(Self.publicKeyHash) }

    static func publicKeyHash(of certificate: OpaquePointer) -> [UInt8]? {
        OpenSSLValues.der { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &$0) }.map(sha256)
    }

    /// The DNS names for which the certificate is valid, as contained in it.
    package var dnsNames: [String] {
        alternativeNames.filter { !$0.isAddress }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// The IP addresses for which the certificate is valid, as text.
    package var ipAddresses: [String] {
        alternativeNames.filter(\.isAddress).compactMap { IPAddress(bytes: $0.bytes)?.description }
    }

    private var alternativeNames: [(isAddress: Bool, bytes: [UInt8])] {
        withParsed { certificate in
            guard let names = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) })
            else { return nil }
            defer { GENERAL_NAMES_free(names) }
            return OpenSSLValues.elements(of: names).compactMap { OpenSSLValues.hostOrAddress(UnsafePointer($0)) }
        } ?? []
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        return digest
    }
}
