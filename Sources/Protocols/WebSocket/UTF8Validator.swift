/// Checks text that arrives in pieces, and reports the first byte that is not UTF-8 (RFC 3629).
struct UTF8Validator: Sendable {
    /// The number of a character's bytes that have not arrived, and the allowed values of the next one.
    private var missing = 0
    private var allowed: ClosedRange<UInt8> = 0x80...0xbf

    /// Whether the text may end here.
    var isComplete: Bool { missing == 0 }

    /// Returns false once the text is not UTF-8.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if missing == 0 { position = Self.skipASCII(bytes, position) }
            guard position < bytes.count else { return true }
            guard take(bytes[position]) else { return false }
            position += 1
        }
        return true
    }

    private static func skipASCII(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var position = start
        while bytes.count - position >= 16,
            bytes.loadUnaligned(fromByteOffset: position, as: SIMD2<UInt64>.self).hasNoHighBits
        {
            position += 16
        }
        while position < bytes.count, bytes[position] < 0x80 { position += 1 }
        return position
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard missing == 0 else {
            guard allowed.contains(byte) else { return false }
            missing -= 1
            allowed = 0x80...0xbf
            return true
        }
        switch byte {
        case 0..<0x80: break
        case 0xc2...0xdf: missing = 1
        // Overlong forms, surrogates, and values beyond U+10FFFF are not allowed.
        case 0xe0: (missing, allowed) = (2, 0xa0...0xbf)
        case 0xed: (missing, allowed) = (2, 0x80...0x9f)
        case 0xe1...0xef: missing = 2
        case 0xf0: (missing, allowed) = (3, 0x90...0xbf)
        case 0xf1...0xf3: missing = 3
        case 0xf4: (missing, allowed) = (3, 0x80...0x8f)
        case _: return false
        }
        return true
    }
}

extension SIMD2<UInt64> {
    fileprivate var hasNoHighBits: Bool { (self[0] | self[1]) & 0x8080_8080_8080_8080 == 0 }
}
