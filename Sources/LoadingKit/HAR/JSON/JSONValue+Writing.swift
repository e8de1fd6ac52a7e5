import Foundation

extension JSONValue {
    /// The JSON text, with the members of objects sorted by name, so that equal values have equal texts.
    ///
    /// - Parameter indentation: the number of spaces for each level; nil writes everything on one line.
    public func text(indentation: Int? = nil) -> String {
        var text: [UInt8] = []
        write(into: &text, depth: 0, indentation: indentation.map { max($0, 0) })
        return String(decoding: text, as: UTF8.self)
    }

    private func write(into text: inout [UInt8], depth: Int, indentation: Int?) {
        func startLine(_ depth: Int) {
            guard let indentation else { return }
            text.append(0x0A)
            text.append(contentsOf: repeatElement(0x20, count: indentation * depth))
        }
        switch self {
        case .null: text.append(contentsOf: "null".utf8)
        case .bool(let value): text.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): text.append(contentsOf: String(value).utf8)
        case .number(let value): Self.write(value, into: &text)
        case .string(let value): Self.write(value, into: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                startLine(depth + 1)
                element.write(into: &text, depth: depth + 1, indentation: indentation)
            }
            if !elements.isEmpty { startLine(depth) }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                startLine(depth + 1)
                Self.write(member.key, into: &text)
                text.append(contentsOf: (indentation == nil ? ":" : ": ").utf8)
                member.value.write(into: &text, depth: depth + 1, indentation: indentation)
            }
            if !members.isEmpty { startLine(depth) }
            text.append(UInt8(ascii: "}"))
        }
    }

    /// JSON has neither infinity nor NaN.
    private static func write(_ value: Double, into text: inout [UInt8]) {
        if let whole = Int64(exactly: value) { return text.append(contentsOf: String(whole).utf8) }
        text.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
    }

    private static func write(_ string: String, into text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case 0x22, 0x5C: text.append(contentsOf: [0x5C, byte])
            case 0x0A: text.append(contentsOf: "\\n".utf8)
            case 0x0D: text.append(contentsOf: "\\r".utf8)
            case 0x09: text.append(contentsOf: "\\t".utf8)
            case ..<0x20: text.append(contentsOf: "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text on one line.
    public var description: String { text() }
}
