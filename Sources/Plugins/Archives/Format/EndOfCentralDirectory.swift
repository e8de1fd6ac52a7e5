/// The location of an archive's directory, from the records at the archive's end (APPNOTE 4.3.14 to 4.3.16).
struct EndOfCentralDirectory: Sendable, Equatable {
    /// The number of bytes before the archive, such as the program of a self-extracting archive. All offsets within the
    /// archive are relative to their end.
    var prefix: Int64
    /// The directory's range in the file.
    var directory: Range<Int64>
    /// The number of the directory's members. Writers without zip64 write the number modulo 65,536.
    var entryCount: UInt64
    /// Whether the numbers come from the zip64 records.
    var isZip64: Bool

    enum Search: Equatable {
        case found(EndOfCentralDirectory)
        /// The decision requires the bytes from this position of the file on.
        case needsMore(from: Int64)
    }

    static let size = 22
    static let locatorSize = 20
    static let zip64Size = 56
    private static let longestComment = 65_535
    /// An upper limit for the size of files. Sums of positions and lengths below it do not overflow.
    private static let largestFile: Int64 = 1 << 60
    /// The largest distance between the zip64 record and its locator: its extensible data is between them
    /// (APPNOTE 4.3.14.2).
    private static let longestZip64Record: Int64 = 65_536

    /// Searches for the end of the directory in the last bytes of a file.
    ///
    /// The comment of the valid record ends at the end of the file. An apparent record within the comment is therefore
    /// not valid, unless it was crafted to be: then it is the record nearest to the end, as for most readers.
    ///
    /// - Parameters:
    ///   - tail: The file's last bytes.
    ///   - total: The file's size.
    static func search(tail: [UInt8], total: Int64) throws(ArchiveError) -> Search {
        let start = total - Int64(tail.count)
        guard start >= 0, total <= largestFile else { throw .truncated("its reported size is \(total) bytes") }
        guard let position = position(in: tail) else {
            guard start > 0, tail.count < size + longestComment else { throw .notAnArchive }
            return .needsMore(from: max(0, total - Int64(size + longestComment + locatorSize + zip64Size)))
        }
        guard let record = FixedRecord(tail, at: position, size: size, signature: 0x0605_4b50) else {
            throw .notAnArchive
        }
        return try Tail(bytes: tail, start: start).resolve(Numbers(record), endingAt: position)
    }

    private static func position(in tail: [UInt8]) -> Int? {
        guard tail.count >= size else { return nil }
        let last = tail.count - size
        for position in stride(from: last, through: max(0, last - longestComment), by: -1)
        where tail[position] == 0x50 && tail[position + 1] == 0x4b {
            if let record = FixedRecord(tail, at: position, size: size, signature: 0x0605_4b50),
                Int(record.uint16(20)) == last - position
            {
                return position
            }
        }
        return nil
    }

    /// The numbers of both forms of the record.
    private struct Numbers {
        var disk: UInt64
        var directoryDisk: UInt64
        var entriesOnDisk: UInt64
        var entries: UInt64
        var size: UInt64
        var offset: UInt64

        init(_ record: FixedRecord) {
            disk = UInt64(record.uint16(4))
            directoryDisk = UInt64(record.uint16(6))
            entriesOnDisk = UInt64(record.uint16(8))
            entries = UInt64(record.uint16(10))
            size = UInt64(record.uint32(12))
            offset = UInt64(record.uint32(16))
        }

        /// A number with all bits set refers the reader to the zip64 record (APPNOTE 4.4.1.4).
        mutating func replaceMarkers(by record: FixedRecord) {
            if disk == 0xFFFF { disk = UInt64(record.uint32(16)) }
            if directoryDisk == 0xFFFF { directoryDisk = UInt64(record.uint32(20)) }
            if entriesOnDisk == 0xFFFF { entriesOnDisk = record.uint64(24) }
            if entries == 0xFFFF { entries = record.uint64(32) }
            if size == 0xFFFF_FFFF { size = record.uint64(40) }
            if offset == 0xFFFF_FFFF { offset = record.uint64(48) }
        }
    }

    private struct Tail {
        let bytes: [UInt8]
        let start: Int64

        func resolve(_ numbers: Numbers, endingAt position: Int) throws(ArchiveError) -> Search {
            // The locator decides, not the numbers: some writers add the zip64 records where no number needs them, and the
            // directory ends before those.
            let place = position - EndOfCentralDirectory.locatorSize
            guard place >= 0 || start == 0 else { return more(before: position) }
            let size = EndOfCentralDirectory.locatorSize
            guard let locator = FixedRecord(bytes, at: place, size: size, signature: 0x0706_4b50) else {
                return .found(try make(numbers, endingAt: position, isZip64: false))
            }
            guard locator.uint32(4) == 0, locator.uint32(16) <= 1 else { throw .multiDisk }
            return try resolve(numbers, locatorAt: place, stated: locator.uint64(8))
        }

        private func resolve(
            _ numbers: Numbers, locatorAt locator: Int, stated: UInt64
        ) throws(ArchiveError) -> Search {
            // With a prefix the stated position is wrong, and the record is directly before its locator.
            let beforeLocator = locator - EndOfCentralDirectory.zip64Size
            let candidates = [index(of: stated), beforeLocator].compactMap { $0 }
            for candidate in candidates where candidate <= beforeLocator {
                guard let record = zip64Record(at: candidate, before: locator) else { continue }
                var numbers = numbers
                numbers.replaceMarkers(by: record)
                return .found(try make(numbers, endingAt: candidate, isZip64: true))
            }
            guard start > 0 else { throw .malformedDirectory("the zip64 record is not at the position in its locator") }
            if beforeLocator < 0 { return more(before: locator) }
            let distance = EndOfCentralDirectory.longestZip64Record
            if let stated = Int64(exactly: stated), stated < start, start + Int64(locator) - stated <= distance {
                return .needsMore(from: stated)
            }
            throw .malformedDirectory("the zip64 record is not at the position in its locator")
        }

        private func zip64Record(at place: Int, before locator: Int) -> FixedRecord? {
            let size = EndOfCentralDirectory.zip64Size
            guard let record = FixedRecord(bytes, at: place, size: size, signature: 0x0606_4b50),
                let length = Int(exactly: record.uint64(4)), length >= size - 12, length <= locator - place - 12
            else { return nil }
            return record
        }

        private func index(of position: UInt64) -> Int? {
            guard let position = Int64(exactly: position), position >= start else { return nil }
            return Int(exactly: position - start)
        }

        private func more(before position: Int) -> Search {
            .needsMore(from: max(0, min(start - 1, start + Int64(position) - 1024)))
        }

        private func make(
            _ numbers: Numbers, endingAt index: Int, isZip64: Bool
        ) throws(ArchiveError) -> EndOfCentralDirectory {
            guard numbers.disk == 0, numbers.directoryDisk == 0, numbers.entriesOnDisk == numbers.entries else {
                throw .multiDisk
            }
            let end = start + Int64(index)
            guard let size = Int64(exactly: numbers.size), size <= end else {
                throw .truncated("its directory would begin before the file does")
            }
            guard let offset = Int64(exactly: numbers.offset), offset <= end - size else {
                throw .truncated("its directory should begin at byte \(numbers.offset)")
            }
            guard numbers.entries <= UInt64(size / Int64(DirectoryEntry.fixedSize)) else {
                throw .malformedDirectory("it is too small for \(numbers.entries) members")
            }
            return EndOfCentralDirectory(
                prefix: end - size - offset, directory: (end - size)..<end, entryCount: numbers.entries,
                isZip64: isZip64)
        }
    }
}
