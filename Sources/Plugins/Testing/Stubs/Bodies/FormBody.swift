import Foundation

/// Name and value of a form's field, of a query's item, or of a header field.
public struct NamedValue: Sendable, Hashable, CustomStringConvertible {
    /// The name, decoded.
    public var name: String
    /// The value, decoded; of a query item without `=`, empty.
    public var value: String

    /// A name and a value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// `name=value`.
    public var description: String { "\(name)=\(value)" }
}

/// `application/x-www-form-urlencoded` (WHATWG URL §5).
enum FormBody {
    /// The fields in their order, with `+` and percent escapes decoded.
    static func parse(_ text: some StringProtocol) -> [NamedValue] {
        pairs(of: text).map { NamedValue(name: decode($0.name), value: decode($0.value ?? "")) }
    }

    /// The pieces between the ampersands, as they are.
    static func pairs<Text: StringProtocol>(of text: Text) -> [(name: Text.SubSequence, value: Text.SubSequence?)] {
        text.split(separator: "&", omittingEmptySubsequences: true).map { pair in
            guard let equals = pair.firstIndex(of: "=") else { return (pair, nil) }
            return (pair[..<equals], pair[pair.index(after: equals)...])
        }
    }

    /// What `+` and percent escapes stand for. An escape that is none stays as it is.
    static func decode(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(0x20)
            } else if byte == UInt8(ascii: "%"), rest.count >= 2, rest.prefix(2).allSatisfy(isHexDigit),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text of a field that ``decode(_:)`` gives back: all but unreserved characters are escaped.
    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
            default: "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
