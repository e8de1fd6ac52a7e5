/// Replaces the values of secret members in a JSON text, and does not change any other byte. The text may be
/// incomplete, and may contain several JSON texts: the text after a secret name, up to the value's end if there is one,
/// is replaced.
struct JSONRedaction {
    private let bytes: [UInt8]
    private let isSecret: (String) -> Bool
    private var position = 0
    private var output: [UInt8] = []

    init(_ bytes: [UInt8], _ isSecret: @escaping (String) -> Bool) {
        self.bytes = bytes
        self.isSecret = isSecret
    }

    func redacted() -> [UInt8] {
        var copy = self
        copy.output.reserveCapacity(bytes.count)
        copy.run()
        return copy.output
    }

    private mutating func run() {
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "\"") else {
                output.append(bytes[position])
                position += 1
                continue
            }
            let start = position
            skipString()
            output += bytes[start..<position]
            let name = bytes[start..<position]
            guard let colon = colon(), isSecret(Self.text(name)) else { continue }
            output += bytes[position...colon]
            position = colon + 1
            copySpace()
            replaceValue()
        }
    }

    private static func text(_ literal: ArraySlice<UInt8>) -> String {
        (try? JSONValue(parsing: literal))?.string ?? String(decoding: literal.dropFirst().dropLast(), as: UTF8.self)
    }

    /// The position of the colon, if the string was a member's name.
    private func colon() -> Int? {
        var index = position
        while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: ":") ? index : nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private mutating func copySpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) {
            output.append(bytes[position])
            position += 1
        }
    }

    /// Moves past the closing quote, or to the end.
    private mutating func skipString() {
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { break }
        }
        position = min(position, bytes.count)
    }

    /// `null`, `true` and `false` are not secret, and are kept.
    private mutating func replaceValue() {
        let start = position
        skipValue()
        let value = bytes[start..<position]
        let isPlain = ["null", "true", "false"].contains { value.elementsEqual($0.utf8) }
        output += isPlain || value.isEmpty ? Array(value) : Array("\"\(HARRedaction.marker)\"".utf8)
    }

    private mutating func skipValue() {
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                skipString()
                if depth == 0 { return }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                position += 1
                if depth == 0 { return }
            case UInt8(ascii: ",") where depth == 0: return
            case let byte where depth == 0 && Self.isSpace(byte): return
            default: position += 1
            }
        }
    }
}
