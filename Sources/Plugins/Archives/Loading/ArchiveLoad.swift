import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// One load of a member or a listing.
struct ArchiveLoad {
    let load: LoadContext
    let task: MemberTask
    let source: ArchiveSource
    /// Whether the response was delivered: from then on the load cannot restart.
    private var hasAnswered = false

    init(load: LoadContext, state: ArchiveState) throws {
        self.load = load
        task = try MemberTask(load.request, state)
        source = ArchiveSource(next: load.next, request: RangeRequest.base(load.request, task.target.archive))
    }

    /// Loads the member or listing; once more, with a new directory, where the archive has changed.
    mutating func run() async throws {
        var reason: Restart?
        while true {
            do {
                return try await run(after: reason)
            } catch let restart as Restart {
                if case .redirected(let loaded, let next) = restart { return try await redirect(loaded, to: next) }
                guard !hasAnswered, reason == nil else { throw ArchiveError.archiveChanged }
                task.state.cache.remove(task.key)
                reason = restart
            }
        }
    }

    /// The session passes the redirect to the delegate, and starts another load, again of a `zip:` URL.
    private func redirect(_ loaded: LoadedResponse, to next: URLRequest) async throws {
        guard !hasAnswered, let response = loaded.response as? HTTPURLResponse else {
            throw ArchiveError.archiveChanged
        }
        try await load.receive(
            loaded, as: response.replacingURL(by: load.url), redirectingTo: try task.request(redirectedTo: next))
    }

    private mutating func run(after restart: Restart?) async throws {
        let archive = try await open(after: restart)
        let name = task.target.memberBytes
        if name.isEmpty || name.last == UInt8(ascii: "/") {
            try await list(archive)
        } else if let member = archive.directory.member(named: name) {
            try await deliver(member, of: archive)
        } else {
            try await validate(archive)
            throw ArchiveError.memberNotFound(task.target.member)
        }
    }

    private func open(after restart: Restart?) async throws -> OpenArchive {
        let opener = ArchiveOpener(source: source, limits: task.state.limits)
        if case .whole(let whole)? = restart { return try await opener.open(whole) }
        if restart == nil, let entry = task.state.cache.entry(for: task.key) {
            return OpenArchive(
                directory: entry.directory, version: entry.version, needsValidation: true, reloads: false)
        }
        let archive = try await opener.open(reloads: restart != nil)
        task.state.cache.store(
            DirectoryCache.Entry(directory: archive.directory, version: archive.version), for: task.key)
        return archive
    }

    private func reader(of archive: OpenArchive) -> ArchiveReader {
        ArchiveReader(source, archive.version, kept: archive.kept, reloads: archive.reloads, task.state.limits)
    }

    /// Validates a cached directory before it alone determines the response: requests the archive's last byte. The
    /// response shows whether the archive is unchanged, and whether this request may have it.
    private func validate(_ archive: OpenArchive) async throws {
        guard archive.needsValidation, let total = archive.version.total, total > 0 else { return }
        var reader = reader(of: archive)
        _ = try await reader.read(total - 1..<total)
    }

    private mutating func answer(_ response: HTTPURLResponse) async throws {
        hasAnswered = true
        try await load.receive(response)
    }

    /// Programs expect `Data` whose indices start at 0, which is not the case for a slice.
    private func receive(_ piece: Data) async throws {
        try await load.receive(piece.startIndex == 0 ? piece : Data(piece))
    }

    // MARK: The directory

    private mutating func list(_ archive: OpenArchive) async throws {
        let directory = archive.directory
        try await validate(archive)
        guard directory.hasMembers(below: task.target.member) else {
            throw ArchiveError.memberNotFound(task.target.member)
        }
        let tag = MemberResponse.entityTag(of: directory)
        let isModified = task.request.answer(size: 0, entityTag: tag, lastModified: nil) != .notModified
        try await answer(MemberResponse(url: load.url).listing(entityTag: tag, isModified: isModified))
        guard isModified, !task.request.isHead else { return }
        var writer = ListingWriter(directory, prefix: task.target.member, archive: task.target.archive)
        while let piece = writer.next() { try await load.receive(piece) }
    }

    // MARK: A member

    private mutating func deliver(_ member: CentralDirectory.Member, of archive: OpenArchive) async throws {
        let entry = member.entry
        let tag = MemberResponse.entityTag(of: entry, in: archive.directory)
        let lastModified = entry.modified.map { HTTPDate.string($0.timeIntervalSince1970) }
        let wanted = task.request.answer(size: entry.size, entityTag: tag, lastModified: lastModified)
        var part: Range<Int64>?
        if case .part(let range) = wanted { part = range }
        let plan: MemberPlan
        do {
            plan = try MemberPlan(member, part: part)
        } catch {
            try await validate(archive)
            throw error
        }
        let response = MemberResponse(url: load.url).member(
            entry, wanted, entityTag: tag, lastModified: lastModified)
        switch wanted {
        case .whole where !task.request.isHead, .part: try await deliver(plan, entry, response, of: archive)
        case .whole, .notModified, .unsatisfiable:
            try await validate(archive)
            try await answer(response)
        }
    }

    private mutating func deliver(
        _ plan: MemberPlan, _ entry: DirectoryEntry, _ response: HTTPURLResponse, of archive: OpenArchive
    ) async throws {
        var reader = reader(of: archive)
        try await reader.open(plan.first)
        let header = try await readHeader(of: entry, &reader, before: archive.directory.location.directory.lowerBound)
        try header.check(against: entry)
        let data = try plan.data(behind: header)
        try await reader.skip(to: data.lowerBound)
        try await reader.prepare(upTo: data.upperBound)
        try await answer(response)
        if plan.isStoredPart {
            while reader.position < data.upperBound {
                try await receive(try await reader.next(upTo: data.upperBound))
            }
        } else {
            try await decode(plan, entry, data, &reader)
        }
        await reader.finish()
    }

    /// Reads until the header is complete, and returns to its end.
    private func readHeader(
        of entry: DirectoryEntry, _ reader: inout ArchiveReader, before limit: Int64
    ) async throws -> LocalHeader {
        var bytes = Data()
        while true {
            guard reader.position < limit else { throw ArchiveError.overlapping(entry.name) }
            // 1,024 bytes where the first range was too short: a name of another length, which is refused then.
            bytes.append(try await reader.next(upTo: min(limit, reader.position + 1024)))
            guard let header = try LocalHeader([UInt8](bytes), of: entry) else { continue }
            reader.unread(bytes)
            try await reader.skip(to: reader.position + Int64(header.size))
            return header
        }
    }

    /// The bytes before the requested part are decoded and dropped: deflate cannot start in the middle.
    private func decode(
        _ plan: MemberPlan, _ entry: DirectoryEntry, _ data: Range<Int64>, _ reader: inout ArchiveReader
    ) async throws {
        var decoder = try MemberDecoder(entry, maximumRatio: load.maximumDecompressionRatio)
        var skipped = plan.part.lowerBound
        var left = plan.part.upperBound - plan.part.lowerBound
        let needsAll = plan.part.upperBound == entry.size
        while reader.position < data.upperBound {
            decoder.receive(try await reader.next(upTo: data.upperBound))
            while let piece = try decoder.next() {
                let dropped = min(skipped, Int64(piece.count))
                skipped -= dropped
                let wanted = piece.dropFirst(Int(dropped)).prefix(Int(clamping: left))
                left -= Int64(wanted.count)
                if !wanted.isEmpty { try await receive(wanted) }
                if left == 0, !needsAll { return }
            }
        }
        try decoder.finish()
    }
}
