/// Percent-encoding (RFC 3986 §2.1), with upper-case digits. Not generic: other modules would call it unspecialized.
@_spi(LoadingKitPlugins)
public enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// The encoded bytes.
    ///
    /// - Parameter marks: the characters that are kept besides letters and digits. The default are the other unreserved
    ///   characters of RFC 3986 (§2.3).
    public static func encoded(_ bytes: [UInt8], keeping marks: String = "-._~") -> String {
        var isMark = [Bool](repeating: false, count: 256)
        for mark in marks.utf8 { isMark[Int(mark)] = true }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if ASCII.isLetterOrDigit(byte) || isMark[Int(byte)] {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The encoded UTF-8 of a text; see ``encoded(_:keeping:)-([UInt8],_)``.
    public static func encoded(_ text: String, keeping marks: String = "-._~") -> String {
        encoded(Array(text.utf8), keeping: marks)
    }

    /// The decoded bytes. A `%` without two digits after it is kept.
    ///
    /// - Parameter isForm: whether `+` is a space, as in HTML forms.
    public static func decoded(_ text: ArraySlice<UInt8>, isForm: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
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

    /// The decoded bytes of a text; see ``decoded(_:isForm:)-(ArraySlice<UInt8>,_)``.
    public static func decoded(_ text: String, isForm: Bool = false) -> [UInt8] {
        decoded(Array(text.utf8)[...], isForm: isForm)
    }
}
