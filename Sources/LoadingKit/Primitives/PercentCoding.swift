/// Percent-encoding (RFC 3986 §2.1), with upper-case digits.
@_spi(LoadingKitPlugins)
public enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// - Parameter marks: the characters that are kept besides letters and digits. The default are the other unreserved
    ///   characters of RFC 3986 (§2.3).
    public static func encoded(_ bytes: some Sequence<UInt8>, keeping marks: String = "-._~") -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if ASCII.isLetterOrDigit(byte) || marks.utf8.contains(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The decoded bytes. A `%` without two digits after it is kept.
    ///
    /// - Parameter isForm: whether `+` is a space, as in HTML forms.
    public static func decoded(_ text: some Sequence<UInt8>, isForm: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(ASCII.hexDigit),
                let low = rest.dropFirst().first.flatMap(ASCII.hexDigit)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(isForm && byte == UInt8(ascii: "+") ? ASCII.space : byte)
            }
        }
        return bytes
    }
}
