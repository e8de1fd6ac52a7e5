import LoadingKitPrimitives

/// Reads what a server sends on the data connection for MLSD or LIST.
///
/// MLSD has a syntax (RFC 3659 §7). LIST has none (RFC 959 §4.1.3): each server writes for people. Read are the lines of
/// `ls -l` in its variants, with English month names, and of MS-DOS and IIS. `total 12` is no entry; ``unreadableLineCount`` tells
/// of lines in other forms. The directory itself and the one above it (`.`, `..`, MLSD's `cdir` and `pdir`) are no entries.
public struct FTPListingParser: Sendable {
    /// Which command's answer is read.
    public enum Format: Sendable, Hashable {
        case mlsd
        /// - Parameter now: seconds since the beginning of 1970. `ls` leaves the year out of recent dates: it is the one that
        ///   makes them the latest that is no more than a day ahead, as the server's time zone is not known.
        case list(now: Int64)
    }

    /// What a line of a listing is.
    enum Line: Equatable {
        case entry(FTPEntry)
        /// It belongs to the listing, and is no entry.
        case remark
        case unreadable
    }

    /// Which command's answer is read.
    public let format: Format

    /// How many lines were neither an entry nor a known remark. A listing of such lines alone is in a format that is not known.
    public private(set) var unreadableLineCount = 0

    private let limits: FTPListingLimits
    private var line: [UInt8] = []
    private var failure: FTPListingError?

    /// A parser for one listing.
    public init(format: Format, limits: FTPListingLimits = .init()) {
        self.format = format
        self.limits = limits
    }

    /// Takes the next bytes, of any number, and gives the entries that they complete.
    ///
    /// - Throws: ``FTPListingError``, when the entries before it have been given; again at each further call.
    public mutating func receive(_ bytes: some Sequence<UInt8>) throws(FTPListingError) -> [FTPEntry] {
        var entries: [FTPEntry] = []
        if failure == nil {
            for byte in bytes {
                if byte == ASCII.lineFeed {
                    endLine(&entries)
                } else if hasRoom(for: byte) {
                    line.append(byte)
                } else {
                    failure = .lineTooLong(limit: limits.lineLength)
                    break
                }
            }
        }
        if let failure, entries.isEmpty { throw failure }
        return entries
    }

    /// The listing has ended, with or without an end of its last line.
    ///
    /// - Throws: the error that ``receive(_:)`` had to hold back.
    public mutating func finish() throws(FTPListingError) -> [FTPEntry] {
        if let failure { throw failure }
        var entries: [FTPEntry] = []
        if !line.isEmpty { endLine(&entries) }
        return entries
    }

    /// The CR of the line's end does not count.
    private func hasRoom(for byte: UInt8) -> Bool {
        line.count < limits.lineLength || line.count == limits.lineLength && byte == ASCII.carriageReturn
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
            // `ls` begins with the number of blocks: `total 12`.
            return line.text(0).lowercased() == "total" ? .remark : .unreadable
        }
    }
}
