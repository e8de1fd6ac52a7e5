/// Percent-encoding for Signature Version 4: all characters but letters, digits and `-._~` are encoded, with upper-case
/// digits (RFC 3986 §2.3).
enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// - Parameter keepsSlashes: true for a path, whose slashes are not encoded.
    static func encoded(_ bytes: some Sequence<UInt8>, keepsSlashes: Bool = false) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isUnreserved(byte) || (keepsSlashes && byte == UInt8(ascii: "/")) {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func encoded(_ text: some StringProtocol, keepsSlashes: Bool = false) -> String {
        encoded(text.utf8, keepsSlashes: keepsSlashes)
    }

    /// The decoded bytes of a text. A `%` without two digits is kept.
    ///
    /// - Parameter isForm: whether `+` is a space, as in HTML forms.
    static func decoded(_ text: some StringProtocol, isForm: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(value),
                let low = rest.dropFirst().first.flatMap(value)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
