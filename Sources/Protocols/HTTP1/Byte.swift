/// The bytes that HTTP/1.1 gives a meaning.
enum Byte {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let comma: UInt8 = 0x2C
    static let zero: UInt8 = 0x30
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B

    /// OWS, the optional white space around values (RFC 9110 §5.6.3).
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// The number that a decimal digit stands for, or nil.
    @inline(__always)
    static func digit(_ byte: UInt8) -> UInt8? {
        let value = byte &- zero
        return value < 10 ? value : nil
    }

    /// The number that a hexadecimal digit stands for, or nil.
    @inline(__always)
    static func hexDigit(_ byte: UInt8) -> UInt8? {
        if let value = digit(byte) { return value }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}
