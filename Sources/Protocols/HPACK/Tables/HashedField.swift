/// A field to encode, and the hashes by which it is found in a table.
struct HashedField {
    /// The name, in lowercase unless it is well known.
    let name: UnsafeRawBufferPointer
    let value: UnsafeRawBufferPointer
    /// A hash of the name. For a known name it is the name's number, which no other name has: see ``isNameKnown``.
    let nameHash: UInt32
    let fieldHash: UInt32

    /// The bit that distinguishes hashes from numbers.
    private static let otherName: UInt32 = 1 << 31

    /// A field with a well-known name, in any case. The name must not be ``KnownField/other``.
    init(_ known: KnownField, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        self.init(nameHash: UInt32(known.rawValue), name: name, value: value)
    }

    init(_ name: HPACKPseudoFieldName, value: UnsafeRawBufferPointer) {
        self.init(nameHash: 256 &+ UInt32(name.rawValue), name: name.nameBytes, value: value)
    }

    /// A field with another name, in lowercase.
    init(otherName name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let hash = Self.hash(name, seed: 0) >> 32
        self.init(nameHash: UInt32(truncatingIfNeeded: hash) | Self.otherName, name: name, value: value)
    }

    @inline(__always)
    private init(nameHash: UInt32, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        self.nameHash = nameHash
        self.name = name
        self.value = value
        fieldHash = UInt32(truncatingIfNeeded: Self.hash(value, seed: nameHash) >> 32)
    }

    /// Whether ``nameHash`` identifies the name.
    @inline(__always)
    var isNameKnown: Bool { nameHash < Self.otherName }

    /// The size as RFC 7541 §4.1 counts it.
    var size: Int { name.count + value.count + TableEntry.overhead }

    /// A fast hash. An attacker gains nothing from fields that collide, because a chain is at most as long as the
    /// table.
    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt32) -> UInt64 {
        let start = (UInt64(seed) &+ UInt64(bytes.count) &<< 32) &* 0x9E37_79B9_7F4A_7C15
        guard bytes.count >= 16 else { return shortHash(bytes, start) }
        // The last 16 bytes overlap earlier ones.
        let last = bytes.count &- 16
        var hash = start
        var offset = 0
        while true {
            hash = mixed(
                hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
            if offset == last { return hash }
            offset = min(offset &+ 16, last)
        }
    }

    /// Hashes fewer than 16 bytes: both ends, which overlap.
    @inline(__always)
    private static func shortHash(_ bytes: UnsafeRawBufferPointer, _ start: UInt64) -> UInt64 {
        let count = bytes.count
        if count >= 8 {
            return mixed(
                start, bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
        }
        if count >= 4 {
            return mixed(
                start, UInt64(bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)),
                UInt64(bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)))
        }
        var word: UInt64 = 0
        for byte in bytes { word = word &<< 8 | UInt64(byte) }
        return mixed(start, word, 0)
    }

    @inline(__always)
    private static func mixed(_ hash: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
        let (high, low) = (hash ^ first ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: second ^ 0xE703_7ED1_A0B4_28DB)
        // The hash and the first word are added again. Otherwise their bits would be lost when the second factor is 0.
        return high ^ low &+ hash ^ first
    }
}
