/// Comparisons of bytes that treat the ASCII letters alike in both cases, as HTTP's names and tokens ask.
package enum ASCII {
    /// A byte with an ASCII capital letter made small.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether two byte sequences are the same but for the case of ASCII letters.
    package static func equalsIgnoringCase(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        for index in 0..<a.count where lowercased(a[index]) != lowercased(b[index]) { return false }
        return true
    }

    /// Whether bytes spell `text` but for the case of ASCII letters.
    package static func equalsIgnoringCase(_ a: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        equalsIgnoringCase(a, UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Whether `bytes` spells `name`, which consists of ASCII letters, digits and hyphens, in any case of the letters.
    ///
    /// Compares eight bytes at a time. Of the bytes a name may have, the letters alone have bit 6 set; where it is set,
    /// bit 5 (the letter's case) does not count, elsewhere every bit does.
    static func equalsName(_ bytes: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Bool {
        let count = name.count
        guard bytes.count == count else { return false }
        guard count >= 8 else { return equalsIgnoringCase(bytes, name) }
        var offset = 0
        while offset < count - 8 {
            if !equalWords(bytes, name, at: offset) { return false }
            offset += 8
        }
        return equalWords(bytes, name, at: count - 8)
    }

    @inline(__always)
    private static func equalWords(
        _ bytes: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer, at offset: Int
    ) -> Bool {
        let expected = name.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let caseBits = (expected & 0x4040_4040_4040_4040) >> 1
        return bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) | caseBits == expected | caseBits
    }
}
