/// Comparing and copying bytes.
enum Bytes {
    /// Whether two byte sequences are the same, 16 bytes at a time; the last ones overlap those before.
    @inline(__always)
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
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

    /// Fewer than 16 bytes, and as many in both.
    @inline(__always)
    private static func areShortEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        if a.count >= 8 { return difference(a, b, at: 0) | difference(a, b, at: a.count &- 8) == 0 }
        for index in 0..<a.count where a[index] != b[index] { return false }
        return true
    }

    /// 0 if the eight bytes at `offset`, which are there, are the same.
    @inline(__always)
    private static func difference(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            ^ b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// A byte with an ASCII capital letter made small: `ASCII` has the same, but not inlined across modules, which
    /// would be a call for each byte.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    /// Copies bytes to `output`, which has room for them, with ASCII capital letters made small.
    @inline(__always)
    static func lowercase(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer) {
        for index in 0..<bytes.count { output[index] = lowercased(bytes[index]) }
    }
}
