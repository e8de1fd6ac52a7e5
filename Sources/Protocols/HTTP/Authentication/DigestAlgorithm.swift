/// The `algorithm` of a Digest challenge (RFC 7616 §3.3).
struct DigestAlgorithm: Sendable {
    let digest: MessageDigest
    /// Whether the password's hash is bound to the nonces with which the use of the credential began (`-sess`).
    let isSession: Bool
    /// As the server named it; nil when it did not, which means MD5.
    let name: String?

    /// Nil for one that is not known.
    init?(_ name: String?) {
        self.name = name
        var plain = (name ?? "MD5").uppercased()
        isSession = plain.hasSuffix("-SESS")
        if isSession { plain.removeLast("-SESS".count) }
        switch plain {
        case "MD5": digest = .md5
        case "SHA-256": digest = .sha256
        case "SHA-512-256": digest = .sha512_256
        default: return nil
        }
    }

    /// How good it is among Digest's own.
    var rank: Int {
        switch digest {
        case .md5: 0
        case .sha256: 1
        case .sha512_256: 2
        }
    }

    /// The hash of strings with colons between them, in hexadecimal.
    func hash(_ parts: String...) -> String? { digest.hash(Array(parts.joined(separator: ":").utf8))?.hexadecimal }
}
