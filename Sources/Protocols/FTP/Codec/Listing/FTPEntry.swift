/// A file, directory or link in a directory of an FTP server, as a listing tells of it.
public struct FTPEntry: Sendable, Hashable {
    /// What an entry is.
    public enum Kind: String, Sendable {
        case file, directory, link
        /// A device, a pipe, or a thing that the listing does not call any of the others.
        case other
    }

    /// The name, as the server sent it: never empty, `.` or `..` in what ``FTPListingParser`` gives. UTF-8 where the server
    /// keeps to RFC 2640. It may have any byte but LF: also `/`, NUL and control characters, where the server is hostile.
    public var name: [UInt8]

    /// What it is.
    public var kind: Kind

    /// The number of bytes of a file. Nil for all else, and where the listing has only a rounded number, as blocks.
    public var size: UInt64?

    /// When it was last changed.
    public var modification: FTPTimestamp?

    /// Who may do what, as the server writes it: `rw-r--r--` of `ls`, the digits of MLSD's `UNIX.mode`.
    public var permissions: String?

    /// What a link points at, where the listing tells.
    public var target: [UInt8]?

    /// All that MLSD tells of the entry: values by the facts' names in small letters. Of a fact that is there twice, the first.
    /// Empty for other listings.
    public var facts: [String: String]

    /// An entry.
    public init(
        name: [UInt8], kind: Kind, size: UInt64? = nil, modification: FTPTimestamp? = nil, permissions: String? = nil,
        target: [UInt8]? = nil, facts: [String: String] = [:]
    ) {
        self.name = name
        self.kind = kind
        self.size = size
        self.modification = modification
        self.permissions = permissions
        self.target = target
        self.facts = facts
    }

    /// The name as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: name, as: UTF8.self) }
}
