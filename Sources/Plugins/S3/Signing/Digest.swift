import CLoadingKitOpenSSL
import Foundation

/// SHA-256 (FIPS 180-4) of bytes that arrive piece by piece, computed by OpenSSL.
final class SHA256 {
    /// The digest of no bytes.
    static let ofNothing = hex(of: Data())

    private let context: OpaquePointer

    /// Throws where OpenSSL has no memory.
    init() throws {
        guard let context = EVP_MD_CTX_new() else { throw S3SigningError.noDigest }
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            EVP_MD_CTX_free(context)
            throw S3SigningError.noDigest
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ data: Data) {
        data.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { EVP_DigestUpdate(context, base, bytes.count) }
        }
    }

    /// The digest in lower-case hexadecimal digits. Must be called once, at the end.
    func finish() throws -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &digest, &count) == 1 else { throw S3SigningError.noDigest }
        return Hexadecimal.text(digest.prefix(Int(count)))
    }

    /// The digest of data in lower-case hexadecimal digits; empty where OpenSSL fails, which no server accepts.
    static func hex(of data: Data) -> String {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let isDone = data.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, &count, EVP_sha256(), nil) }
        return isDone == 1 ? Hexadecimal.text(digest.prefix(Int(count))) : ""
    }

    /// HMAC-SHA-256 (RFC 2104); empty where OpenSSL fails.
    static func hmac(_ text: String, key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        let bytes = Array(text.utf8)
        let done = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key, key.count, bytes, bytes.count, &code, code.count, &count)
        return done == nil ? [] : Array(code.prefix(count))
    }
}

/// Bytes as lower-case digits.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The error for a request that could not be signed.
public enum S3SigningError: Error, Sendable, Equatable, LocalizedError {
    /// OpenSSL returns no digest: it has no memory, or its configuration does not permit SHA-256.
    case noDigest
    /// The request has no URL with a host.
    case noHost

    /// The description in plain words.
    public var errorDescription: String? {
        switch self {
        case .noDigest: "OpenSSL computes no SHA-256; look at its configuration and at the memory that is left"
        case .noHost: "the request has no URL with a host, so that it cannot be signed"
        }
    }
}
