import CLoadingKitOpenSSL
import Foundation

/// A keyed hash (HMAC-SHA-256, RFC 2104). Without the key, candidates for a secret cannot be tested against its hash.
package struct KeyedHash: Sendable, Equatable {
    /// In bytes.
    package static let keySize = 32

    private let key: Data

    /// Nil for a key of another size.
    package init?(key: Data) {
        guard key.count == Self.keySize else { return nil }
        self.key = key
    }

    /// A hash with a new random key; nil if OpenSSL has no random numbers.
    package static func random() -> KeyedHash? { SecureRandom.bytes(keySize).flatMap { KeyedHash(key: $0) } }

    /// Nil if OpenSSL fails.
    package func hash(of message: Data) -> Data? {
        var code = Data(count: 32)
        var count = 0
        let isDone = code.withUnsafeMutableBytes { code in
            key.withUnsafeBytes { key in
                message.withUnsafeBytes { message in
                    EVP_Q_mac(
                        nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count,
                        message.bindMemory(to: UInt8.self).baseAddress, message.count,
                        code.bindMemory(to: UInt8.self).baseAddress, code.count, &count) != nil
                }
            }
        }
        return isDone && count == 32 ? code : nil
    }
}

/// Unpredictable random bytes, by OpenSSL.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> Data? {
        var bytes = Data(count: count)
        let isDone = bytes.withUnsafeMutableBytes {
            RAND_bytes($0.bindMemory(to: UInt8.self).baseAddress, Int32(count)) == 1
        }
        return isDone ? bytes : nil
    }
}
