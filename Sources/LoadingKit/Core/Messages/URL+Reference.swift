import Foundation
import LoadingKitPrimitives

extension URL {
    /// The URL that a reference names, as servers and people write it: in `Location`, `Content-Location`, `Link`, or on a
    /// command line (RFC 3986 §5.2).
    ///
    /// The escapes that it has are kept, and every byte that may not stand where it does is escaped as it came. `URL(string:)`
    /// escapes the whole of a component in which one byte is wrong, and so escapes twice what was escaped.
    ///
    /// Nil where no URL comes of it.
    package init?(reference: some Sequence<UInt8>, relativeTo base: URL? = nil) {
        let parts = URLParts(Array(reference)[...])
        let resolved = base.map { parts.resolved(against: URLParts(Array($0.absoluteString.utf8)[...])) } ?? parts
        // A host's name that is not ASCII is left to Foundation, which knows the rules of IDNA.
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

    private static let slash = UInt8(ascii: "/")

    private static func takeEnd(_ rest: inout Bytes, behind delimiter: UInt8) -> Bytes? {
        guard let index = rest.firstIndex(of: delimiter) else { return nil }
        defer { rest = rest[..<index] }
        return rest[(index + 1)...]
    }

    private static func takeScheme(_ rest: inout Bytes) -> Bytes? {
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), let first = rest[..<colon].first,
            isLetter(first), rest[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
        else { return nil }
        defer { rest = rest[(colon + 1)...] }
        return rest[..<colon]
    }

    /// RFC 3986 §5.2.2, but for the dot segments.
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

    /// RFC 3986 §5.2.3.
    private func merged(with relative: Bytes) -> Bytes {
        if authority != nil, path.isEmpty { return [Self.slash] + relative }
        guard let last = path.lastIndex(of: Self.slash) else { return relative }
        return path[...last] + relative
    }

    /// RFC 3986 §5.2.4, where segments there are: the content of `data:` has none.
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

    /// RFC 3986 §5.3.
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

    /// - Parameter others: the delimiters that may stand there besides what may stand in each component (RFC 3986 §3.3).
    private static func escaped(_ bytes: Bytes, but others: String) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            let isKept =
                byte == UInt8(ascii: "%")
                ? isEscape(bytes[index...])
                : isLetter(byte) || isDigit(byte) || "-._~!$&'()*+,;=".utf8.contains(byte) || others.utf8.contains(byte)
            text += isKept ? [byte] : [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isEscape(_ bytes: Bytes) -> Bool {
        let digits = bytes.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { isDigit($0) || (0x61...0x66).contains($0 | 0x20) }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}

extension HTTPFields {
    /// The URLs that the fields of a name refer to, seen from the URL of their message.
    package func urls(of field: KnownField, relativeTo base: URL) -> [URL] {
        var urls: [URL] = []
        forEachValue(of: field) { value in
            if let url = URL(reference: value, relativeTo: base) { urls.append(url) }
        }
        return urls
    }
}
