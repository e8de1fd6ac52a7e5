#if NTLM
    /// The bytes of NTLM's messages (MS-NLMP §2.2): little-endian numbers, and the lengths and offsets of fields.
    enum NTLMMessage {
        static let signature = Array("NTLMSSP\0".utf8)

        /// The options that both sides negotiate (MS-NLMP §2.2.2.5).
        struct Flags: OptionSet {
            let rawValue: UInt32
            static let unicode = Flags(rawValue: 0x0000_0001)
            static let requestTarget = Flags(rawValue: 0x0000_0004)
            static let ntlm = Flags(rawValue: 0x0000_0200)
            static let alwaysSign = Flags(rawValue: 0x0000_8000)
            static let extendedSessionSecurity = Flags(rawValue: 0x0008_0000)
            static let targetInformation = Flags(rawValue: 0x0080_0000)
            static let key128 = Flags(rawValue: 0x2000_0000)
            static let key56 = Flags(rawValue: 0x8000_0000)

            /// No key is exchanged, as nothing is signed or sealed over HTTP.
            static let offered: Flags = [
                .unicode, .requestTarget, .ntlm, .alwaysSign, .extendedSessionSecurity, .targetInformation, .key128,
                .key56,
            ]
        }

        /// The first message (MS-NLMP §2.2.1.1). The names of a domain and of this machine, and the system's version, are
        /// empty, as the server does not need them. Some servers reject shorter messages.
        static let negotiate =
            signature + littleEndian(UInt32(1)) + littleEndian(Flags.offered.rawValue)
            + [UInt8](repeating: 0, count: 24)

        static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
            (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }

        /// Nil if the bytes end before the number does.
        static func number<Number: FixedWidthInteger>(_ bytes: [UInt8], at offset: Int, _ type: Number.Type) -> Number?
        {
            let size = Number.bitWidth / 8
            guard offset >= 0, offset <= bytes.count - size else { return nil }
            return (0..<size).reduce(0) { $0 | Number(truncatingIfNeeded: bytes[offset + $1]) << (8 * $1) }
        }

        /// The field whose length and offset are stored at `offset`.
        static func field(_ bytes: [UInt8], at offset: Int) -> [UInt8]? {
            guard let length = number(bytes, at: offset, UInt16.self),
                let start = number(bytes, at: offset + 4, UInt32.self)
            else { return nil }
            if length == 0 { return [] }
            guard Int(start) <= bytes.count, Int(length) <= bytes.count - Int(start) else { return nil }
            return Array(bytes[Int(start)..<Int(start) + Int(length)])
        }

        static func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { littleEndian($0) } }
    }

    /// The server's message of an NTLM handshake (MS-NLMP §2.2.1.2).
    struct NTLMChallenge: Sendable {
        /// The numbers of the server's attributes (MS-NLMP §2.2.2.1).
        private enum Attribute {
            static let end: UInt16 = 0
            static let flags: UInt16 = 6
            static let timestamp: UInt16 = 7
            static let targetName: UInt16 = 9
            static let channelBinding: UInt16 = 10
        }

        /// The whole message, which the integrity code (MIC) of the client's last message covers.
        let message: [UInt8]
        let serverChallenge: [UInt8]
        /// The options that the server has chosen from the client's.
        let flags: NTLMMessage.Flags
        private let attributes: [(number: UInt16, value: [UInt8])]

        /// Nil if the bytes are not such a message.
        init?(_ message: [UInt8]) {
            guard message.starts(with: NTLMMessage.signature), NTLMMessage.number(message, at: 8, UInt32.self) == 2,
                message.count >= 32
            else { return nil }
            self.message = message
            serverChallenge = Array(message[24..<32])
            // The messages of old servers end here, or continue with other data.
            flags = NTLMMessage.Flags(rawValue: NTLMMessage.number(message, at: 20, UInt32.self) ?? 0)
            let hasInformation = message.count >= 48 && flags.contains(.targetInformation)
            guard let information = hasInformation ? NTLMMessage.field(message, at: 40) : [] else { return nil }
            guard let attributes = Self.attributes(information) else { return nil }
            self.attributes = attributes
        }

        private static func attributes(_ bytes: [UInt8]) -> [(number: UInt16, value: [UInt8])]? {
            var found: [(number: UInt16, value: [UInt8])] = []
            var offset = 0
            while offset < bytes.count {
                guard let number = NTLMMessage.number(bytes, at: offset, UInt16.self),
                    let length = NTLMMessage.number(bytes, at: offset + 2, UInt16.self),
                    Int(length) <= bytes.count - offset - 4
                else { return nil }
                if number == Attribute.end { break }
                found.append((number, Array(bytes[offset + 4..<offset + 4 + Int(length)])))
                offset += 4 + Int(length)
            }
            return found
        }

        /// A server that sends its time expects an integrity code (MIC) in the last message.
        var timestamp: UInt64? {
            attributes.first { $0.number == Attribute.timestamp }.flatMap {
                NTLMMessage.number($0.value, at: 0, UInt64.self)
            }
        }

        /// The server's attributes as the client returns them: with the flag that the last message has an integrity code
        /// (MIC), with the name of the service that the client intends to use, and with the binding to the TLS connection
        /// (MS-NLMP §3.1.5.1.2). A server that checks the service's name and the binding does not accept an answer that was
        /// made for another server.
        ///
        /// - Parameters:
        ///   - target: the service's name; nil for none.
        ///   - binding: nil without TLS.
        func information(promisesCheck: Bool, target: String? = nil, _ binding: NTLMChannelBinding? = nil) -> [UInt8] {
            var all = attributes
            func set(_ number: UInt16, _ value: [UInt8]) {
                all.removeAll { $0.number == number }
                // A value that is too long for the field is left out.
                if value.count <= Int(UInt16.max) { all.append((number, value)) }
            }
            if promisesCheck {
                let old = all.first { $0.number == Attribute.flags }
                let flags = old.flatMap { NTLMMessage.number($0.value, at: 0, UInt32.self) } ?? 0
                set(Attribute.flags, NTLMMessage.littleEndian(flags | 2))
            }
            // The answer to an old server that sends no attributes has no target name.
            if let target, !attributes.isEmpty {
                set(Attribute.targetName, NTLMMessage.utf16(target))
                set(Attribute.channelBinding, binding?.hash ?? [UInt8](repeating: 0, count: 16))
            } else if let binding {
                set(Attribute.channelBinding, binding.hash)
            }
            let bytes = all.flatMap { attribute in
                NTLMMessage.littleEndian(attribute.number) + NTLMMessage.littleEndian(UInt16(attribute.value.count))
                    + attribute.value
            }
            return bytes + [0, 0, 0, 0]
        }
    }
#endif
