/// The bytes of NTLM's messages (MS-NLMP §2.2): little-endian numbers, and places of what stands behind them.
enum NTLMMessage {
    static let signature = Array("NTLMSSP\0".utf8)

    /// What both sides can do (MS-NLMP §2.2.2.5).
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
            .unicode, .requestTarget, .ntlm, .alwaysSign, .extendedSessionSecurity, .targetInformation, .key128, .key56,
        ]
    }

    /// The first message. It names neither a domain nor this machine, which the server has no need to know.
    static let negotiate =
        signature + littleEndian(UInt32(1)) + littleEndian(Flags.offered.rawValue) + [UInt8](repeating: 0, count: 16)

    static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Nil where the bytes end before the number does.
    static func number<Number: FixedWidthInteger>(_ bytes: [UInt8], at offset: Int, _ type: Number.Type) -> Number? {
        let size = Number.bitWidth / 8
        guard offset >= 0, offset <= bytes.count - size else { return nil }
        return (0..<size).reduce(0) { $0 | Number(truncatingIfNeeded: bytes[offset + $1]) << (8 * $1) }
    }

    /// What a length and an offset, which stand at `offset`, point to.
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
