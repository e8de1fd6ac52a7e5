/// JSON (RFC 8259) laid out for readers: a line for each member, in its order. Numbers and strings stay as they were
/// written.
struct JSONLayout {
    private var words: JSONWords
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
        words = JSONWords(bytes[...])
        output = ScreenText(usesColour: usesColour)
    }

    // MARK: Writing

    /// False where the input is not JSON. Nested containers are in `containers`, not on the stack, which they could exhaust.
    private mutating func writeDocument() -> Bool {
        var needsValue = true
        while !output.isTooLarge {
            words.skipSpace()
            if needsValue {
                guard writeValue(&needsValue) else { return false }
            } else if let isObject = containers.last {
                if words.skip(",") {
                    add(",")
                    guard beginElement() else { return false }
                    needsValue = true
                } else {
                    guard words.skip(isObject ? "}" : "]") else { return false }
                    containers.removeLast()
                    output.beginLine(containers.count)
                    add(isObject ? "}" : "]")
                }
            } else {
                return words.isAtEnd
            }
        }
        return false
    }

    private mutating func writeValue(_ needsValue: inout Bool) -> Bool {
        for isObject in [true, false] where words.skip(isObject ? "{" : "[") {
            add(isObject ? "{" : "[")
            words.skipSpace()
            needsValue = !words.skip(isObject ? "}" : "]")
            guard needsValue else {
                add(isObject ? "}" : "]")
                return true
            }
            containers.append(isObject)
            return beginElement()
        }
        needsValue = false
        let start = words.position
        if scanString() {
            output.add(words.input[start..<words.position], .green)
        } else if words.scanNumber() {
            output.add(words.input[start..<words.position], .yellow)
        } else {
            guard words.skip("true") || words.skip("false") || words.skip("null") else { return false }
            output.add(words.input[start..<words.position], .magenta)
        }
        return true
    }

    /// Begins the line of an element, up to the value.
    private mutating func beginElement() -> Bool {
        output.beginLine(containers.count)
        guard containers.last == true else { return true }
        words.skipSpace()
        let start = words.position
        guard scanString() else { return false }
        output.add(words.input[start..<words.position], .cyan)
        words.skipSpace()
        guard words.skip(":") else { return false }
        add(": ")
        return true
    }

    private mutating func add(_ text: String) { output.add(Array(text.utf8)[...]) }

    // MARK: Reading

    private mutating func scanString() -> Bool { words.skip("\"") && words.scanString() == nil }
}
