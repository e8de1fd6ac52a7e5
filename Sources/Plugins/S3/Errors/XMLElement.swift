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

    /// The root element of a document. Text after it is ignored.
    ///
    /// The time is proportional to the number of bytes.
    static func parse(_ data: Data, limits: XMLLimits = XMLLimits()) throws(XMLAnswerError) -> XMLElement {
        // UTF-16, which S3 does not send, has a zero in each character of a tag.
        guard !data.contains(0), let text = String(validating: data, as: UTF8.self) else { throw .malformed }
        var reader = XMLReader(text, limits)
        return try reader.root()
    }

    /// Text for a document.
    static func escaped(_ text: String) -> String {
        let references: [Unicode.Scalar: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        return text.unicodeScalars.map { references[$0] ?? String($0) }.joined()
    }
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

/// Parses a document from its first byte to the end of its root element (XML 1.0, §2 and §3).
private struct XMLReader {
    private var rest: Substring.UTF8View
    private let limits: XMLLimits
    /// The open elements, and their names with the prefixes.
    private var open: [(element: XMLElement, tag: Substring)] = []
    private var count = 0

    init(_ text: String, _ limits: XMLLimits) {
        rest = text[...].utf8
        self.limits = limits
    }

    mutating func root() throws(XMLAnswerError) -> XMLElement {
        _ = skip("\u{FEFF}")
        if rest.starts(with: "<?xml".utf8) { try readDeclaration() }
        while true {
            try readText()
            if skip("<!--") {
                _ = try text(before: "-->")
            } else if skip("<![CDATA[") {
                guard !open.isEmpty else { throw .malformed }
                append(String(try text(before: "]]>")))
            } else if skip("<!") {
                throw rest.starts(with: "DOCTYPE".utf8) ? .hasDocumentType : .malformed
            } else if skip("<?") {
                _ = try text(before: "?>")
            } else if skip("</") {
                let tag = try readName()
                _ = skipSpace()
                guard skip(">"), open.last?.tag.utf8.elementsEqual(tag.utf8) == true else { throw .malformed }
                if let root = close() { return root }
            } else {
                try expect("<")
                if let root = try readStartTag() { return root }
            }
        }
    }

    // MARK: Tags

    /// Returns the root where the tag is empty, and no other element is open.
    private mutating func readStartTag() throws(XMLAnswerError) -> XMLElement? {
        let tag = try readName()
        count += 1
        guard count <= limits.elements else { throw .tooManyElements }
        guard open.count < limits.depth else { throw .tooDeep }
        let name = tag.lastIndex(of: ":").map { tag[tag.index(after: $0)...] } ?? tag
        open.append((XMLElement(String(name)), tag))
        while true {
            let hasSpace = skipSpace()
            if skip(">") { return nil }
            if skip("/>") { return close() }
            guard hasSpace else { throw .malformed }
            _ = try readName()
            _ = skipSpace()
            try expect("=")
            _ = skipSpace()
            let value = skip("'") ? try text(before: "'") : skip("\"") ? try text(before: "\"") : "<"
            guard !value.utf8.contains(UInt8(ascii: "<")) else { throw .malformed }
        }
    }

    private mutating func close() -> XMLElement? {
        guard let element = open.popLast()?.element else { return nil }
        guard !open.isEmpty else { return element }
        open[open.count - 1].element.children.append(element)
        return nil
    }

    /// Characters beyond ASCII are not distinguished: S3's names have none.
    private mutating func readName() throws(XMLAnswerError) -> Substring {
        let name = rest.prefix { $0.isASCIILetter || $0.isASCIIDigit || $0 >= 0x80 || "_:-.".utf8.contains($0) }
        guard let first = name.first, !first.isASCIIDigit, !"-.".utf8.contains(first) else { throw .malformed }
        rest = rest[name.endIndex...]
        return Substring(name)
    }

    // MARK: Text

    /// Reads up to the next `<`. Outside of the root only white space is permitted.
    private mutating func readText() throws(XMLAnswerError) {
        guard let end = rest.firstIndex(of: UInt8(ascii: "<")) else { throw .malformed }
        var piece = rest[..<end]
        rest = rest[end...]
        if open.isEmpty {
            guard piece.allSatisfy(Self.isSpace) else { throw .malformed }
            return
        }
        while let reference = piece.firstIndex(of: UInt8(ascii: "&")) {
            append(String(Substring(piece[..<reference])))
            // No reference is longer than `&#x0010FFFF;`, except with leading zeros, which servers do not write.
            guard let semicolon = piece[reference...].prefix(16).firstIndex(of: UInt8(ascii: ";")),
                let character = Self.character(Substring(piece[reference..<semicolon].dropFirst()))
            else { throw .malformed }
            append(String(character))
            piece = piece[semicolon...].dropFirst()
        }
        append(String(Substring(piece)))
    }

    /// The character for the text between `&` and `;` (§4.1 and §4.6).
    private static func character(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard name.hasPrefix("#"), digits.first != "+", digits.first != "-",
                let scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
            else { return nil }
            return scalar.value >= 0x20 || [9, 10, 13].contains(scalar.value) ? scalar : nil
        }
    }

    private mutating func append(_ text: String) {
        if !open.isEmpty { open[open.count - 1].element.text += text }
    }

    /// Other encodings than UTF-8 are refused: in some, such as UTF-7, the text would have another meaning.
    private mutating func readDeclaration() throws(XMLAnswerError) {
        let declaration = try text(before: "?>").lowercased()
        guard let name = declaration.range(of: "encoding") else { return }
        let value = declaration[name.upperBound...].drop { "= \t\r\n\"'".contains($0) }.prefix { !"\"' ".contains($0) }
        guard ["utf-8", "utf8", "us-ascii"].contains(value) else { throw .malformed }
    }

    // MARK: Bytes

    private mutating func skip(_ text: StaticString) -> Bool {
        let matches = text.withUTF8Buffer { rest.starts(with: $0) }
        if matches { rest = rest.dropFirst(text.utf8CodeUnitCount) }
        return matches
    }

    private mutating func expect(_ text: StaticString) throws(XMLAnswerError) {
        guard skip(text) else { throw .malformed }
    }

    private mutating func skipSpace() -> Bool {
        let space = rest.prefix(while: Self.isSpace)
        rest = rest[space.endIndex...]
        return !space.isEmpty
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Skips everything up to the end of the next `end`, and returns the text before it.
    private mutating func text(before end: String) throws(XMLAnswerError) -> Substring {
        var behind = rest
        while let start = behind.firstIndex(where: { $0 == end.utf8.first }) {
            behind = behind[start...]
            if behind.starts(with: end.utf8) {
                let text = Substring(rest[..<start])
                rest = behind.dropFirst(end.utf8.count)
                return text
            }
            behind = behind.dropFirst()
        }
        throw .malformed
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { self &- 0x30 < 10 }
    var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }
}
