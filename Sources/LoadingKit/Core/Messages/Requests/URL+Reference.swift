import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

extension URL {
    /// The URL that a reference names, as servers and users write it: in `Location`, `Content-Location`, `Link`, or on
    /// a command line (RFC 3986 §5.2).
    ///
    /// The reference's own escapes are kept, and each byte that is not allowed in its place is escaped. `URL(string:)`
    /// does not do this: where one byte of a component is not allowed, it escapes the whole component, and escapes
    /// existing escapes again.
    ///
    /// Nil where the result is not a URL.
    package init?(reference: some Sequence<UInt8>, relativeTo base: URL? = nil) {
        self.init(URLParts(Array(reference)[...]), relativeTo: base.map { URLParts($0) })
    }

    fileprivate init?(_ reference: URLParts, relativeTo base: URLParts?) {
        let resolved = base.map { reference.resolved(against: $0) } ?? reference
        // Foundation, which implements IDNA, handles a host name that is not ASCII.
        self.init(string: resolved.removingDotSegments().text)
    }
}

/// The five components of a URL or a relative reference, as bytes (RFC 3986 §3, appendix B).
private struct URLParts {
    typealias Bytes = ArraySlice<UInt8>

    private var scheme: Bytes?
    private var authority: Bytes?
    private var path: Bytes
    private var query: Bytes?
    private var fragment: Bytes?

    init(_ reference: Bytes) {
        var rest = reference
        fragment = Self.takeEnd(&rest, behind: UInt8(ascii: "#"))
        query = Self.takeEnd(&rest, behind: UInt8(ascii: "?"))
        scheme = Self.takeScheme(&rest)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: Self.slash) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    init(_ url: URL) { self.init(Array(url.absoluteString.utf8)[...]) }

    private static let slash = UInt8(ascii: "/")

    private static func takeEnd(_ rest: inout Bytes, behind delimiter: UInt8) -> Bytes? {
        guard let index = rest.firstIndex(of: delimiter) else { return nil }
        defer { rest = rest[..<index] }
        return rest[(index + 1)...]
    }

    private static func takeScheme(_ rest: inout Bytes) -> Bytes? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), let first = rest[..<colon].first,
            ASCII.isLetter(first), rest[..<colon].allSatisfy({ ASCII.isLetterOrDigit($0) || "+-.".utf8.contains($0) })
        else { return nil }
        defer { rest = rest[(colon + 1)...] }
        return rest[..<colon]
    }

    /// Resolves the reference (RFC 3986 §5.2.2), without the removal of dot segments.
    func resolved(against base: URLParts) -> URLParts {
        if scheme != nil { return self }
        var result = self
        result.scheme = base.scheme
        if authority != nil { return result }
        result.authority = base.authority
        if path.isEmpty {
            result.path = base.path
            result.query = query ?? base.query
        } else if path.first != Self.slash {
            result.path = base.merged(with: path)
        }
        return result
    }

    /// Merges a relative path with this URL's (RFC 3986 §5.2.3).
    private func merged(with relative: Bytes) -> Bytes {
        if authority != nil, path.isEmpty { return [Self.slash] + relative }
        guard let last = path.lastIndex(of: Self.slash) else { return relative }
        return path[...last] + relative
    }

    /// Removes dot segments (RFC 3986 §5.2.4) from a path that has segments; a `data:` URL has none.
    func removingDotSegments() -> URLParts {
        guard path.first == Self.slash else { return self }
        let segments = path.dropFirst().split(separator: Self.slash, omittingEmptySubsequences: false)
        var kept: [Bytes] = []
        for (index, segment) in segments.enumerated() {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent { _ = kept.popLast() }
            if index == segments.count - 1 { kept.append([]) }
        }
        var result = self
        result.path = [Self.slash] + kept.joined(separator: [Self.slash])
        return result
    }

    /// The URL's text (RFC 3986 §5.3).
    var text: String {
        var text = scheme.map { String(decoding: $0, as: UTF8.self) + ":" } ?? ""
        if let authority { text += "//" + Self.escaped(authority: authority) }
        text += Self.escaped(path, but: "/:@")
        if let query { text += "?" + Self.escaped(query, but: "/:@?") }
        if let fragment { text += "#" + Self.escaped(fragment, but: "/:@?") }
        return text
    }

    private static func escaped(authority: Bytes) -> String {
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        let host = authority[(at.map { $0 + 1 } ?? authority.startIndex)...]
        let user = at.map { escaped(authority[..<$0], but: ":") + "@" } ?? ""
        return user + (String(validating: host, as: UTF8.self) ?? escaped(host, but: ":[]"))
    }

    /// - Parameter others: the delimiters that are allowed here, in addition to the characters of every component
    ///   (RFC 3986 §3.3).
    private static func escaped(_ bytes: Bytes, but others: String) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            let isKept =
                byte == UInt8(ascii: "%")
                ? isEscape(bytes[index...])
                : ASCII.isLetterOrDigit(byte) || "-._~!$&'()*+,;=".utf8.contains(byte) || others.utf8.contains(byte)
            if isKept { text.append(byte) } else { text += PercentCoding.encoded([byte], keeping: "").utf8 }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isEscape(_ bytes: Bytes) -> Bool {
        let digits = bytes.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy(ASCII.isHexDigit)
    }
}

extension HTTPFields {
    /// The largest number of a field's values that are read as URLs. Each may become as long as the URL of the message.
    package static let maximumURLs = 16

    /// The URLs in the values of the field, resolved against the URL of their message. Values after the first
    /// ``maximumURLs`` are ignored.
    package func urls(of field: KnownField, relativeTo base: URL) -> [URL] {
        urls(of: field, relativeTo: base, atMost: Self.maximumURLs)
    }

    /// The first of ``urls(of:relativeTo:)``; later values are not read.
    package func firstURL(of field: KnownField, relativeTo base: URL) -> URL? {
        urls(of: field, relativeTo: base, atMost: 1).first
    }

    private func urls(of field: KnownField, relativeTo base: URL, atMost count: Int) -> [URL] {
        guard contains(field) else { return [] }
        let base = URLParts(base)
        var urls: [URL] = []
        var valuesRead = 0
        forEachValue(of: field) { value in
            guard valuesRead < Self.maximumURLs, urls.count < count else { return }
            valuesRead += 1
            if let url = URL(URLParts(Array(value)[...]), relativeTo: base) { urls.append(url) }
        }
        return urls
    }
}

extension HTTPURLResponse {
    /// The URL to which `Location` redirects, as a session reads it; nil where there is none.
    @_spi(LoadingKitPlugins)
    public var redirectURL: URL? {
        // An empty field is ignored.
        guard let url, let text = fields[.location], !text.isEmpty else { return nil }
        return fields.firstURL(of: .location, relativeTo: url)
    }
}
