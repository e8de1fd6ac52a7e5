/// Names and values of `application/x-www-form-urlencoded`, a form's or a query's, by the WHATWG's URL standard (§5).
@_spi(LoadingKitPlugins)
public enum FormPairs {
    /// Each non-empty piece between two `&` is a pair, whose value is the part after the first `=`; bytes that are not
    /// UTF-8 become U+FFFD.
    public static func parsed(_ bytes: [UInt8]) -> [(name: String, value: String)] {
        bytes.split(separator: UInt8(ascii: "&")).map { piece in
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            return (decoded(name), decoded(piece.dropFirst(name.count + 1)))
        }
    }

    /// The text as it is sent: letters, digits and `*-._` stay, a space becomes `+`, and all else is percent-encoded UTF-8.
    public static func encoded(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: PercentCoding.decoded(bytes, isForm: true), as: UTF8.self)
    }

    private static func encoded(_ text: String) -> String {
        PercentCoding.encoded(text, keeping: "*-._ ").replacing(" ", with: "+")
    }
}
