import CLoadingKitOpenSSL
import Foundation
@_spi(LoadingKitPlugins) import LoadingKitTransport

/// SHA-256 as signatures have it, in lower-case hexadecimal digits, and MD5 as entity tags have it.
enum Digest {
    /// The digest of no bytes.
    static let ofNothing = hex(of: Data())

    /// The digest of the bytes that were added; empty where OpenSSL fails, which no server accepts.
    static func hex(_ hash: consuming SHA256) -> String { hash.digest().map { hexadecimal($0) } ?? "" }

    static func hex(of data: Data) -> String {
        var hash = SHA256()
        hash.update(data)
        return hex(hash)
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

    /// MD5; nil where OpenSSL does not provide it.
    static func md5(_ bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        guard EVP_Q_digest(nil, "MD5", nil, bytes, bytes.count, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(count))
    }

    /// Bytes as lower-case digits.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
