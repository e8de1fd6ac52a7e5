import CLoadingKitShims

/// Comparisons of bytes that treat the ASCII letters alike in both cases, as HTTP's names and tokens ask.
package enum ASCII {
    /// A byte with an ASCII capital letter made small.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether a byte is a space or a tab, which are optional around values (RFC 9110 §5.6.3).
    @inline(__always)
    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether a byte may be in a token (RFC 9110 §5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool { lk_is_token_byte(byte) != 0 }

    /// Without the spaces and tabs at both ends.
    package static func trimmingSpaces<Bytes: BidirectionalCollection<UInt8>>(_ bytes: Bytes) -> Bytes.SubSequence {
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return bytes[bytes.startIndex..<bytes.startIndex] }
        return bytes[first...last]
    }

    /// Whether two byte sequences are the same but for the case of ASCII letters.
    package static func equalsIgnoringCase(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        for index in 0..<a.count where lowercased(a[index]) != lowercased(b[index]) { return false }
        return true
    }

    /// The number that decimal digits alone spell, without a sign or a space; nil too when it is beyond 64 bits.
    package static func decimal(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        guard !bytes.isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }

    /// Whether bytes spell `text` but for the case of ASCII letters.
    package static func equalsIgnoringCase(_ a: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        equalsIgnoringCase(a, UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
