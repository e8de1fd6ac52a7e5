/// Which bytes of an archive are read for a member.
struct MemberPlan: Sendable, Equatable {
    /// What is requested first: the local header, and all of the data where its end can be told.
    let first: Range<Int64>
    /// Which bytes of the member are delivered.
    let part: Range<Int64>
    private let member: CentralDirectory.Member

    /// So many bytes more than the directory tells are allowed for in the local header's extra fields.
    private static let slack: Int64 = 64
    /// Up to here the data before a range is read and dropped, which is faster than a request of its own.
    private static let shortestSkip: Int64 = 64 * 1024
    /// So much behind a member's data (its descriptor, the header's surplus) is requested with it.
    private static let longestRest: Int64 = 16 * 1024

    /// - Parameter part: Nil for all of the member.
    /// - Throws: An error for what the directory alone shows to be no member that can be loaded.
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

    /// Where the data is that is read, once the header is known.
    func data(behind header: LocalHeader) throws(ArchiveError) -> Range<Int64> {
        let entry = member.entry
        let start = entry.headerOffset + Int64(header.size)
        guard start <= member.end, entry.compressedSize <= member.end - start else {
            throw .overlapping(entry.name)
        }
        guard entry.method == 0 else { return start..<start + entry.compressedSize }
        return start + part.lowerBound..<start + part.upperBound
    }

    /// Whether bytes are delivered as they are, without what comes before them: the CRC-32 cannot be checked.
    var isStoredPart: Bool { member.entry.method == 0 && part != 0..<member.entry.size }
}
