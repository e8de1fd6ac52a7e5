import LoadingKitPrimitives

/// Parses the listing that a server sends on the data connection for MLSD or LIST.
///
/// MLSD has a syntax (RFC 3659 §7). LIST has none (RFC 959 §4.1.3): servers write it for humans. The parser accepts the
/// lines of `ls -l` in its variants, with English month names, and the lines of MS-DOS and IIS. The line `total 12` is
/// not an entry. ``unreadableLineCount`` counts the lines in other formats. The directory itself and its parent (`.`,
/// `..`, MLSD's `cdir` and `pdir`) are not entries.
public struct FTPListingParser: Sendable {
    /// The command whose listing is parsed.
    public enum Format: Sendable, Hashable {
        case mlsd
        /// - Parameter now: seconds since the beginning of 1970. `ls` omits the year of recent dates. The parser
        ///   chooses the latest year for which the date is at most one day after `now`, because the server's time zone
        ///   is not known.
        case list(now: Int64)
    }

    /// The result of parsing one line of a listing.
    enum Line: Equatable {
        case entry(FTPEntry)
        /// A valid line that is not an entry.
        case remark
        case unreadable
    }

    /// The command whose listing is parsed.
    public let format: Format

    /// The number of lines that were neither an entry nor a known remark. If all lines of a listing are such lines, its
    /// format is not known.
    public private(set) var unreadableLineCount = 0

    private let limits: FTPLimits
    private var line: [UInt8] = []
    private var failure: FTPError?

    /// A parser for one listing.
    public init(format: Format, limits: FTPLimits = FTPLimits()) {
        self.format = format
        self.limits = limits
    }

    /// Parses the next bytes, of any number, and returns the entries that they complete.
    ///
    /// - Throws: ``FTPError/lineTooLong(limit:)``, after the entries before the error were returned, and again from
    ///   each further call.
    public mutating func receive(_ bytes: some Sequence<UInt8>) throws(FTPError) -> [FTPEntry] {
        var entries: [FTPEntry] = []
        if failure == nil {
            for byte in bytes {
                if byte == ASCII.lineFeed {
                    endLine(&entries)
                } else if hasRoom(for: byte) {
                    line.append(byte)
                } else {
                    failure = .lineTooLong(limit: limits.listingLineLength)
                    break
                }
            }
        }
        if let failure, entries.isEmpty { throw failure }
        return entries
    }

    /// Ends the listing, whose last line may lack a line end, and returns the remaining entries.
    ///
    /// - Throws: the error that ``receive(_:)`` has not thrown yet because it returned entries.
    public mutating func finish() throws(FTPError) -> [FTPEntry] {
        if let failure { throw failure }
        var entries: [FTPEntry] = []
        if !line.isEmpty { endLine(&entries) }
        return entries
    }

    /// Whether the line may have one more byte. The limit does not include the CR of the line end.
    private func hasRoom(for byte: UInt8) -> Bool {
        line.count < limits.listingLineLength || line.count == limits.listingLineLength && byte == ASCII.carriageReturn
    }

    private mutating func endLine(_ entries: inout [FTPEntry]) {
        if line.last == ASCII.carriageReturn { line.removeLast() }
        switch read(ListingLine(line)) {
        case .entry(let entry):
            if !Self.isOfDirectoryItself(entry.name) { entries.append(entry) }
        case .remark: break
        case .unreadable: unreadableLineCount += 1
        }
        line.removeAll(keepingCapacity: true)
    }

    private static func isOfDirectoryItself(_ name: [UInt8]) -> Bool {
        name.isEmpty || name == [UInt8(ascii: ".")] || name == [UInt8(ascii: "."), UInt8(ascii: ".")]
    }

    private func read(_ line: ListingLine) -> Line {
        if line.words.isEmpty { return .remark }
        switch format {
        case .mlsd: return MLSDLine.read(line)
        case .list(let now):
            if let entry = UnixLine.read(line, now: now) ?? DOSLine.read(line) { return .entry(entry) }
            // The first line of `ls` is the number of blocks: `total 12`.
            return line.text(0).lowercased() == "total" ? .remark : .unreadable
        }
    }
}
