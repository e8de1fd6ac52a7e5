import LoadingKitPrimitives

/// The file or folder that the path of an `ftp` URL names (RFC 1738 §3.2.2).
///
///     ftp://host/a/b.txt;type=a     b.txt in the folder a of the user's own folder, as text
///     ftp://host/%2Fetc/motd        /etc/motd
///     ftp://host/a/                 the folder a
public struct FTPPath: Sendable, Hashable {
    /// The representation in which a file's bytes are sent.
    public enum Form: UInt8, Sendable {
        /// Text: lines end with CR LF during the transfer (`TYPE A`).
        case text = 0x41
        /// The file's bytes without a conversion (`TYPE I`).
        case image = 0x49
    }

    /// The path's segments, in octets. A folder's path has no empty segment at its end. The first segment of an
    /// absolute path begins with a slash.
    public let segments: [[UInt8]]
    /// Whether the URL names a folder: its path ends with a slash, or has `;type=d`.
    public let isDirectory: Bool
    /// The form that the URL specifies; nil if it specifies none.
    public let form: Form?

    /// - Parameter urlPath: the URL's percent-encoded path, with its `;type=` if the URL has one.
    public init(_ urlPath: String) throws(FTPError) {
        var text = Substring(urlPath)
        var form: Form?
        var isDirectory = false
        if let (rest, type) = Self.type(of: text) {
            text = rest
            switch type.lowercased() {
            case "a": form = .text
            case "i": form = .image
            case "d": isDirectory = true
            case _: throw .invalidType(String(type.prefix(20)))
            }
        }
        // The slash after the host is not part of the path.
        if text.first == "/" { text.removeFirst() }
        var segments: [[UInt8]] = []
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let name = try Self.decoded(part)
            if !name.isEmpty {
                segments.append(name)
            } else if index == 0, parts.count > 1 {
                // Most clients interpret two slashes after the host as the root folder.
                segments.append([UInt8(ascii: "/")])
            }
        }
        self.segments = Self.joiningRoot(segments)
        self.isDirectory = isDirectory || text.isEmpty || text.hasSuffix("/")
        self.form = form
    }

    /// The path as one argument; empty for the user's home folder.
    public var whole: [UInt8] { Self.joined(segments) }

    /// Joins segments to one path.
    static func joined(_ segments: some Sequence<[UInt8]>) -> [UInt8] {
        var path: [UInt8] = []
        for segment in segments {
            if let last = path.last, last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
            path += segment
        }
        return path
    }

    /// Joins a first segment that is only the root to the next segment, which saves a `CWD` command.
    private static func joiningRoot(_ segments: [[UInt8]]) -> [[UInt8]] {
        guard segments.count > 1, segments[0] == [UInt8(ascii: "/")] else { return segments }
        let second = segments[1].first == UInt8(ascii: "/") ? segments[1] : segments[0] + segments[1]
        return [second] + segments[2...]
    }

    private static func type(of path: Substring) -> (rest: Substring, type: Substring)? {
        guard let semicolon = path.lastIndex(of: ";") else { return nil }
        let parameter = path[path.index(after: semicolon)...]
        guard parameter.lowercased().hasPrefix("type=") else { return nil }
        return (path[..<semicolon], parameter.dropFirst(5))
    }

    private static func decoded(_ text: Substring.UTF8View.SubSequence) throws(FTPError) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            var octet = byte
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(ASCII.hexDigit),
                    let low = rest.popFirst().flatMap(ASCII.hexDigit)
                else { throw .invalidPath }
                octet = high << 4 | low
            }
            guard octet != 0, octet != ASCII.lineFeed, octet != ASCII.carriageReturn else { throw .invalidPath }
            bytes.append(octet)
        }
        return bytes
    }
}
