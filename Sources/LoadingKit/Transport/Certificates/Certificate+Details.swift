import CLoadingKitOpenSSL
import Glibc

extension Certificate {
    /// Every certificate in PEM text, in order; nil if one is malformed or there is none.
    package static func all(inPEM text: [UInt8]) -> [Certificate]? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return BytesBIO.reading(text) { bio in
            guard let bio else { return nil }
            var all: [Certificate] = []
            while let pointer = PEM_read_bio_X509(bio, nil, nil, nil) {
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
        withParsed { certificate in
            guard let number = X509_get0_serialNumber(certificate), let bytes = ASN1_STRING_get0_data(number) else {
                return nil
            }
            return Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, ASN1_STRING_length(number)))))
        }
    }

    /// SHA-256 of the certificate's bytes.
    package var fingerprint: [UInt8] { Self.sha256(der) }

    /// SHA-256 of the SubjectPublicKeyInfo (RFC 7469 §2.4). It does not change when a certificate is renewed with the
    /// same key.
    package var publicKeyHash: [UInt8]? {
        withParsed(Self.publicKeyHash)
    }

    static func publicKeyHash(of certificate: OpaquePointer) -> [UInt8]? {
        var pointer: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &pointer)
        guard count > 0, let pointer else { return nil }
        defer { lk_OPENSSL_free(pointer) }
        return sha256(Array(UnsafeBufferPointer(start: pointer, count: Int(count))))
    }

    /// The DNS names for which the certificate is valid, as contained in it.
    package var dnsNames: [String] {
        alternativeNames { kind, bytes in
            kind == GEN_DNS ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }

    /// The IP addresses for which the certificate is valid, as text.
    package var ipAddresses: [String] {
        alternativeNames { kind, bytes in
            guard kind == GEN_IPADD, let base = bytes.baseAddress, bytes.count == 4 || bytes.count == 16 else {
                return nil
            }
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            guard inet_ntop(family, base, &text, socklen_t(text.count)) != nil else { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    private func alternativeNames<T>(_ read: (Int32, UnsafeBufferPointer<UInt8>) -> T?) -> [T] {
        withParsed { certificate -> [T]? in
            guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return nil }
            let names = OpaquePointer(raw)
            defer { GENERAL_NAMES_free(names) }
            return (0..<max(0, OPENSSL_sk_num(names))).compactMap { index in
                guard let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self) else {
                    return nil
                }
                var kind: Int32 = 0
                guard let value = GENERAL_NAME_get0_value(name, &kind), kind == GEN_DNS || kind == GEN_IPADD else {
                    return nil
                }
                let string = value.assumingMemoryBound(to: ASN1_STRING.self)
                let count = Int(max(0, ASN1_STRING_length(string)))
                return read(kind, UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: count))
            }
        } ?? []
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        return digest
    }
}
