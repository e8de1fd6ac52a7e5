/// The text of a HAR file: JSON (RFC 8259) with a list `log.entries`. It is checked without making values of it, as a
/// file from elsewhere decides how many there are.
struct HARText {
    /// The largest number of containers in each other.
    static let maximumDepth = 500

    /// The text in UTF-8, without a byte order mark.
    let bytes: ArraySlice<UInt8>
    let entryCount: Int

    init(_ bytes: [UInt8]) throws(HARTextError) {
        self.bytes = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
        guard String(validating: self.bytes, as: UTF8.self) != nil else {
            throw HARTextError("the file is not text in UTF-8")
        }
        var scanner = HARScanner(self.bytes)
        try scanner.scanDocument()
        guard let count = scanner.entryCount else {
            throw HARTextError("this is JSON, and no recording: there is no list log.entries")
        }
        entryCount = count
    }
}

/// The reason why a text is no recording, with the place.
struct HARTextError: Error, Hashable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Scans JSON, and counts the elements of `log.entries`.
private struct HARScanner {
    /// The elements of the last `log.entries`; nil where there is no such list.
    private(set) var entryCount: Int?

    private var words: JSONWords
    /// The open containers. They are not on the stack, which they could exhaust.
    private var containers: [Container] = []
    /// Whether the last container has just been opened.
    private var isFirst = false

    private struct Container {
        let isObject: Bool
        let role: Role
    }

    /// The part of a recording that a value is.
    private enum Role { case document, log, entries, other }

    init(_ input: ArraySlice<UInt8>) { words = JSONWords(input) }

    mutating func scanDocument() throws(HARTextError) {
        try scanValue(.document)
        while let container = containers.last {
            words.skipSpace()
            if words.skip(container.isObject ? "}" : "]") {
                containers.removeLast()
                isFirst = false
                continue
            }
            if !isFirst, !words.skip(",") {
                throw problem("a comma or the end of the \(container.isObject ? "object" : "list")")
            }
            words.skipSpace()
            try scanValue(container.isObject ? scanName(in: container) : .other)
            if container.role == .entries { entryCount = (entryCount ?? 0) + 1 }
        }
        words.skipSpace()
        if !words.isAtEnd { throw problem("the end of the file") }
    }

    /// The role of the member that has the name.
    private mutating func scanName(in container: Container) throws(HARTextError) -> Role {
        let start = words.position
        guard words.skip("\"") else { throw problem("a member's name in quotation marks") }
        try scanString()
        let name = words.input[start..<words.position]
        words.skipSpace()
        guard words.skip(":") else { throw problem("a colon") }
        words.skipSpace()
        let role: Role
        switch container.role {
        case .document: role = name.elementsEqual("\"log\"".utf8) ? .log : .other
        case .log: role = name.elementsEqual("\"entries\"".utf8) ? .entries : .other
        case .entries, .other: role = .other
        }
        // Of members with the same name the last counts, as in browsers.
        if role != .other { entryCount = nil }
        return role
    }

    /// Scans a value, of a container only its beginning.
    private mutating func scanValue(_ role: Role) throws(HARTextError) {
        words.skipSpace()
        isFirst = false
        let start = words.position
        if words.skip("{") {
            try open(isObject: true, role == .entries ? .other : role)
        } else if words.skip("[") {
            if role == .entries { entryCount = 0 }
            try open(isObject: false, role == .entries ? .entries : .other)
        } else if words.skip("\"") {
            try scanString()
        } else if !(words.skip("true") || words.skip("false") || words.skip("null") || words.scanNumber()) {
            words.position = start
            throw problem("a value")
        }
    }

    private mutating func open(isObject: Bool, _ role: Role) throws(HARTextError) {
        guard containers.count < HARText.maximumDepth else {
            throw HARTextError("\(place): more than \(HARText.maximumDepth) lists and objects are in each other")
        }
        containers.append(Container(isObject: isObject, role: role))
        isFirst = true
    }

    /// Scans a string behind its first quotation mark.
    private mutating func scanString() throws(HARTextError) {
        if let missing = words.scanString() { throw problem(missing) }
    }

    // MARK: Problems

    private func problem(_ expected: String) -> HARTextError {
        HARTextError("\(place): this is no JSON: \(expected) is missing")
    }

    private var place: String {
        let before = words.input[..<words.position]
        let line = before.count { $0 == 0x0a } + 1
        let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? words.input.startIndex
        return "line \(line), byte \(before.endIndex - start + 1)"
    }
}
