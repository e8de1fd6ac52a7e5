import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Decodes a member's data to its content, piece by piece, and checks size and CRC-32.
///
/// The content never exceeds the size in the directory.
struct MemberDecoder: Sendable {
    /// The number of bytes in a piece.
    private static let pieceSize = 64 * 1024
    /// The size up to which a member may expand as far as deflate can, like a body with a content coding.
    private static let minimumSize = 32 << 20

    private let entry: DirectoryEntry
    /// Nil for a stored member.
    private let inflater: Inflater?
    private let ratio: Int
    private var limit: ExpansionLimit
    private var pending = Data()
    private var received: Int64 = 0
    private var produced: Int64 = 0
    private var checksum = CRC32()

    /// - Parameters:
    ///   - ratio: the largest number of decoded bytes for each byte of the data, whose blocks of 16 KiB count as whole.
    ///   - minimumSize: the number of decoded bytes up to which any expansion is allowed.
    /// - Throws: ``ArchiveError/unsupportedCompression(member:method:)`` and ``ArchiveError/corruptMember(_:reason:)``.
    init(
        _ entry: DirectoryEntry, maximumRatio ratio: Int, minimumSize: Int = minimumSize
    ) throws(ArchiveError) {
        self.entry = entry
        self.ratio = ratio
        limit = ExpansionLimit(ratio: ratio, minimumSize: minimumSize)
        switch entry.method {
        case 0: inflater = nil
        case 8: inflater = try Inflater(member: entry.name)
        default: throw .unsupportedCompression(member: entry.name, method: Int(entry.method))
        }
    }

    /// Adds a piece of the member's data, which ``next()`` decodes.
    mutating func receive(_ data: Data) {
        received += Int64(data.count)
        if pending.isEmpty { pending = data } else { pending.append(data) }
    }

    /// The next piece of the content; nil when more data is needed, or the content is complete.
    mutating func next() throws(ArchiveError) -> Data? {
        let piece = try decode()
        guard !piece.isEmpty else { return nil }
        let isTooMuch = Int64(piece.count) > entry.size - produced
        produced = isTooMuch ? entry.size : produced + Int64(piece.count)
        // The bytes within the stated size are those that come first.
        guard inflater == nil || limit.allows(Int(clamping: produced)) else {
            throw .expandsTooFar(entry.name, ratio: ratio)
        }
        guard !isTooMuch else {
            throw .corruptMember(entry.name, reason: "it has more bytes than the directory states (\(entry.size))")
        }
        checksum.update(piece)
        return piece
    }

    private mutating func decode() throws(ArchiveError) -> Data {
        guard let inflater else {
            defer { pending = Data() }
            return pending
        }
        // One byte beyond the stated size reveals excess data.
        let room = min(Int64(Self.pieceSize), entry.size - produced) + 1
        while true {
            var part = pending.prefix(limit.room)
            let count = part.count
            let piece = try inflater.inflate(&part, atMost: Int(clamping: room))
            let used = count - part.count
            limit.consume(used)
            pending = used < pending.count ? pending.dropFirst(used) : Data()
            // Data after the end of the deflate stream would be kept in memory, up to the size in the directory.
            guard !piece.isEmpty || !inflater.isComplete || pending.isEmpty else {
                throw .corruptMember(entry.name, reason: "its deflate stream ends before its data does")
            }
            guard piece.isEmpty, !pending.isEmpty, limit.advance() else { return piece }
        }
    }

    /// All data was received and decoded: compares the content with the directory.
    func finish() throws(ArchiveError) {
        func corrupt(_ reason: String) -> ArchiveError { .corruptMember(entry.name, reason: reason) }
        guard inflater?.isComplete ?? true else { throw corrupt("its deflate stream does not end within its data") }
        guard received == entry.compressedSize else { throw .truncated("the data of \(entry.name) is incomplete") }
        guard produced == entry.size else {
            throw corrupt("it has \(produced) bytes, and the directory states \(entry.size)")
        }
        guard checksum.value == entry.checksum else {
            throw .wrongChecksum(member: entry.name, expected: entry.checksum, found: checksum.value)
        }
    }
}
