@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// A document that shows a directory's entries.
package protocol FTPListingDocument {
    func begin() -> [UInt8]
    mutating func row(for entry: FTPEntry) -> [UInt8]
    func end(unreadableLineCount: Int) -> [UInt8]
}

/// A directory as an HTML page like those of browsers: a title, a link to the parent directory, and a row for each
/// entry.
///
/// The page is produced in parts, so that listings of any length can be streamed: ``begin()``, ``row(for:)`` for each
/// entry, ``end(unreadableLineCount:)``. Its encoding is UTF-8.
///
/// Names come from the server and are made harmless. Text is escaped. Links are percent-encoded, and stay in the
/// directory. Control characters and characters that change the direction of text become visible. The page's
/// `Content-Security-Policy` allows no script, no form and no resource of other origins.
public struct FTPListingPage: Sendable, FTPListingDocument {
    private let path: [UInt8]
    private let prefix: [UInt8]

    /// A page of a directory.
    ///
    /// - Parameters:
    ///   - path: the directory's decoded path, with or without slashes at its ends: `/pub/a file/`.
    ///   - endsInSlash: whether the path of the page's URL ends in `/`. If it does not, links include the directory's
    ///     name.
    public init(path: [UInt8], endsInSlash: Bool = true) {
        let segments = path.split(separator: UInt8(ascii: "/"))
        let slash = [UInt8(ascii: "/")]
        self.path = segments.isEmpty ? slash : slash + Array(segments.joined(separator: slash)) + slash
        prefix =
            if !endsInSlash, let segment = segments.last.flatMap({ Self.segment(Array($0)) }) {
                Array("./".utf8) + segment + slash
            } else {
                Array("./".utf8)
            }
        hasParent = !segments.isEmpty
    }

    private let hasParent: Bool

    /// The text before the first row.
    public func begin() -> [UInt8] {
        let title = Array("Index of ".utf8) + Self.escaped(path)
        var page = Array(
            """
            <!DOCTYPE html>
            <html>
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
            <meta name="referrer" content="no-referrer">
            <meta name="viewport" content="width=device-width">
            <title>
            """.utf8)
        page += title + "</title>\n<style>\(Self.style)</style>\n</head>\n<body>\n<h1>".utf8
        page += title + "</h1>\n<table>\n<tr><th>Name<th>Size<th>Modified\n".utf8
        if hasParent { page += "<tr><td><a href=\"".utf8 + prefix + "../\">Parent directory</a><td><td>\n".utf8 }
        return page
    }

    /// One entry's row.
    public func row(for entry: FTPEntry) -> [UInt8] {
        let slash = entry.kind == .directory ? "/" : ""
        let name = Array("<bdi>".utf8) + Self.escaped(entry.name) + Array("\(slash)</bdi>".utf8)
        var row = Array("<tr><td>".utf8)
        if let segment = Self.segment(entry.name) {
            row += "<a href=\"".utf8 + prefix + segment + "\(slash)\">".utf8 + name + "</a>".utf8
        } else {
            row += name
        }
        if let target = entry.target { row += " → <bdi>".utf8 + Self.escaped(target) + "</bdi>".utf8 }
        let time = entry.modification.map { $0.description.map { $0 == "T" || $0 == "Z" ? " " : $0 } } ?? []
        row += "<td>\(entry.size.map(Self.rounded) ?? "")<td>\(String(time))\n".utf8
        return row
    }

    /// The text after the last row, with a note if the page does not show all lines that the server sent.
    ///
    /// - Parameter unreadableLineCount: the parser's ``FTPListingParser/unreadableLineCount`` at the end of the
    ///   listing.
    public func end(unreadableLineCount: Int) -> [UInt8] {
        let lines = unreadableLineCount == 1 ? "1 line" : "\(unreadableLineCount) lines"
        let note = "<p>This page may lack entries: \(lines) of the server's listing could not be read.</p>\n"
        return Array("</table>\n\(unreadableLineCount > 0 ? note : "")</body>\n</html>\n".utf8)
    }

    // MARK: Parts

    /// A name as one segment of a relative reference (RFC 3986 §4.2). All bytes but letters, digits, `-`, `.`, `_` and
    /// `~` are percent-encoded, so that a name cannot be a scheme, a host, a path of several segments, a query, a
    /// fragment or FTP's `;type=`. Nil for an empty name, and for `.` and `..`, which browsers interpret as steps of a
    /// path in any encoding.
    private static func segment(_ name: [UInt8]) -> [UInt8]? {
        if name.isEmpty || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return nil }
        return Array(PercentCoding.encoded(name).utf8)
    }

    static let style = "body{font-family:sans-serif}th,td{text-align:left;padding-right:2em;white-space:pre-wrap}"

    /// The policy, with the SHA-256 of the style, which is the page's only resource.
    private static let policy =
        "default-src 'none'; style-src 'sha256-fkTUUfImN2NyoWR8g+X7wOBOdODFi7gy6AvopR5cOXE='; base-uri 'none'; form-action 'none'"

    /// A size in units of 1,000: `531 B`, `1.4 kB`.
    static func rounded(_ bytes: UInt64) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var tenths = bytes / 100
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths /= 1000
        }
        return "\(tenths / 10).\(tenths % 10) EB"
    }

    /// Escapes text for HTML, in an element or in a quoted attribute. The result is always valid UTF-8.
    static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "&": result += "&amp;".utf8
            case "<": result += "&lt;".utf8
            case ">": result += "&gt;".utf8
            case "\"": result += "&quot;".utf8
            case "'": result += "&#39;".utf8
            case "\u{00}"..."\u{1F}": result += "&#x24\(String(0x100 + scalar.value, radix: 16).dropFirst());".utf8
            // DEL, C1, and characters that change the direction of text, which can make `exe.txt` look like `txt.exe`.
            case "\u{7F}"..."\u{9F}", "\u{061C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                result += "\u{FFFD}".utf8
            default: result += String(Character(scalar)).utf8
            }
        }
        return result
    }
}
