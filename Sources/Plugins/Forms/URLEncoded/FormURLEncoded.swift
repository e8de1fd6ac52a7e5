import Foundation
import LoadingKit

/// Names and values in the order in which they are sent: `application/x-www-form-urlencoded`, by the WHATWG's URL
/// standard (§5). Names may repeat.
///
///     request.setForm(FormURLEncoded(["q": "a b", "page": "2"]))      // q=a+b&page=2
public struct FormURLEncoded: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// A name and its value.
    public struct Pair: Sendable, Hashable {
        /// The name; may be empty.
        public var name: String
        /// The value; may be empty.
        public var value: String

        /// A name and its value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// `application/x-www-form-urlencoded`.
    public static let contentType = "application/x-www-form-urlencoded"

    /// The pairs, in order.
    public var pairs: [Pair]

    /// Makes a form with these pairs; none by default.
    public init(_ pairs: [Pair] = []) { self.pairs = pairs }

    /// Makes a form with these pairs, in their order.
    public init(_ pairs: KeyValuePairs<String, String>) { self.init(pairs.map { Pair($0.key, $0.value) }) }

    /// Makes a form with the literal's pairs, in their order.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements.map { Pair($0.0, $0.1) }) }

    /// Parses text of this form. Never fails: each non-empty piece between two `&` is a pair, whose value is the part
    /// after the first `=`; bytes that are not UTF-8 become U+FFFD.
    public init(parsing text: some StringProtocol) { self.init(parsing: Data(text.utf8)) }

    /// Parses bytes of this form; see ``init(parsing:)-(StringProtocol)``.
    public init(parsing bytes: Data) {
        pairs = bytes.split(separator: UInt8(ascii: "&")).map { piece in
            let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Pair(
                PercentCoding.decoded(parts.first ?? Data()), parts.count > 1 ? PercentCoding.decoded(parts[1]) : "")
        }
    }

    /// Appends a pair.
    public mutating func append(_ name: String, _ value: String) { pairs.append(Pair(name, value)) }

    /// The values of a name, in order.
    public func values(of name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    /// The first value of a name; nil where there is none.
    public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The encoded text, as it is sent.
    public var encoded: String {
        var result: [UInt8] = []
        for (index, pair) in pairs.enumerated() {
            if index > 0 { result.append(UInt8(ascii: "&")) }
            PercentCoding.append(pair.name, to: &result)
            result.append(UInt8(ascii: "="))
            PercentCoding.append(pair.value, to: &result)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// The coding of a name or a value.
enum PercentCoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Letters, digits and `*-._` are kept, a space becomes `+`, and everything else is percent-encoded UTF-8.
    static func append(_ text: String, to result: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2a, 0x2d, 0x2e, 0x5f: result.append(byte)
            case 0x20: result.append(0x2b)
            default: result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// A percent sign without two hexadecimal digits after it is kept.
    static func decoded(_ bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == 0x25, position + 2 < bytes.count, let high = hexadecimal(bytes[position + 1]),
                let low = hexadecimal(bytes[position + 2])
            {
                result.append(high << 4 | low)
                position += 3
            } else {
                result.append(byte == 0x2b ? 0x20 : byte)
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

extension URLRequest {
    /// Sets the request's body to the pairs, and `Content-Type`. The method `GET` becomes `POST`.
    public mutating func setForm(_ form: FormURLEncoded) {
        if httpMethod == "GET" { httpMethod = "POST" }
        setValue(FormURLEncoded.contentType, forHTTPHeaderField: "Content-Type")
        setValue(nil, forHTTPHeaderField: "Content-Length")
        httpBody = Data(form.encoded.utf8)
    }
}
