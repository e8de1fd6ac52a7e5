import Foundation

/// The error for a text that is not JSON.
public struct JSONSyntaxError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The reason for the error.
    public let reason: String
    /// The line, from 1.
    public let line: Int
    /// The byte in the line, from 1.
    public let column: Int

    /// The place and the reason.
    public var description: String { "line \(line), column \(column): \(reason)" }
    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension JSONValue {
    /// The largest nesting depth of arrays and objects.
    public static let maximumDepth = 512

    /// Parses a JSON text in UTF-8. A byte order mark before it is ignored.
    ///
    /// - Throws: ``JSONSyntaxError`` with the place.
    public init(parsing data: some Sequence<UInt8>) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: Array(data))
        self = try parser.parse()
    }
}

/// Parses one JSON text. Recursion is limited by the depth.
private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func parse() throws(JSONSyntaxError) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error("there is text after the value") }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func error(_ reason: String) -> JSONSyntaxError {
        let before = bytes[..<min(position, bytes.count)]
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return JSONSyntaxError(
            reason: position < bytes.count ? reason : "the text ends early: \(reason)",
            line: before.count { $0 == 0x0A } + 1, column: before.count - start + 1)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        guard depth <= JSONValue.maximumDepth else {
            throw error("values lie more than \(JSONValue.maximumDepth) deep in each other")
        }
        skipSpace()
        guard let byte = next else { throw error("a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("a value is expected")
        }
    }

    private mutating func word(_ text: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        guard bytes[position...].starts(with: text.utf8) else { throw error("a value is expected") }
        position += text.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("the name of a member is expected") }
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("a colon is expected after the name \"\(name)\"") }
            members[name] = try value(depth: depth + 1)
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or } is expected") }
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or ] is expected") }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &text)
            case ..<0x20: throw error("a control character in a string")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw error("a string has no end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONSyntaxError) {
        let escapes: [UInt8: UInt8] = [
            0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
        ]
        guard let byte = next else { throw error("an escape has no end") }
        if let plain = escapes[byte] {
            position += 1
            return text.append(plain)
        }
        guard byte == UInt8(ascii: "u") else { throw error("there is no such escape") }
        position += 1
        var code = UInt32(try hexadecimal())
        if code & 0xFC00 == 0xD800, bytes[position...].starts(with: [0x5C, 0x75]) {
            let mark = position
            position += 2
            let low = UInt32(try hexadecimal())
            if low & 0xFC00 == 0xDC00 {
                code = 0x10000 + ((code & 0x3FF) << 10) + (low & 0x3FF)
            } else {
                position = mark
            }
        }
        // One half of a surrogate pair is not a character.
        text.append(contentsOf: String(UnicodeScalar(code) ?? "\u{FFFD}").utf8)
    }

    private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt16 {
        guard bytes.count - position >= 4, bytes[position] != UInt8(ascii: "+"),
            let value = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits are expected") }
        position += 4
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        let whole = digits()
        guard whole == 1 || whole > 1 && bytes[position - whole] != UInt8(ascii: "0") else {
            throw error("a number is expected")
        }
        if take(UInt8(ascii: ".")), digits() == 0 { throw error("digits are expected after the point") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            if digits() == 0 { throw error("digits are expected in the exponent") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        guard let value = Double(text), value.isFinite else { throw error("the number \(text) is too large") }
        return .number(value)
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        return position - start
    }
}
