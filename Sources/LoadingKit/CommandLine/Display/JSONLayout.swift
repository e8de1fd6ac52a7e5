/// JSON (RFC 8259) laid out for readers: a line for each member, in its order. Numbers and strings stay as they were
/// written.
struct JSONLayout {
    private let input: [UInt8]
    private var position = 0
    private var output: ScreenText
    /// The open containers; true for an object.
    private var containers: [Bool] = []

    /// Nil where the bytes are not JSON, or the layout would be too large.
    static func text(_ bytes: [UInt8], usesColour: Bool) -> [UInt8]? {
        var layout = JSONLayout(bytes, usesColour)
        guard String(validating: bytes, as: UTF8.self) != nil, layout.writeDocument() else { return nil }
        return layout.output.bytes + "\n".utf8
    }

    private init(_ bytes: [UInt8], _ usesColour: Bool) {
        input = bytes
        output = ScreenText(usesColour: usesColour)
    }

    // MARK: Writing

    /// False where the input is not JSON. Nested containers are in `containers`, not on the stack, which they could exhaust.
    private mutating func writeDocument() -> Bool {
        var needsValue = true
        while !output.isTooLarge {
            skipSpace()
            if needsValue {
                guard writeValue(&needsValue) else { return false }
            } else if let isObject = containers.last {
                if skip(",") {
                    add(",")
                    guard beginElement() else { return false }
                    needsValue = true
                } else {
                    guard skip(isObject ? "}" : "]") else { return false }
                    containers.removeLast()
                    output.beginLine(containers.count)
                    add(isObject ? "}" : "]")
                }
            } else {
                return position == input.count
            }
        }
        return false
    }

    private mutating func writeValue(_ needsValue: inout Bool) -> Bool {
        for isObject in [true, false] where skip(isObject ? "{" : "[") {
            add(isObject ? "{" : "[")
            skipSpace()
            needsValue = !skip(isObject ? "}" : "]")
            guard needsValue else {
                add(isObject ? "}" : "]")
                return true
            }
            containers.append(isObject)
            return beginElement()
        }
        needsValue = false
        let start = position
        if scanString() {
            output.add(input[start..<position], .green)
        } else if scanNumber() {
            output.add(input[start..<position], .yellow)
        } else {
            guard ["true", "false", "null"].contains(where: { skip($0) }) else { return false }
            output.add(input[start..<position], .magenta)
        }
        return true
    }

    /// Begins the line of an element, up to the value.
    private mutating func beginElement() -> Bool {
        output.beginLine(containers.count)
        guard containers.last == true else { return true }
        skipSpace()
        let start = position
        guard scanString() else { return false }
        output.add(input[start..<position], .cyan)
        skipSpace()
        guard skip(":") else { return false }
        add(": ")
        return true
    }

    private mutating func add(_ text: String) { output.add(Array(text.utf8)[...]) }

    // MARK: Reading

    private var next: UInt8? { position < input.count ? input[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    private mutating func skip(_ text: String) -> Bool {
        guard input[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func scanString() -> Bool {
        guard skip("\"") else { return false }
        while let byte = next, byte >= 0x20 {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard scanEscape() else { return false }
            case _: break
            }
        }
        return false
    }

    private mutating func scanEscape() -> Bool {
        guard let kind = next else { return false }
        position += 1
        guard kind == UInt8(ascii: "u") else { return #""\/bfnrt"#.utf8.contains(kind) }
        let digits = input[position...].prefix(4)
        position += digits.count
        return digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    private mutating func scanNumber() -> Bool {
        _ = skip("-")
        guard skip("0") || scanDigits() else { return false }
        if skip("."), !scanDigits() { return false }
        guard skip("e") || skip("E") else { return true }
        _ = skip("+") || skip("-")
        return scanDigits()
    }

    private mutating func scanDigits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }
}
