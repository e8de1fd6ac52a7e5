import LoadingKitFTP

/// The results of parsing a listing, readable in a failed test's output.
struct ReadListing: Equatable, CustomStringConvertible {
    var entries: [String]
    var unreadable = 0
    var error: FTPError?

    var description: String {
        entries.joined(separator: "\n") + "\n(\(unreadable) unreadable, \(error.map { "\($0)" } ?? "no error"))"
    }

    /// 15 February 2026, 12:00.
    static let now: Int64 = 1_771_156_800

    /// Reads pieces, one after the other.
    init(_ pieces: [[UInt8]], as format: FTPListingParser.Format, limits: FTPLimits = .init()) {
        var parser = FTPListingParser(format: format, limits: limits)
        var entries: [FTPEntry] = []
        do throws(FTPError) {
            for piece in pieces { entries += try parser.receive(piece) }
            entries += try parser.finish()
        } catch {
            self.error = error
        }
        self.entries = entries.map(Self.text)
        unreadable = parser.unreadableLineCount
    }

    init(_ entries: [String], unreadable: Int = 0) {
        self.entries = entries
        self.unreadable = unreadable
    }

    /// Reads the listing whole, byte by byte, and cut in two at every place; nil when the cuts make a difference.
    static func anyhow(
        _ listing: [UInt8], as format: FTPListingParser.Format, limits: FTPLimits = .init()
    ) -> ReadListing? {
        let whole = ReadListing([listing], as: format, limits: limits)
        var cuts = [listing.map { [$0] }]
        for offset in 0...min(listing.count, 400) {
            cuts.append([Array(listing[..<offset]), Array(listing[offset...])])
        }
        return cuts.allSatisfy { ReadListing($0, as: format, limits: limits) == whole } ? whole : nil
    }

    /// `file <name> 531 2026-01-31T23:05 rw-r--r-- -> target`
    private static func text(_ entry: FTPEntry) -> String {
        var parts = ["\(entry.kind.rawValue) <\(entry.text)>"]
        if let size = entry.size { parts.append("\(size)") }
        if let time = entry.modification { parts.append(time.description) }
        if let permissions = entry.permissions { parts.append(permissions) }
        if let target = entry.target { parts.append("-> \(String(decoding: target, as: UTF8.self))") }
        return parts.joined(separator: " ")
    }
}
