import Foundation
import LoadingKit

/// An archive with a known directory.
struct OpenArchive: Sendable {
    var directory: CentralDirectory
    var version: ArchiveVersion
    var kept: KeptBytes?
    /// Whether no response of this load has confirmed yet that the directory is still valid.
    var needsValidation = false
    /// Whether the session's cache is bypassed.
    var reloads: Bool
}

/// Finds an archive's directory.
struct ArchiveOpener {
    let source: ArchiveSource
    let limits: ArchiveLimits

    /// In most archives these last bytes contain the directory; otherwise more are requested.
    private static let tailSize: Int64 = 32 * 1024
    /// The number of searches: the comment, and then the zip64 record, may be longer than the tail.
    private static let searches = 4

    func open(reloads: Bool) async throws -> OpenArchive {
        let tail: ArchiveSource.Part
        switch try await source.tail(Self.tailSize, reloads: reloads) {
        case .part(let part): tail = part
        case .whole(let whole): return try await open(whole)
        }
        let total = tail.version.total ?? tail.range.upperBound
        var kept = KeptBytes(start: tail.range.lowerBound, bytes: Data())
        for try await piece in tail.body {
            kept.bytes.append(piece)
            guard kept.bytes.count <= tail.range.count else { break }
        }
        guard kept.bytes.count == tail.range.count else {
            throw ArchiveError.truncated("its last bytes were not received completely")
        }
        let reader = ArchiveReader(source, tail.version, kept: nil, reloads: reloads, limits)
        let location = try await locate(&kept, total, reader)
        let directory = try await directory(location, kept, reader)
        return OpenArchive(
            directory: directory, version: tail.version, kept: kept, reloads: reloads)
    }

    private func locate(
        _ kept: inout KeptBytes, _ total: Int64, _ reader: ArchiveReader
    ) async throws -> EndOfCentralDirectory {
        var reader = reader
        for _ in 0..<Self.searches {
            switch try EndOfCentralDirectory.search(tail: [UInt8](kept.bytes), total: total) {
            case .found(let location): return location
            case .needsMore(let start):
                let front = try await reader.read(start..<kept.start)
                kept = KeptBytes(start: start, bytes: front + kept.bytes)
            }
        }
        throw ArchiveError.malformedDirectory("its end is too far from the archive's end")
    }

    private func directory(
        _ location: EndOfCentralDirectory, _ kept: KeptBytes, _ reader: ArchiveReader
    ) async throws -> CentralDirectory {
        let range = location.directory
        guard range.count <= limits.directory else {
            throw ArchiveError.directoryTooLarge(size: range.upperBound - range.lowerBound)
        }
        var bytes = Data()
        if range.lowerBound < kept.start {
            var reader = reader
            bytes = try await reader.read(range.lowerBound..<min(kept.start, range.upperBound))
        }
        let rest = max(range.lowerBound, min(kept.start, range.upperBound))..<range.upperBound
        bytes.append(kept[rest] ?? Data())
        return try CentralDirectory([UInt8](bytes), location)
    }

    /// Opens an archive that is received as a whole, in memory.
    func open(_ whole: ArchiveSource.Whole) async throws -> OpenArchive {
        if let size = whole.version.total, size > Int64(limits.wholeArchive) {
            throw ArchiveError.rangesNotSupported(size: size)
        }
        var bytes = Data()
        for try await piece in whole.body {
            bytes.append(piece)
            guard bytes.count <= limits.wholeArchive else { throw ArchiveError.rangesNotSupported(size: nil) }
        }
        let search = try EndOfCentralDirectory.search(tail: [UInt8](bytes), total: Int64(bytes.count))
        guard case .found(let location) = search else { throw ArchiveError.notAnArchive }
        let kept = KeptBytes(start: 0, bytes: bytes)
        let directory = try CentralDirectory([UInt8](kept[location.directory] ?? Data()), location)
        // The server may not have given the size, which a later load needs in order to ask whether the archive is unchanged.
        var version = whole.version
        version.total = version.total ?? Int64(bytes.count)
        return OpenArchive(
            directory: directory, version: version, kept: kept, reloads: false)
    }
}
