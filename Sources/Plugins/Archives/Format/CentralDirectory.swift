import Foundation

/// An archive's directory. Its bytes are kept unchanged; all of its entries were parsed once when it was made.
struct CentralDirectory: Sendable {
    /// The directory's location in the archive.
    let location: EndOfCentralDirectory
    /// The number of entries.
    let count: Int
    /// Distinguishes the directory from those of other versions of the archive. Not secure against an adversary.
    let fingerprint: UInt64
    private let bytes: [UInt8]

    /// - Throws: ``ArchiveError/malformedDirectory(_:)`` unless all entries can be parsed and their number is correct.
    init(_ bytes: [UInt8], _ location: EndOfCentralDirectory) throws(ArchiveError) {
        self.bytes = bytes
        self.location = location
        var position = 0
        var count = 0
        while position < bytes.count, !Self.isSignature(bytes, at: position) {
            _ = try DirectoryEntry(bytes, at: &position, location)
            count += 1
        }
        let expected = location.isZip64 ? UInt64(count) : UInt64(count) & 0xFFFF
        guard expected == location.entryCount else {
            throw .malformedDirectory("it has \(count) members, and its end record states \(location.entryCount)")
        }
        self.count = count
        fingerprint = Self.fingerprint(of: bytes)
    }

    /// The number of bytes in memory.
    var size: Int { bytes.count }

    /// All entries in the directory's order.
    var entries: Entries { Entries(bytes: bytes, location: location) }

    struct Entries: Sequence, IteratorProtocol {
        let bytes: [UInt8]
        let location: EndOfCentralDirectory
        fileprivate var position = 0

        mutating func next() -> DirectoryEntry? {
            // Only the digital signature at the end cannot be parsed: all entries were parsed before.
            try? DirectoryEntry(bytes, at: &position, location)
        }
    }

    /// A member, and the position of the next record in the file.
    struct Member: Sendable, Equatable {
        var entry: DirectoryEntry
        var end: Int64
    }

    /// The member with this name: as UTF-8, or with exactly these bytes in the archive. Of several the last counts,
    /// because it is the one that remains when all are extracted.
    func member(named name: [UInt8]) -> Member? {
        var (decoded, raw): (DirectoryEntry?, DirectoryEntry?)
        for entry in entries {
            if entry.isNamed(name) { decoded = entry }
            if entry.rawName.elementsEqual(name) { raw = entry }
        }
        guard let entry = decoded ?? raw else { return nil }
        var end = location.directory.lowerBound
        for other in entries where other.headerOffset > entry.headerOffset { end = min(end, other.headerOffset) }
        return Member(entry: entry, end: end)
    }

    /// Whether there is a member whose name begins with `prefix`.
    func hasMembers(below prefix: String) -> Bool {
        prefix.isEmpty || entries.contains { $0.name.utf8.starts(with: prefix.utf8) }
    }

    /// The digital signature is the last record of a directory (APPNOTE 4.3.13).
    private static func isSignature(_ bytes: [UInt8], at position: Int) -> Bool {
        guard let record = FixedRecord(bytes, at: position, size: 6, signature: 0x0505_4b50) else { return false }
        return position + 6 + Int(record.uint16(4)) == bytes.count
    }

    /// The FNV-1a hash.
    private static func fingerprint(of bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
