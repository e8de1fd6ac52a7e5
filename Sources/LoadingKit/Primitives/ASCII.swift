import CLoadingKitShims

/// The bytes of protocols: ASCII characters by their class, tokens, numbers, and case-insensitive names.
///
/// Functions that are used for each byte are inlined in other modules, too.
@usableFromInline
package enum ASCII {
    @inlinable package static var tab: UInt8 { 0x09 }
    @inlinable package static var lineFeed: UInt8 { 0x0A }
    @inlinable package static var carriageReturn: UInt8 { 0x0D }
    @inlinable package static var space: UInt8 { 0x20 }
    @inlinable package static var comma: UInt8 { 0x2C }
    @inlinable package static var zero: UInt8 { 0x30 }
    @inlinable package static var colon: UInt8 { 0x3A }
    @inlinable package static var semicolon: UInt8 { 0x3B }
}

// MARK: - Bytes

extension ASCII {
    /// The byte with an ASCII capital letter converted to lowercase.
    @inlinable @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    @inlinable @inline(__always)
    package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    @inlinable @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    @inlinable @inline(__always)
    package static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    @inlinable @inline(__always)
    package static func isHexDigit(_ byte: UInt8) -> Bool { hexDigit(byte) != nil }

    /// Whether a byte is a space or a tab, which are optional around values (RFC 9110 §5.6.3).
    @inlinable @inline(__always)
    package static func isSpace(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// Whether a byte is ASCII whitespace by the definition of web standards: space, tab, LF, FF or CR.
    @inlinable @inline(__always)
    package static func isWhitespace(_ byte: UInt8) -> Bool {
        isSpace(byte) || byte == lineFeed || byte == 0x0C || byte == carriageReturn
    }

    /// Whether a byte may be in a token (RFC 9110 §5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool { lk_is_token_byte(byte) != 0 }

    /// The value of a decimal digit; nil for other bytes.
    @inlinable @inline(__always)
    package static func digit(_ byte: UInt8) -> UInt8? {
        let value = byte &- zero
        return value < 10 ? value : nil
    }

    /// The value of a hexadecimal digit; nil for other bytes.
    @inlinable @inline(__always)
    package static func hexDigit(_ byte: UInt8) -> UInt8? {
        if let value = digit(byte) { return value }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : nil
    }
}

// MARK: - Sequences of bytes

extension ASCII {
    /// Whether bytes are a token (RFC 9110 §5.6.2).
    package static func isToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return false }
        return lk_token_end(base.assumingMemoryBound(to: UInt8.self), bytes.count) == bytes.count
    }

    /// The bytes without spaces and tabs at both ends.
    @inlinable
    package static func trimmingSpaces<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return bytes[bytes.startIndex..<bytes.startIndex] }
        return bytes[first...last]
    }

    /// The number in bytes that are all decimal digits, without a sign or a space; nil also if it exceeds 64 bits.
    @inlinable
    package static func decimal<Bytes: Collection<UInt8>>(_ bytes: Bytes) -> UInt64? {
        guard !bytes.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            guard let digit = digit(byte) else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }

    /// Whether two byte sequences are equal, ignoring the case of ASCII letters.
    package static func equalsIgnoringCase(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        for index in 0..<a.count where lowercased(a[index]) != lowercased(b[index]) { return false }
        return true
    }

    /// Whether the bytes equal `text`, ignoring the case of ASCII letters.
    package static func equalsIgnoringCase(_ a: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        equalsIgnoringCase(a, text.bytes)
    }
}
