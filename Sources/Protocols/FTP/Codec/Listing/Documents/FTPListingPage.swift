import LoadingKitPrimitives

/// What a directory is shown as.
package protocol FTPListingDocument {
    func begin() -> [UInt8]
    mutating func row(for entry: FTPEntry) -> [UInt8]
    func end(unreadableLineCount: Int) -> [UInt8]
}

/// A directory as an HTML page, like browsers show it: a title, a link to the directory above, and a row for each entry.
///
/// It is made in pieces, so that a listing of any length can be passed on as it comes: ``begin()``, ``row(for:)`` for each entry,
/// ``end(unreadableLineCount:)``. It is UTF-8. Names come from the server, and are harmless: they are escaped as text and encoded in links, which stay
/// in the directory; control characters and those that turn the direction of text become visible; and the page's
/// `Content-Security-Policy` allows no script, no form and nothing from elsewhere.
public struct FTPListingPage: Sendable, FTPListingDocument {
    private let path: [UInt8]
    private let prefix: [UInt8]

    /// A page of a directory.
    ///
    /// - Parameters:
    ///   - path: the directory's, decoded: `/pub/a file/`. With or without slashes at the ends.
    ///   - endsInSlash: whether the path of the URL under which the page is shown ends in `/`. Where it does not, links name the
    ///     directory, too.
    public init(path: [UInt8], endsInSlash: Bool = true) {
        let segments = path.split(separator: UInt8(ascii: "/"))
        let slash = [UInt8(ascii: "/")]
        self.path = segments.isEmpty ? slash : slash + Array(segments.joined(separator: slash)) + slash
        prefix =
            if !endsInSlash, let segment = segments.last.flatMap({ FTPListingLink.segment(Array($0)) }) {
                Array("./".utf8) + segment + slash
            } else {
                Array("./".utf8)
            }
        hasParent = !segments.isEmpty
    }

    private let hasParent: Bool

    /// What is before the first row.
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
        if let segment = FTPListingLink.segment(entry.name) {
            row += "<a href=\"".utf8 + prefix + segment + "\(slash)\">".utf8 + name + "</a>".utf8
        } else {
            row += name
        }
        if let target = entry.target { row += " → <bdi>".utf8 + Self.escaped(target) + "</bdi>".utf8 }
        let time = entry.modification.map { $0.description.map { $0 == "T" || $0 == "Z" ? " " : $0 } } ?? []
        row += "<td>\(entry.size.map(Self.rounded) ?? "")<td>\(String(time))\n".utf8
        return row
    }

    /// What is after the last row: a note, where the page does not show all that the server sent.
    ///
    /// - Parameter unreadableLineCount: that of the parser (``FTPListingParser/unreadableLineCount``), at the end.
    public func end(unreadableLineCount: Int) -> [UInt8] {
        let lines = unreadableLineCount == 1 ? "1 line" : "\(unreadableLineCount) lines"
        let note = "<p>This page may lack entries: \(lines) of the server's listing could not be read.</p>\n"
        return Array("</table>\n\(unreadableLineCount > 0 ? note : "")</body>\n</html>\n".utf8)
    }

    // MARK: Parts

    static let style = "body{font-family:sans-serif}th,td{text-align:left;padding-right:2em;white-space:pre-wrap}"

    /// With the SHA-256 of the style, which is all that the page has of its own.
    private static let policy =
        "default-src 'none'; style-src 'sha256-fkTUUfImN2NyoWR8g+X7wOBOdODFi7gy6AvopR5cOXE='; base-uri 'none'; form-action 'none'"

    /// `531 B`, `1.4 kB`: with units of 1,000.
    static func rounded(_ bytes: UInt64) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var tenths = bytes / 100
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths /= 1000
        }
        return "\(tenths / 10).\(tenths % 10) EB"
    }

    /// Text for HTML, in an element or in a quoted attribute. Always UTF-8.
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
            // DEL and C1; what turns the direction of text, with which `exe.txt` can be shown for `txt.exe`.
            case "\u{7F}"..."\u{9F}", "\u{061C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}",
                "\u{2066}"..."\u{2069}":
                result += "\u{FFFD}".utf8
            default: result += String(Character(scalar)).utf8
            }
        }
        return result
    }
}
