import Foundation

/// An element of an answer's XML, with its text and its children. S3's answers do not need attributes and namespaces.
struct XMLElement: Sendable, Equatable {
    /// The name without a prefix.
    let name: String
    var text = ""
    var children: [XMLElement] = []

    init(_ name: String) { self.name = name }

    /// The text of the first child with this name.
    subscript(name: String) -> String? { first(name)?.text }

    func first(_ name: String) -> XMLElement? { children.first { $0.name == name } }

    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}

/// The error for an answer that is not XML, or exceeds the limits.
enum XMLAnswerError: Error, Equatable {
    case malformed
    /// The answer declares a document type, which may have entities of unlimited size; S3's answers have none.
    case hasDocumentType
    case tooManyElements
    case tooDeep
}

/// Limits for an answer. Its size is limited by the code that reads it.
struct XMLLimits: Sendable {
    /// A page of a listing has 1,000 objects with at most ten elements each.
    var elements = 40_000
    var depth = 16
}

extension XMLElement {
    /// The root element of a document. Text after it is ignored.
    ///
    /// The time is proportional to the number of bytes.
    static func parse(_ data: Data, limits: XMLLimits = XMLLimits()) throws(XMLAnswerError) -> XMLElement {
        // UTF-16, which S3 does not send, has a zero in each character of a tag.
        guard !data.contains(0), String(validating: data, as: UTF8.self) != nil else { throw .malformed }
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(XMLAnswerError) -> XMLElement in
                var reader = XMLReader(bytes, limits)
                return try reader.root()
            }
        }
        return try result.get()
    }
}

/// Parses a document in UTF-8 from its first byte to the end of its root element (XML 1.0, §2 and §3).
private struct XMLReader {
    private let bytes: UnsafeRawBufferPointer
    private let limits: XMLLimits
    private var position = 0
    /// The open elements, and their names with the prefixes.
    private var open: [(element: XMLElement, tag: Range<Int>)] = []
    private var count = 0

    init(_ bytes: UnsafeRawBufferPointer, _ limits: XMLLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    mutating func root() throws(XMLAnswerError) -> XMLElement {
        if begins(with: "\u{FEFF}") { position += "\u{FEFF}".utf8.count }
        if begins(with: "<?xml") { try readDeclaration() }
        while true {
            try readText()
            if begins(with: "<!--") {
                try skip("<!--", until: "-->")
            } else if begins(with: "<![CDATA[") {
                try readCharacterData()
            } else if begins(with: "<!") {
                throw begins(with: "<!DOCTYPE") ? .hasDocumentType : .malformed
            } else if begins(with: "<?") {
                try skip("<?", until: "?>")
            } else if begins(with: "</") {
                if let root = try readEndTag() { return root }
            } else {
                if let root = try readStartTag() { return root }
            }
        }
    }

    // MARK: Tags

    /// Returns the root where the tag is empty, and no other element is open.
    private mutating func readStartTag() throws(XMLAnswerError) -> XMLElement? {
        position += 1
        let tag = try readName()
        count += 1
        guard count <= limits.elements else { throw .tooManyElements }
        guard open.count < limits.depth else { throw .tooDeep }
        let local = bytes[tag].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? tag.lowerBound
        open.append((XMLElement(String(decoding: bytes[local..<tag.upperBound], as: UTF8.self)), tag))
        while true {
            let hasSpace = skipSpace()
            if begins(with: ">") {
                position += 1
                return nil
            }
            if begins(with: "/>") {
                position += 2
                return close()
            }
            guard hasSpace else { throw .malformed }
            try skipAttribute()
        }
    }

    private mutating func skipAttribute() throws(XMLAnswerError) {
        _ = try readName()
        skipSpace()
        try expect("=")
        skipSpace()
        guard let quote = byte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw .malformed }
        position += 1
        guard let end = bytes[position...].firstIndex(of: quote),
            !bytes[position..<end].contains(UInt8(ascii: "<"))
        else { throw .malformed }
        position = end + 1
    }

    /// Returns the root where the root ends.
    private mutating func readEndTag() throws(XMLAnswerError) -> XMLElement? {
        position += 2
        let tag = try readName()
        skipSpace()
        try expect(">")
        guard let last = open.last, bytes[last.tag].elementsEqual(bytes[tag]) else { throw .malformed }
        return close()
    }

