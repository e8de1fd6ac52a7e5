/// Compares and copies bytes, for tables in which names and values are looked up.
@usableFromInline
package enum Bytes {
    /// Whether two byte sequences are equal. 16 bytes are compared at a time; the last ones overlap earlier ones.
    @inlinable @inline(__always)
    package static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard a.count >= 16 else { return areShortEqual(a, b) }
        let last = a.count &- 16
        var offset = 0
        while true {
            if difference(a, b, at: offset) | difference(a, b, at: offset &+ 8) != 0 { return false }
            if offset == last { return true }
            offset = min(offset &+ 16, last)
        }
    }

    /// Whether the bytes equal a literal.
    @inlinable @inline(__always)
    package static func areEqual(_ a: UnsafeRawBufferPointer, _ text: StaticString) -> Bool { areEqual(a, text.bytes) }

    /// Compares fewer than 16 bytes. Both sequences have the same length.
    @inlinable @inline(__always)
    static func areShortEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        if a.count >= 8 { return difference(a, b, at: 0) | difference(a, b, at: a.count &- 8) == 0 }
        for index in 0..<a.count where a[index] != b[index] { return false }
        return true
    }

    /// Returns 0 if the eight bytes at `offset`, which must exist, are equal.
    @inlinable @inline(__always)
    static func difference(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            ^ b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// Copies bytes to `output`, which has room for them, and converts ASCII capital letters to lowercase.
    @inlinable @inline(__always)
    package static func lowercase(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        for index in 0..<bytes.count { output[index] = ASCII.lowercased(bytes[index]) }
    }
}

extension StaticString {
    /// The bytes of a literal. They are valid for the life of the program.
    @inlinable @inline(__always)
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
