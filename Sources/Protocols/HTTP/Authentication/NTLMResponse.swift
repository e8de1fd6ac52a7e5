/// The client's answer to an NTLM challenge, version 2 (MS-NLMP §3.3.2).
struct NTLMResponse {
    private static let checkOffset = 72

    private let identity: NTLMIdentity
    private let challenge: NTLMChallenge
    private let hasCheck: Bool
    let lanManager: [UInt8]
    let nt: [UInt8]
    let sessionKey: [UInt8]

    /// Nil where the system forbids the hash functions.
    ///
    /// - Parameters:
    ///   - now: as the server's clock counts; its own time is taken where it gives it.
    ///   - binding: says which TLS connection the answer is for.
    init?(
        _ identity: NTLMIdentity, _ challenge: NTLMChallenge, clientChallenge: [UInt8], now: UInt64,
        binding: NTLMChannelBinding? = nil
    ) {
        self.identity = identity
        self.challenge = challenge
        hasCheck = challenge.timestamp != nil
        let blob =
            [1, 1, 0, 0, 0, 0, 0, 0] + NTLMMessage.littleEndian(challenge.timestamp ?? now) + clientChallenge
            + [0, 0, 0, 0] + challenge.information(promisesCheck: hasCheck, binding) + [0, 0, 0, 0]
        guard let key = identity.key,
            let proof = MessageDigest.md5.authenticate(challenge.serverChallenge + blob, key: key),
            let sessionKey = MessageDigest.md5.authenticate(proof, key: key),
            let old = MessageDigest.md5.authenticate(challenge.serverChallenge + clientChallenge, key: key)
        else { return nil }
        nt = proof + blob
        self.sessionKey = sessionKey
        lanManager = hasCheck ? [UInt8](repeating: 0, count: 24) : old + clientChallenge
    }

    /// The handshake's last message (MS-NLMP §2.2.1.3); nil where a part is too long for it.
    ///
    /// - Parameter negotiation: the first message, which the check covers as well.
    func message(after negotiation: [UInt8]) -> [UInt8]? {
        let parts = [
            lanManager, nt, NTLMMessage.utf16(identity.domain), NTLMMessage.utf16(identity.user), [], [],
        ]
        let headCount = hasCheck ? Self.checkOffset + 16 : 64
        var head = NTLMMessage.signature + NTLMMessage.littleEndian(UInt32(3))
        var offset = headCount
        for part in parts {
            guard let count = UInt16(exactly: part.count) else { return nil }
            head += NTLMMessage.littleEndian(count) + NTLMMessage.littleEndian(count)
            head += NTLMMessage.littleEndian(UInt32(truncatingIfNeeded: offset))
            offset += part.count
        }
        head += NTLMMessage.littleEndian(NTLMMessage.Flags.offered.rawValue)
        head += [UInt8](repeating: 0, count: headCount - head.count)
        var message = head + parts.joined()
        guard hasCheck else { return message }
        guard
            let check = MessageDigest.md5.authenticate(negotiation + challenge.message + message, key: sessionKey)
        else { return nil }
        message.replaceSubrange(Self.checkOffset..<headCount, with: check)
        return message
    }
}
