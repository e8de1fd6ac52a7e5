import CLoadingKitOpenSSL
import Foundation
@_spi(LoadingKitPlugins) import LoadingKitTransport

/// SHA-256 as signatures have it, in lower-case hexadecimal digits.
enum Digest {
    /// The digest of no bytes.
    static let ofNothing = hex(of: Data())

    static func hex(_ hash: consuming SHA256) throws -> String {
        guard let digest = hash.digest() else { throw S3SigningError.noDigest }
        return Hexadecimal.text(digest)
    }

    /// The digest of data; empty where OpenSSL fails, which no server accepts.
    static func hex(of data: Data) -> String {
        var hash = SHA256()
        hash.update(data)
        return hash.digest().map { Hexadecimal.text($0) } ?? ""
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
