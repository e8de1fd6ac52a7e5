import CLoadingKitOpenSSL

/// Bytes for OpenSSL to read, such as PEM text.
enum BytesBIO {
    /// `body` gets nil when there are more bytes than OpenSSL takes, or memory is out.
    static func reading<R, Failure>(
        _ bytes: [UInt8], _ body: (OpaquePointer?) throws(Failure) -> R
    ) throws(Failure) -> R {
        // It does not copy them: they have to stay where they are.
        try bytes.withUnsafeBufferPointer { buffer throws(Failure) in
            guard let count = Int32(exactly: buffer.count), let base = buffer.baseAddress,
                let bio = BIO_new_mem_buf(base, count)
            else { return try body(nil) }
            defer { BIO_free(bio) }
            return try body(bio)
        }
    }
}
