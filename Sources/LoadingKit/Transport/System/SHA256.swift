import CLoadingKitOpenSSL
import Foundation

/// SHA-256 (FIPS 180-4) of bytes that come in pieces, by OpenSSL.
@_spi(LoadingKitPlugins)
public struct SHA256: ~Copyable {
    private struct Algorithm: @unchecked Sendable {  // not changed after it was made
        let pointer = EVP_MD_fetch(nil, "SHA256", nil)
    }

    /// Otherwise OpenSSL would look for it at the beginning of each digest.
    private static let algorithm = Algorithm()

    private let context: OpaquePointer?
    private var isSound: Bool

    /// A digest of no bytes yet.
    public init() {
        context = EVP_MD_CTX_new()
        isSound = context != nil && EVP_DigestInit_ex(context, Self.algorithm.pointer ?? EVP_sha256(), nil) == 1
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes to the digested ones.
    public mutating func update(_ bytes: Data) {
        isSound = isSound && bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
    }

    /// Adds a text's bytes in UTF-8 to the digested ones.
    public mutating func update(_ text: String) {
        var text = text
        isSound = isSound && text.withUTF8 { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
    }

    /// Nil where OpenSSL fails: it has no memory, or no SHA-256 is allowed by its configuration.
    public consuming func digest() -> Data? {
        var digest = Data(count: 32)
        let isDone = digest.withUnsafeMutableBytes { bytes in
            EVP_DigestFinal_ex(context, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, nil) == 1
        }
        return isSound && isDone ? digest : nil
    }
}
