import Foundation

/// A URL's text in the form in which URLs are compared (RFC 3986 §6.2): scheme and host in lower case, without the
/// scheme's default port, without a fragment, and with `/` for an empty path.
struct URLText: Equatable {
    private(set) var scheme = ""
    /// Host and port, preceded by `user:password@` where the URL has it.
    private(set) var authority = ""
    /// Unchanged, with its percent escapes.
    private(set) var path: String
    /// Unchanged, without the question mark; nil without a query.
    private(set) var query: String?

    init(_ url: URL) { self.init(url.absoluteString) }

    init(_ text: String) {
        var rest = text.prefix { $0 != "#" }
        if let question = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: question)...])
            rest = rest[..<question]
        }
        if let mark = rest.range(of: "://") {
            scheme = rest[..<mark.lowerBound].lowercased()
            rest = rest[mark.upperBound...]
            authority = String(rest.prefix { $0 != "/" })
            rest = rest.dropFirst(authority.count)
            authority = Self.normalized(authority, scheme)
        }
        path = rest.isEmpty && !authority.isEmpty ? "/" : String(rest)
    }

    private static func normalized(_ authority: String, _ scheme: String) -> String {
        let at = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        // The name of a pattern's parameter keeps its case.
        var isName = false
        var host = authority[at...].map { character in
            if character == "{" || character == "}" { isName = character == "{" }
            return isName ? String(character) : character.lowercased()
        }.joined()
        let port = ["http": ":80", "https": ":443"][scheme] ?? ":"
        if host.hasSuffix(port) { host.removeLast(port.count) }
        if host.hasSuffix(":") { host.removeLast() }
        return authority[..<at] + host
    }

    /// The authority without the port.
    var host: String {
        let host = authority.split(separator: "@").last.map(String.init) ?? ""
        guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return host }
        return String(host[..<colon])
    }

    var withoutQuery: String { (scheme.isEmpty ? "" : "\(scheme)://\(authority)") + path }

    var text: String { withoutQuery + (query.map { "?\($0)" } ?? "") }
}
