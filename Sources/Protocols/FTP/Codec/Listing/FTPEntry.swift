/// A file, directory or link in a directory of an FTP server, as a listing describes it.
public struct FTPEntry: Sendable, Hashable {
    /// The kind of an entry.
    public enum Kind: String, Sendable {
        case file, directory, link
        /// A device, a pipe, or an entry that the listing does not describe as any of the other kinds.
        case other
    }

    /// The name, as the server sent it. ``FTPListingParser`` never returns an empty name, `.` or `..`. The name is
    /// UTF-8 if the server follows RFC 2640. It may contain any byte but LF: a hostile server may also send `/`, NUL
    /// and control characters.
    public var name: [UInt8]

    /// The entry's kind.
    public var kind: Kind

    /// The size of a file in bytes. Nil for other kinds, and if the listing has only a rounded number, such as blocks.
    public var size: UInt64?

    /// The time of the last modification.
    public var modification: FTPTimestamp?

    /// The permissions, as the server writes them: `rw-r--r--` of `ls`, the digits of MLSD's `UNIX.mode`.
    public var permissions: String?

    /// A link's target, if the listing contains it.
    public var target: [UInt8]?

    /// All facts that MLSD reports about the entry: values by the facts' lowercase names. If a fact occurs twice, the
    /// first value. Empty for other listings.
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
