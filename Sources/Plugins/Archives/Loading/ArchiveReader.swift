import Foundation
import LoadingKit

/// Bytes of an archive that are already in memory: its end, or all of it.
struct KeptBytes: Sendable {
    var start: Int64
    var bytes: Data

    subscript(range: Range<Int64>) -> Data? {
        guard range.lowerBound >= start, range.upperBound - start <= Int64(bytes.count) else { return nil }
        let first = bytes.startIndex + Int(range.lowerBound - start)
        return bytes[first..<first + range.count]
    }
}

/// Reads an archive in order, from consecutive ranges. Only requested bytes are loaded.
struct ArchiveReader {
    private let source: ArchiveSource
    private let version: ArchiveVersion
    private let kept: KeptBytes?
    private let reloads: Bool
    private let largestWhole: Int
    /// The position of the next byte.
    private(set) var position: Int64 = 0
    /// The received and unread bytes of the open range.
    private var pending = Data()
    private var body: LoadedBody.Iterator?
    private var end: Int64 = 0

    /// The largest unread rest of a range, in bytes, that is read and dropped to keep the connection.
    private static let longestRest: Int64 = 16 * 1024

    init(_ source: ArchiveSource, _ version: ArchiveVersion, kept: KeptBytes?, reloads: Bool, _ limits: ArchiveLimits) {
        self.source = source
        self.version = version
        self.kept = kept
        self.reloads = reloads
        largestWhole = limits.wholeArchive
    }

    /// Requests a range, unless it is in memory. Returns when its response has arrived.
    ///
    /// - Throws: `Restart` where the archive is no longer the known one.
    mutating func open(_ range: Range<Int64>) async throws {
        (position, end, pending, body) = (range.lowerBound, range.upperBound, Data(), nil)
        if range.isEmpty { return }
        if let bytes = kept?[range] {
            pending = bytes
            return
        }
        switch try await source.part(range, of: version, reloads: reloads) {
        case .part(let part): body = part.body.makeAsyncIterator()
        case .whole(let whole):
            guard let size = whole.version.total, size > Int64(largestWhole) else { throw Restart.whole(whole) }
            guard version.agrees(with: whole.version) else { throw Restart.changed }
            throw ArchiveError.rangesNotSupported(size: size)
        }
    }

    /// Opens the bytes before `limit`, where the open range has ended.
    mutating func prepare(upTo limit: Int64) async throws {
        if position >= end, position < limit { try await open(position..<limit) }
    }

    /// The next bytes, at least one, and none from `limit` on.
    mutating func next(upTo limit: Int64) async throws -> Data {
        try await prepare(upTo: limit)
        while pending.isEmpty {
            guard let piece = try await body?.next(), position < end else {
                throw ArchiveError.truncated("a range of it ended early, at byte \(position)")
            }
            pending = piece.prefix(Int(clamping: end - position))
        }
        let piece = pending.prefix(Int(clamping: limit - position))
        pending = pending.dropFirst(piece.count)
        position += Int64(piece.count)
        return piece
    }

    /// Returns the bytes that were read last.
    mutating func unread(_ bytes: Data) {
        pending = bytes + pending
        position -= Int64(bytes.count)
    }

    /// Continues at a later position.
    mutating func skip(to target: Int64) async throws {
        while position < min(target, end) { _ = try await next(upTo: min(target, end)) }
        position = max(position, target)
    }

    /// All bytes of a range.
    mutating func read(_ range: Range<Int64>) async throws -> Data {
        try await open(range)
        var bytes = Data()
        while position < range.upperBound { bytes.append(try await next(upTo: range.upperBound)) }
        await finish()
        return bytes
    }

    /// Ends the reading, and lets the connection be reused.
    mutating func finish() async {
        guard body != nil, end - position <= Self.longestRest else { return }
        while position < end, (try? await next(upTo: end)) != nil {}
        // The end of the body, which releases the connection, follows its last byte.
        _ = try? await body?.next()
    }
}
