import CLoadingKitOpenSSL

/// An X.509 certificate. Confined to the call that made it; what travels is its PEM or DER.
final class Certificate {
    let pointer: OpaquePointer

    /// An empty certificate, to be filled and signed.
    init() throws(OpenSSLError) {
        pointer = try required(X509_new(), "making a certificate")
    }

    /// Takes the reference over.
    private init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { X509_free(pointer) }

    /// Every certificate in the text, in its order.
    static func all(inPEM text: String) throws(OpenSSLError) -> [Certificate] {
        let bio = try MemoryBIO(text)
        var certificates: [Certificate] = []
        while let pointer = PEM_read_bio_X509(bio.pointer, nil, nil, nil) {
            certificates.append(Certificate(owning: pointer))
        }
        guard !certificates.isEmpty else { throw OpenSSLError("reading a certificate") }
        // The end of the text leaves "no start line" in the queue.
        ERR_clear_error()
        return certificates
    }

    static func first(inPEM text: String) throws(OpenSSLError) -> Certificate {
        guard let first = try all(inPEM: text).first else { throw OpenSSLError("reading a certificate") }
        return first
    }

    func pem() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_X509(bio.pointer, pointer), "writing a certificate")
        return bio.text
    }

    func der() throws(OpenSSLError) -> [UInt8] {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(pointer, &encoded)
        guard count > 0, let encoded else { throw OpenSSLError("encoding a certificate") }
        defer { CRYPTO_free(encoded, nil, 0) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }
}
