/// A field to be encoded: its name in small letters and its value, one after the other, and their hashes.
struct HashedField {
    let bytes: UnsafeRawBufferPointer
    let nameCount: Int
    let nameHash: UInt32
    let fieldHash: UInt32

    init(bytes: UnsafeRawBufferPointer, nameCount: Int) {
        self.bytes = bytes
        self.nameCount = nameCount
        let name = Self.mixed(UnsafeRawBufferPointer(rebasing: bytes[..<nameCount]), into: 0)
        let field = Self.mixed(UnsafeRawBufferPointer(rebasing: bytes[nameCount...]), into: name)
        nameHash = UInt32(truncatingIfNeeded: name >> 32)
        fieldHash = UInt32(truncatingIfNeeded: field >> 32)
    }

    var name: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<nameCount]) }
    var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[nameCount...]) }

    /// The size as RFC 7541 §4.1 counts it.
    var size: Int { bytes.count + TableEntry.overhead }

    /// A quick hash. Who chooses fields so that they collide wins nothing: a chain is as long as the table at most.
    private static func mixed(_ bytes: UnsafeRawBufferPointer, into start: UInt64) -> UInt64 {
        var hash = start ^ UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15
        guard bytes.count >= 8 else {
            var word: UInt64 = 0
            for byte in bytes { word = word << 8 | UInt64(byte) }
            return step(hash, word)
        }
        // The last eight bytes overlap those before.
        let last = bytes.count &- 8
        var offset = 0
        while true {
            hash = step(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            if offset == last { return hash }
            offset = min(offset &+ 8, last)
        }
    }

    @inline(__always)
    private static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0xD6E8_FEB8_6659_FD93
        return product ^ product >> 32
    }
}
