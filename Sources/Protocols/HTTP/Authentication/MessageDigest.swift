import CLoadingKitOpenSSL

/// The hash functions of authentication schemes, by OpenSSL. Results are nil if the system forbids a function, as FIPS
/// forbids MD5.
enum MessageDigest: Sendable {
    case md5
    case sha256
    case sha512_256

    func hash(_ bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &count, function, nil) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }

    /// HMAC (RFC 2104).
    func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        let name = EVP_MD_get0_name(function)
        let done = EVP_Q_mac(
            nil, "HMAC", nil, name, nil, key, key.count, bytes, bytes.count, &code, code.count, &count)
        return done == nil ? nil : Array(code.prefix(count))
    }

    var function: OpaquePointer? {
        switch self {
        case .md5: EVP_md5()
        case .sha256: EVP_sha256()
        case .sha512_256: EVP_sha512_256()
        }
    }
}

extension Array where Element == UInt8 {
    /// The bytes in lowercase hexadecimal, as Digest needs them (RFC 7616 §3.3).
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        for byte in self { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

final class RunningDigest {
    private let context: OpaquePointer

    /// Nil if the system forbids the function, or if memory is exhausted.
    init?(_ digest: MessageDigest) {
        guard let context = EVP_MD_CTX_new() else { return nil }
        self.context = context
        guard EVP_DigestInit_ex(context, digest.function, nil) == 1 else { return nil }
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { EVP_DigestUpdate(context, base, bytes.count) }
    }

    /// No bytes may be added after this call.
    func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }
}
