import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A member's entry in an archive's directory (APPNOTE 4.3.12).
struct DirectoryEntry: Sendable, Equatable {
    static let fixedSize = 46

    /// The unchanged bytes of the name.
    var rawName: ArraySlice<UInt8>
    /// The system of the tool that made the entry (APPNOTE 4.4.2).
    var host: UInt16
    var flags: UInt16
    var method: UInt16
    var checksum: UInt32
    /// The size in the archive in bytes.
    var compressedSize: Int64
    /// The decoded size in bytes.
    var size: Int64
    /// The position of the local header in the file.
    var headerOffset: Int64
    /// Extra fields in the directory. The local header may have others.
    var extra: ArraySlice<UInt8>
    var modified: Date?

    /// The name; see ``MemberName``.
    var name: String { MemberName.decode(rawName, mayBeUTF8: mayBeUTF8, ExtraFields(extra)) }

    /// True with the entry's flag (APPNOTE 4.4.4, bit 11), and without it where the creating system is Unix (3) or
    /// macOS (19): Info-ZIP and others write names there with the bytes of the file system.
    private var mayBeUTF8: Bool { flags & 1 << 11 != 0 || host == 3 || host == 19 }

    /// Whether the name's text equals `name`, in UTF-8.
    func isNamed(_ name: [UInt8]) -> Bool {
        rawName.allSatisfy { $0 < 0x80 } ? rawName.elementsEqual(name) : self.name.utf8.elementsEqual(name)
    }

    var isDirectory: Bool { rawName.last == UInt8(ascii: "/") }

    /// Bit 0; bit 6 for strong encryption, bit 13 for headers with hidden content (APPNOTE 4.4.4).
    var isEncrypted: Bool { flags & (1 | 1 << 6 | 1 << 13) != 0 }

    /// Parses the entry at a position, which moves behind the entry.
    ///
    /// - Parameter location: The directory's location: offsets are relative to the end of its prefix.
    init(_ bytes: [UInt8], at position: inout Int, _ location: EndOfCentralDirectory) throws(ArchiveError) {
        guard let record = FixedRecord(bytes, at: position, size: Self.fixedSize, signature: 0x0201_4b50) else {
            throw .malformedDirectory("there is no entry at its byte \(position)")
        }
        let start = position + Self.fixedSize
        let nameEnd = start + Int(record.uint16(28))
        let extraEnd = nameEnd + Int(record.uint16(30))
        let end = extraEnd + Int(record.uint16(32))
        guard end <= bytes.count else { throw .malformedDirectory("the entry at its byte \(position) goes beyond it") }
        rawName = bytes[start..<nameEnd]
        host = record.uint16(4) >> 8
        flags = record.uint16(8)
        method = record.uint16(10)
        checksum = record.uint32(16)
        extra = bytes[nameEnd..<extraEnd]
        let fields = ExtraFields(extra)
        modified = fields.modified ?? DOSTime.date(date: record.uint16(14), time: record.uint16(12))
        let sizes = try Self.sizes(record, fields, at: position)
        (size, compressedSize) = (sizes.size, sizes.compressedSize)
        let (offset, overflows) = sizes.offset.addingReportingOverflow(location.prefix)
        guard !overflows, offset <= location.directory.lowerBound else {
            throw .malformedDirectory("the member of the entry at its byte \(position) would be behind it")
        }
        headerOffset = offset
        position = end
    }

    /// Numbers with all bits set are in the zip64 field, in this order (APPNOTE 4.5.3).
    private static func sizes(
        _ record: FixedRecord, _ fields: ExtraFields, at position: Int
    ) throws(ArchiveError) -> (size: Int64, compressedSize: Int64, offset: Int64) {
        var zip64 = fields[0x0001].map { NumberReader($0) }
        func number(_ offset: Int) throws(ArchiveError) -> Int64 {
            let short = record.uint32(offset)
            guard short == .max, zip64 != nil else { return Int64(short) }
            guard let long = zip64?.uint64(), let number = Int64(exactly: long) else {
                throw .malformedDirectory("the zip64 field of the entry at its byte \(position) is not valid")
            }
            return number
        }
        let size = try number(24)
        let compressedSize = try number(20)
        let offset = try number(42)
        var disk = UInt32(record.uint16(34))
        if disk == 0xFFFF, let number = zip64?.uint32() { disk = number }
        guard disk == 0 else { throw .multiDisk }
        return (size, compressedSize, offset)
    }
}

/// The extra fields of a header: identifiers, each with its bytes (APPNOTE 4.5.1).
struct ExtraFields {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The content of the first field with this identifier. Bytes that are not fields are ignored, because some tools
    /// align members with zeros here.
    subscript(identifier: UInt16) -> ArraySlice<UInt8>? {
        var reader = NumberReader(bytes)
        while let found = reader.uint16(), let size = reader.uint16(), let content = reader.take(Int(size)) {
            if found == identifier { return content }
        }
        return nil
    }

    /// The time of the extended timestamp, in UTC.
    var modified: Date? {
        guard var reader = self[0x5455].map({ NumberReader($0) }), let flags = reader.uint8(), flags & 1 != 0,
            let seconds = reader.uint32()
        else { return nil }
        return Date(timeIntervalSince1970: Double(Int32(bitPattern: seconds)))
    }
}

/// Dates in the form of archives: since 1980, in steps of two seconds, without a time zone. They are interpreted as
/// UTC.
enum DOSTime {
    /// Nil for an invalid day or time.
    static func date(date: UInt16, time: UInt16) -> Date? {
        CivilTime(
            year: Int(date >> 9) + 1980, month: Int(date >> 5 & 15), day: Int(date & 31), hour: Int(time >> 11),
            minute: Int(time >> 5 & 63), second: Int(time & 31) * 2
        ).map { Date(timeIntervalSince1970: Double($0.secondsSince1970)) }
    }
}
