import CLoadingKitOpenSSL
import Foundation

/// SHA-256 of bytes in pieces, by OpenSSL, to compare sent and received bytes.
package final class SHA256 {
    private let context: OpaquePointer

    package init() throws {
        guard let context = EVP_MD_CTX_new() else { throw CocoaError(.featureUnsupported) }
        self.context = context
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw CocoaError(.featureUnsupported) }
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: some DataProtocol) {
        for region in bytes.regions {
            region.withUnsafeBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        }
    }

    /// The digest in hexadecimal. Called once, last.
    package func finish() -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &digest, nil)
        return Self.hexadecimal(digest)
    }

    package static func hash(_ bytes: some DataProtocol) throws -> String {
        let hash = try SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
