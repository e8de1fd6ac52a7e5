import LoadingKitPrimitives

/// Base64 by the web's rules: white space is skipped, and the padding may be missing (Infra Standard, "forgiving-base64
/// decode").
package enum ForgivingBase64 {
    /// The decoded bytes; nil if the text is not valid base64.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var symbols = text.filter { !ASCII.isWhitespace($0) }
        if symbols.count % 4 == 0 {
            for _ in 0..<2 where symbols.last == UInt8(ascii: "=") { symbols.removeLast() }
        }
        guard symbols.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(symbols.count / 4 * 3 + 2)
        var buffer: UInt32 = 0
        var bits = 0
        for symbol in symbols {
            guard let value = value(symbol) else { return nil }
            buffer = buffer << 6 & 0xffff | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return bytes
    }

    private static func value(_ symbol: UInt8) -> UInt8? {
        switch symbol {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): symbol - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): symbol - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): symbol - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        case _: nil
        }
    }
}
