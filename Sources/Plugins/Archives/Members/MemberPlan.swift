/// The bytes of an archive that are read for a member.
struct MemberPlan: Sendable, Equatable {
    /// The first requested range: the local header, and all of the data where its end can be determined.
    let first: Range<Int64>
    /// The bytes of the member that are delivered.
    let part: Range<Int64>
    private let member: CentralDirectory.Member

    /// The number of additional bytes for the local header's extra fields, which may be longer than the directory's.
    private static let slack: Int64 = 64
    /// The number of bytes before a range up to which they are read and dropped, which is faster than a separate
    /// request.
    private static let shortestSkip: Int64 = 64 * 1024
    /// The number of bytes after a member's data (its descriptor, the header's surplus) up to which they are requested
    /// with it.
    private static let longestRest: Int64 = 16 * 1024

    /// - Parameter part: Nil for the whole member.
    /// - Throws: An error where the directory alone shows that the member cannot be loaded.
    init(_ member: CentralDirectory.Member, part: Range<Int64>?) throws(ArchiveError) {
        let entry = member.entry
        guard !entry.isEncrypted else { throw .encrypted(entry.name) }
        guard entry.method == 0 || entry.method == 8 else {
            throw .unsupportedCompression(member: entry.name, method: Int(entry.method))
        }
        let fixed = Int64(LocalHeader.fixedSize + entry.rawName.count)
        let room = member.end - entry.headerOffset
        guard room >= fixed, entry.compressedSize <= room - fixed else { throw .overlapping(entry.name) }
        guard entry.method != 0 || entry.size == entry.compressedSize else {
            throw .corruptMember(entry.name, reason: "it is stored, and its two sizes differ")
        }
        self.member = member
        self.part = part ?? 0..<entry.size
        let header = fixed + Int64(entry.extra.count) + Self.slack
        let isStoredPart = entry.method == 0 && part != nil
        let count: Int64
        if isStoredPart {
            count = self.part.lowerBound > Self.shortestSkip ? 0 : self.part.upperBound
        } else {
            count = entry.compressedSize
        }
        let takesAll = !isStoredPart && room - fixed - count <= Self.longestRest
        first = entry.headerOffset..<(takesAll ? member.end : entry.headerOffset + min(room, header + count))
    }

    /// The range of the data to read, once the header is known.
    func data(behind header: LocalHeader) throws(ArchiveError) -> Range<Int64> {
        let entry = member.entry
        let start = entry.headerOffset + Int64(header.size)
        guard start <= member.end, entry.compressedSize <= member.end - start else {
            throw .overlapping(entry.name)
        }
        guard entry.method == 0 else { return start..<start + entry.compressedSize }
        return start + part.lowerBound..<start + part.upperBound
    }

    /// Whether a part is delivered without decoding, and without the bytes before it: the CRC-32 cannot be checked.
    var isStoredPart: Bool { member.entry.method == 0 && part != 0..<member.entry.size }
}
