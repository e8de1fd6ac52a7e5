/// The server's message of an NTLM handshake (MS-NLMP §2.2.1.2).
struct NTLMChallenge: Sendable {
    /// What the server says of itself, by number (MS-NLMP §2.2.2.1).
    private enum Attribute {
        static let end: UInt16 = 0
        static let flags: UInt16 = 6
        static let timestamp: UInt16 = 7
        static let channelBinding: UInt16 = 10
    }

    /// All of it, which the last message's check covers.
    let message: [UInt8]
    let serverChallenge: [UInt8]
    private let attributes: [(number: UInt16, value: [UInt8])]

    /// Nil for what is no such message.
    init?(_ message: [UInt8]) {
        guard message.starts(with: NTLMMessage.signature), NTLMMessage.number(message, at: 8, UInt32.self) == 2,
            message.count >= 32
        else { return nil }
        self.message = message
        serverChallenge = Array(message[24..<32])
        // Old servers' messages end here, and some go on with other things.
        let flags = NTLMMessage.Flags(rawValue: NTLMMessage.number(message, at: 20, UInt32.self) ?? 0)
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

    /// The server's clock. A server that gives it expects the last message to be protected by a check.
    var timestamp: UInt64? {
        attributes.first { $0.number == Attribute.timestamp }.flatMap {
            NTLMMessage.number($0.value, at: 0, UInt64.self)
        }
    }

    /// What the server says of itself, as it goes back to it; with the mark that a check is there, and with the TLS
    /// connection's binding (MS-NLMP §3.1.5.1.2).
    func information(promisesCheck: Bool, _ binding: NTLMChannelBinding? = nil) -> [UInt8] {
        var all = attributes
        if let binding {
            all.removeAll { $0.number == Attribute.channelBinding }
            all.append((Attribute.channelBinding, binding.hash))
        }
        if promisesCheck {
            let old = all.first { $0.number == Attribute.flags }
            let flags = old.flatMap { NTLMMessage.number($0.value, at: 0, UInt32.self) } ?? 0
            all.removeAll { $0.number == Attribute.flags }
            all.append((Attribute.flags, NTLMMessage.littleEndian(flags | 2)))
        }
        let bytes = all.flatMap { attribute in
            NTLMMessage.littleEndian(attribute.number) + NTLMMessage.littleEndian(UInt16(attribute.value.count))
                + attribute.value
        }
        return bytes + [0, 0, 0, 0]
    }
}
