import CLoadingKitOpenSSL

/// Bytes in memory behind OpenSSL's stream interface, for PEM in and out.
final class MemoryBIO {
    let pointer: OpaquePointer

    init() throws(OpenSSLError) {
        pointer = try required(BIO_new(BIO_s_mem()), "making a memory BIO")
    }

    convenience init(_ text: String) throws(OpenSSLError) {
        try self.init()
        let bytes = Array(text.utf8)
        guard let count = Int32(exactly: bytes.count) else {
            throw OpenSSLError("reading PEM", reason: "\(bytes.count) bytes are too many")
        }
        guard count == 0 || BIO_write(pointer, bytes, count) == count else {
            throw OpenSSLError("filling a memory BIO")
        }
    }

    deinit { BIO_free_all(pointer) }

    var text: String {
        var start: UnsafeMutableRawPointer?
        let count = withUnsafeMutableBytes(of: &start) { BIO_ctrl(pointer, BIO_CTRL_INFO, 0, $0.baseAddress) }
        guard let start, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
