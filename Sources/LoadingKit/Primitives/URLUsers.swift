/// Users and passwords in URLs: one way for all code that displays, records or reports URLs.
@_spi(LoadingKitPlugins)
public enum URLUsers {
    /// Replaces the text before an `@` in the authority of a URL, also of a URL within another text, and of one without
    /// a scheme (RFC 3986 §4.2).
    ///
    /// Texts are divided by bytes: a separator may form one character with the characters beside it.
    public static func hidden(in text: String, by placeholder: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(text.utf8)[...])
        while let mark = rest.firstRange(of: Array("//".utf8)) {
            result += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let authority = rest.prefix { !"/?#\"<> \t".utf8.contains($0) }
            guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
            result += Array(placeholder.utf8)
            rest = rest[at...]
        }
        return String(decoding: result + Array(rest), as: UTF8.self)
    }
}
