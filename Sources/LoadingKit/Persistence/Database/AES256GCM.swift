import CLoadingKitOpenSSL
import Foundation
import LoadingKitTransport

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D). The output is a random nonce, the ciphertext, and the tag.
struct AES256GCM {
    private static let nonceSize = 12
    private static let tagSize = 16
    static let keySize = 32

    private let key: Data

    /// - Parameter key: 32 bytes.
    init?(key: Data) {
        guard key.count == Self.keySize else { return nil }
        self.key = key
    }

    /// Encrypts the text. A change of the text or of `context` is detected when it is decrypted. Nil if OpenSSL fails.
    func seal(_ plaintext: Data, context: Data) -> Data? {
        guard let nonce = SecureRandom.bytes(Self.nonceSize) else { return nil }
        return run(encrypting: true, plaintext, nonce, context) { cipher, text in
            var tag = Data(count: Self.tagSize)
            let isDone = tag.withUnsafeMutableBytes {
                EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), $0.baseAddress) == 1
            }
            return isDone ? nonce + text + tag : nil
        }
    }

    /// Decrypts the output of ``seal(_:context:)``; nil for any other bytes, or with another key.
    func open(_ sealed: Data, context: Data) -> Data? {
        guard sealed.count >= Self.nonceSize + Self.tagSize else { return nil }
        let nonce = Data(sealed.prefix(Self.nonceSize))
        let text = Data(sealed.dropFirst(Self.nonceSize).dropLast(Self.tagSize))
        var tag = Data(sealed.suffix(Self.tagSize))
        return run(
            encrypting: false, text, nonce, context,
            before: { cipher in
                tag.withUnsafeMutableBytes {
                    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), $0.baseAddress) == 1
                }
            }, finish: { $1 })
    }

    private func run(
        encrypting: Bool, _ input: Data, _ nonce: Data, _ context: Data,
        before: (OpaquePointer) -> Bool = { _ in true }, finish: (OpaquePointer, Data) -> Data?
    ) -> Data? {
        guard let cipher = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(cipher) }
        let isReady = key.withBytes { key in
            nonce.withBytes { nonce in
                EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce, encrypting ? 1 : 0) == 1
            }
        }
        // A context that was not made ready must not be used.
        guard isReady, input.count <= Int(Int32.max) else { return nil }
        var length: Int32 = 0
        let isBound = context.withBytes { EVP_CipherUpdate(cipher, nil, &length, $0, Int32(context.count)) == 1 }
        guard isBound else { return nil }
        // One more byte, so that the buffer has an address even for an empty text.
        var output = Data(count: input.count + 1)
        let isDone = output.withUnsafeMutableBytes { output in
            guard let output = output.bindMemory(to: UInt8.self).baseAddress else { return false }
            return input.withBytes { EVP_CipherUpdate(cipher, output, &length, $0, Int32(input.count)) == 1 }
                && before(cipher) && EVP_CipherFinal_ex(cipher, output + Int(length), &length) == 1
        }
        return isDone ? finish(cipher, output.dropLast()) : nil
    }
}

extension Data {
    fileprivate func withBytes<Result>(_ body: (UnsafePointer<UInt8>?) -> Result) -> Result {
        withUnsafeBytes { body($0.bindMemory(to: UInt8.self).baseAddress) }
    }
}
