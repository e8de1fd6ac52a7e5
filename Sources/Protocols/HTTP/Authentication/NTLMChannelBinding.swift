/// Says in an NTLM answer which TLS connection it is for, so that nobody can pass it on to another server: the hash of a
/// `gss_channel_bindings_struct` (MS-NLMP §2.2.2.1, RFC 4121 §4.1.1.2) with the `tls-server-end-point` binding (RFC 5929).
struct NTLMChannelBinding: Sendable {
    let hash: [UInt8]

    /// Nil where the system forbids the hash function.
    ///
    /// - Parameter endPointHash: of the server's certificate.
    init?(endPointHash: [UInt8]) {
        let data = Array("tls-server-end-point:".utf8) + endPointHash
        // No addresses: their kinds and lengths are zero, of the initiator and of the acceptor.
        let noAddresses = [UInt8](repeating: 0, count: 16)
        let length = NTLMMessage.littleEndian(UInt32(truncatingIfNeeded: data.count))
        guard let hash = MessageDigest.md5.hash(noAddresses + length + data) else { return nil }
        self.hash = hash
    }
}
