/// The header before a member's data (APPNOTE 4.3.7).
struct LocalHeader: Sendable, Equatable {
    static let fixedSize = 30

    /// The number of bytes from its start to the data's start.
    var size: Int
    var flags: UInt16
    var method: UInt16
    var checksum: UInt32
    var compressedSize: UInt32
    var uncompressedSize: UInt32
    var rawName: ArraySlice<UInt8>

    /// Nil where `bytes` has only a part of the header.
    ///
    /// - Throws: ``ArchiveError/localHeaderDiffers(member:field:)`` where there is no header.
    init?(_ bytes: [UInt8], of member: DirectoryEntry) throws(ArchiveError) {
        guard bytes.count >= Self.fixedSize else { return nil }
        guard let record = FixedRecord(bytes, at: 0, size: Self.fixedSize, signature: 0x0403_4b50) else {
            throw .localHeaderDiffers(member: member.name, field: "signature")
        }
        let nameEnd = Self.fixedSize + Int(record.uint16(26))
        size = nameEnd + Int(record.uint16(28))
        guard bytes.count >= nameEnd else { return nil }
        flags = record.uint16(6)
        method = record.uint16(8)
        checksum = record.uint32(14)
        compressedSize = record.uint32(18)
        uncompressedSize = record.uint32(22)
        rawName = bytes[Self.fixedSize..<nameEnd]
    }

    /// Compares the header with the directory. Readers treat differences in different ways: the loaded content would
    /// depend on the reader. Sizes and checksum are compared unless they are in a data descriptor or in a zip64 field.
    func check(against entry: DirectoryEntry) throws(ArchiveError) {
        func differs(_ field: String) -> ArchiveError { .localHeaderDiffers(member: entry.name, field: field) }
        guard rawName.elementsEqual(entry.rawName) else { throw differs("name") }
        guard method == entry.method else { throw differs("compression method") }
        guard flags & 1 == entry.flags & 1 else { throw differs("encryption") }
        guard flags & 1 << 3 == 0 else { return }
        guard checksum == entry.checksum else { throw differs("CRC-32") }
        guard compressedSize == .max || Int64(compressedSize) == entry.compressedSize else {
            throw differs("compressed size")
        }
        guard uncompressedSize == .max || Int64(uncompressedSize) == entry.size else { throw differs("size") }
    }
}