    private mutating func close() -> XMLElement? {
        guard let element = open.popLast()?.element else { return nil }
        guard !open.isEmpty else { return element }
        open[open.count - 1].element.children.append(element)
        return nil
    }

    private mutating func readName() throws(XMLAnswerError) -> Range<Int> {
        let start = position
        while let byte, Self.isOfName(byte) { position += 1 }
        guard position > start, !Self.onlyFollows(bytes[start]) else { throw .malformed }
        return start..<position
    }

    /// Characters beyond ASCII are not distinguished: S3's names have none.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...0xFF:
            true
        default: onlyFollows(byte)
        }
    }

    /// Characters with which no name begins.
    private static func onlyFollows(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    // MARK: Text

    /// Reads up to the next `<`. Outside of the root only white space is permitted.
    private mutating func readText() throws(XMLAnswerError) {
        let start = position
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "<")) else { throw .malformed }
        position = end
        guard !open.isEmpty else {
            guard bytes[start..<end].allSatisfy(Self.isSpace) else { throw .malformed }
            return
        }
        var rest = bytes[start..<end]
        var text: [UInt8] = []
        while let reference = rest.firstIndex(of: UInt8(ascii: "&")) {
            text += rest[..<reference]
            // No reference is longer than `&#x0010FFFF;`, except with leading zeros, which servers do not write.
            guard let semicolon = rest[reference...].prefix(16).firstIndex(of: UInt8(ascii: ";")),
                let character = Self.character(bytes[reference + 1..<semicolon])
            else { throw .malformed }
            text += Array(String(character).utf8)
            rest = rest[(semicolon + 1)...]
        }
        text += rest
        append(text)
    }

    /// The character for the text between `&` and `;` (§4.1 and §4.6).
    private static func character(_ name: Slice<UnsafeRawBufferPointer>) -> Unicode.Scalar? {
        switch String(decoding: name, as: UTF8.self) {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case let text:
            guard text.hasPrefix("#") else { return nil }
            let isHexadecimal = text.hasPrefix("#x")
            let digits = text.dropFirst(isHexadecimal ? 2 : 1)
            guard digits.utf8.allSatisfy({ isASCIIHexadecimal($0) }) else { return nil }
            guard let scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init) else {
                return nil
            }
            return scalar.value >= 0x20 || [9, 10, 13].contains(scalar.value) ? scalar : nil
        }
    }

    private static func isASCIIHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private mutating func readCharacterData() throws(XMLAnswerError) {
        guard !open.isEmpty else { throw .malformed }
        let start = position + "<![CDATA[".utf8.count
        try skip("<![CDATA[", until: "]]>")
        append(bytes[start..<position - "]]>".utf8.count])
    }

    private mutating func append(_ text: some Collection<UInt8>) {
        guard !text.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].element.text += String(decoding: text, as: UTF8.self)
    }

    /// Other encodings than UTF-8 are refused: in some, such as UTF-7, the text would have another meaning.
    private mutating func readDeclaration() throws(XMLAnswerError) {
        let start = position
        try skip("<?xml", until: "?>")
        let text = String(decoding: bytes[start..<position - 2], as: UTF8.self).lowercased()
        guard let name = text.range(of: "encoding") else { return }
        let value = text[name.upperBound...].drop { "= \t\r\n\"'".contains($0) }.prefix { !"\"' ".contains($0) }
        guard ["utf-8", "utf8", "us-ascii"].contains(value) else { throw .malformed }
    }

    // MARK: Bytes

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func begins(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private mutating func expect(_ text: String) throws(XMLAnswerError) {
        guard begins(with: text) else { throw .malformed }
        position += text.utf8.count
    }

    @discardableResult private mutating func skipSpace() -> Bool {
        let start = position
        while let byte, Self.isSpace(byte) { position += 1 }
        return position > start
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Skips `start`, and everything up to the end of the next `end`.
    private mutating func skip(_ start: String, until end: String) throws(XMLAnswerError) {
        position += start.utf8.count
        while let byte {
            if byte == end.utf8.first, begins(with: end) {
                position += end.utf8.count
                return
            }
            position += 1
        }
        throw .malformed
    }
}

/// Text for an XML document.
enum XMLText {
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
