/// Comparing and copying bytes.
enum Bytes {
    /// Whether two byte sequences are the same, eight bytes at a time; the last eight overlap those before.
    @inline(__always)
    static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        guard a.count >= 8 else {
            for index in 0..<a.count where a[index] != b[index] { return false }
            return true
        }
        let last = a.count &- 8
        var offset = 0
        while true {
            let word = a.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word != b.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
            if offset == last { return true }
            offset = min(offset &+ 8, last)
        }
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
