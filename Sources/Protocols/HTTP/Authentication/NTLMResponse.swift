#if NTLM
    /// The client's answer to an NTLM challenge, version 2 (MS-NLMP §3.3.2).
    struct NTLMResponse {
        /// The integrity code (MIC) follows the version, which is all zero here.
        private static let checkOffset = 72

        private let identity: NTLMIdentity
        private let challenge: NTLMChallenge
        private let hasCheck: Bool
        let lanManager: [UInt8]
        let nt: [UInt8]
        let sessionKey: [UInt8]

        /// Nil if the system forbids the hash functions.
        ///
        /// - Parameter now: the time in the server's format, unless the server has sent its time.
        init?(
            _ identity: NTLMIdentity, _ challenge: NTLMChallenge, clientChallenge: [UInt8], now: UInt64,
            target: String? = nil, binding: NTLMChannelBinding? = nil
        ) {
            self.identity = identity
            self.challenge = challenge
            hasCheck = challenge.timestamp != nil
            let blob =
                [1, 1, 0, 0, 0, 0, 0, 0] + NTLMMessage.littleEndian(challenge.timestamp ?? now) + clientChallenge
                + [0, 0, 0, 0] + challenge.information(promisesCheck: hasCheck, target: target, binding) + [0, 0, 0, 0]
            guard let key = identity.key,
                let proof = MessageDigest.md5.authenticate(challenge.serverChallenge + blob, key: key),
                let sessionKey = MessageDigest.md5.authenticate(proof, key: key),
                let old = MessageDigest.md5.authenticate(challenge.serverChallenge + clientChallenge, key: key)
            else { return nil }
            nt = proof + blob
            self.sessionKey = sessionKey
            lanManager = hasCheck ? [UInt8](repeating: 0, count: 24) : old + clientChallenge
        }

        /// The options that both sides support. The names are always in Unicode.
        private var flags: NTLMMessage.Flags { NTLMMessage.Flags.offered.intersection(challenge.flags).union(.unicode) }

        /// The handshake's last message (MS-NLMP §2.2.1.3); nil if a part is too long for it.
        ///
        /// - Parameter negotiation: the first message, which the integrity code (MIC) covers as well.
        func message(after negotiation: [UInt8]) -> [UInt8]? {
            let parts = [
                lanManager, nt, NTLMMessage.utf16(identity.domain), NTLMMessage.utf16(identity.user), [], [],
            ]
            let headCount = Self.checkOffset + (hasCheck ? 16 : 0)
            var head = NTLMMessage.signature + NTLMMessage.littleEndian(UInt32(3))
            var offset = headCount
            for part in parts {
                guard let count = UInt16(exactly: part.count) else { return nil }
                head += NTLMMessage.littleEndian(count) + NTLMMessage.littleEndian(count)
                head += NTLMMessage.littleEndian(UInt32(truncatingIfNeeded: offset))
                offset += part.count
            }
            head += NTLMMessage.littleEndian(flags.rawValue)
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

    /// A user of a domain, and the key that NTLM derives from the password.
    struct NTLMIdentity: Sendable {
        let user: String
        let domain: String
        private let password: String

        /// - Parameter name: `domain\user`, or `user@domain`, which the server separates itself, or a user name alone.
        init(_ name: String, _ password: String) {
            if let separator = name.firstIndex(of: "\\") {
                domain = String(name[..<separator])
                user = String(name[name.index(after: separator)...])
            } else {
                domain = ""
                user = name
            }
            self.password = password
        }

        /// The capitals that Windows and Samba use: each character is mapped by itself. `ß`, which has no single capital
        /// character, is unchanged.
        private static func uppercased(_ name: String) -> String {
            name.unicodeScalars.reduce(into: "") { result, scalar in
                let capitals = scalar.properties.uppercaseMapping
                result += scalar.utf16.count == 1 && capitals.utf16.count == 1 ? capitals : String(scalar)
            }
        }

        /// NTOWFv2 (MS-NLMP §3.3.2).
        var key: [UInt8]? {
            MessageDigest.md5.authenticate(
                NTLMMessage.utf16(Self.uppercased(user) + domain), key: MD4.hash(NTLMMessage.utf16(password)))
        }
    }

    /// Binds an NTLM answer to its TLS connection, so that an attacker cannot use it with another server: the hash of a
    /// `gss_channel_bindings_struct` (MS-NLMP §2.2.2.1, RFC 4121 §4.1.1.2) with the `tls-server-end-point` binding
    /// (RFC 5929).
    struct NTLMChannelBinding: Sendable {
        let hash: [UInt8]

        /// - Parameter endPointHash: the hash of the server's certificate.
        init?(endPointHash: [UInt8]) {
            let data = Array("tls-server-end-point:".utf8) + endPointHash
            // There are no addresses: the types and lengths of the initiator's and the acceptor's address are zero.
            let noAddresses = [UInt8](repeating: 0, count: 16)
            let length = NTLMMessage.littleEndian(UInt32(truncatingIfNeeded: data.count))
            guard let hash = MessageDigest.md5.hash(noAddresses + length + data) else { return nil }
            self.hash = hash
        }
    }
#endif
