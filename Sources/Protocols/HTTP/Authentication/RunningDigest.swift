import CLoadingKitOpenSSL

/// A hash of bytes that come in pieces.
final class RunningDigest {
    private let context: OpaquePointer

    /// Nil where the system forbids the function, or memory is out.
    init?(_ digest: MessageDigest) {
        guard let context = EVP_MD_CTX_new() else { return nil }
        self.context = context
        guard EVP_DigestInit_ex(context, digest.function, nil) == 1 else { return nil }
    }

    deinit { EVP_MD_CTX_free(context) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { EVP_DigestUpdate(context, base, bytes.count) }
    }

    /// The hash of all of it; nothing may be added after that.
    func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &digest, &count) == 1 else { return nil }
        return Array(digest.prefix(Int(count)))
    }
}
