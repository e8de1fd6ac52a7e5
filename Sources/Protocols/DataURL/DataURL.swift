import LoadingKitCore
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The contents of a `data:` URL, by the Fetch Standard's "data: URL processor" (RFC 2397 as used in practice).
package struct DataURL {
    package let mimeType: MIMEType
    package let body: [UInt8]

    /// Nil if the text is not a data: URL: it has another scheme, no comma, or invalid base64.
    package init?(_ url: String) {
        let whole = url.utf8.prefix { $0 != UInt8(ascii: "#") }
        let scheme = "data:"
        guard whole.prefix(scheme.utf8.count).elementsEqual(scheme.utf8, by: { $0 | 0x20 == $1 | 0x20 }) else {
            return nil
        }
        let rest = Self.serialized(whole.dropFirst(scheme.utf8.count))
        guard Self.hasNoWrongPort(rest) else { return nil }
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        var type = Self.trimmed(Array(rest[..<comma]))
        var body = PercentCoding.decoded(rest[rest.index(after: comma)...])
        if let shorter = Self.withoutBase64(type) {
            guard let decoded = ForgivingBase64.decode(body) else { return nil }
            type = shorter
            body = decoded
        }
        if type.first == UInt8(ascii: ";") { type.insert(contentsOf: "text/plain".utf8, at: 0) }
        guard let mimeType = MIMEType(String(decoding: type, as: UTF8.self)) ?? MIMEType("text/plain;charset=US-ASCII")
        else { return nil }
        self.mimeType = mimeType
        self.body = body
    }

    /// The output of the URL Standard's parser: without tabs and line ends, and with control characters and non-ASCII
    /// characters percent-encoded.
    private static func serialized(_ text: Substring.UTF8View) -> [UInt8] {
        if text.allSatisfy({ 0x20...0x7e ~= $0 }) { return Array(text) }
        let marks = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
        let kept = text.filter { $0 != ASCII.tab && $0 != ASCII.lineFeed && $0 != ASCII.carriageReturn }
        return Array(PercentCoding.encoded(Array(kept), keeping: marks).utf8)
    }

    /// Two slashes are followed by an authority, whose port must be a number.
    private static func hasNoWrongPort(_ text: [UInt8]) -> Bool {
        guard text.starts(with: "//".utf8) else { return true }
        let authority = text.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]") else {
            return true
        }
        let port = authority[(colon + 1)...]
        return port.isEmpty
            || (port.allSatisfy(ASCII.isDigit) && UInt16(String(decoding: port, as: UTF8.self)) != nil)
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        var slice = bytes[...].drop(while: ASCII.isWhitespace)
        while let last = slice.last, ASCII.isWhitespace(last) { slice.removeLast() }
        return Array(slice)
    }

    /// The type without `;base64` at its end; nil if it has no such end.
    private static func withoutBase64(_ type: [UInt8]) -> [UInt8]? {
        let word = "base64"
        guard
            type.suffix(word.utf8.count).elementsEqual(
                word.utf8, by: { ASCII.isLetterOrDigit($0) && $0 | 0x20 == $1 | 0x20 })
        else { return nil }
        var rest = type.dropLast(word.utf8.count)
        while rest.last == 0x20 { rest.removeLast() }
        guard rest.last == UInt8(ascii: ";") else { return nil }
        return Array(rest.dropLast())
    }
}
