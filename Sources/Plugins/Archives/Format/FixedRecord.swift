/// A fixed-size record within an archive's bytes. Its numbers are little-endian (APPNOTE 4.4.1.1).
///
/// The offsets passed to its methods are constants of the format, below the size that the initializer has checked.
struct FixedRecord {
    private let bytes: [UInt8]
    private let start: Int

    /// Nil where the bytes do not contain the whole record, or the record has another signature.
    init?(_ bytes: [UInt8], at start: Int, size: Int, signature: UInt32) {
        guard start >= 0, start <= bytes.count, bytes.count - start >= size else { return nil }
        self.bytes = bytes
        self.start = start
        guard uint32(0) == signature else { return nil }
    }

    func uint16(_ offset: Int) -> UInt16 {
        UInt16(bytes[start + offset]) | UInt16(bytes[start + offset + 1]) << 8
    }

    func uint32(_ offset: Int) -> UInt32 { UInt32(uint16(offset)) | UInt32(uint16(offset + 2)) << 16 }

    func uint64(_ offset: Int) -> UInt64 { UInt64(uint32(offset)) | UInt64(uint32(offset + 4)) << 32 }
}

/// Reads consecutive numbers from bytes of any length.
struct NumberReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var remaining: ArraySlice<UInt8> { bytes }

    mutating func uint8() -> UInt8? { bytes.popFirst() }

    mutating func uint16() -> UInt16? { number(2).map { UInt16(truncatingIfNeeded: $0) } }

    mutating func uint32() -> UInt32? { number(4).map { UInt32(truncatingIfNeeded: $0) } }

    mutating func uint64() -> UInt64? { number(8) }

    /// `count` bytes; nil where there are fewer.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    private mutating func number(_ count: Int) -> UInt64? {
        guard let part = take(count) else { return nil }
        return part.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
