/// Parses the kinds of structured fields that resumable uploads use: Items and Dictionaries (RFC 9651 §4.2).
struct StructuredField {
    enum Value: Equatable {
        case boolean(Bool)
        case integer(Int64)
        /// A decimal, string, token, byte sequence, date, display string or inner list.
        case other
    }

    private struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>

    private init(_ text: String) { rest = Array(text.utf8)[...] }

    /// Nil if the text is no Item.
    static func item(_ text: String) -> Value? {
        var reader = StructuredField(text)
        return try? reader.readWholeItem()
    }

    /// The members of a Dictionary. If a key is repeated, the last member counts. Nil if the text is no Dictionary.
    static func dictionary(_ text: String) -> [String: Value]? {
        var reader = StructuredField(text)
        return try? reader.readDictionary()
    }

    // MARK: Parsing (§4.2)

    private mutating func readWholeItem() throws(Malformed) -> Value {
        skipSpaces()
        let value = try readItem()
        skipSpaces()
        guard rest.isEmpty else { throw Malformed() }
        return value
    }

    /// Parses a Dictionary (§4.2.2).
    private mutating func readDictionary() throws(Malformed) -> [String: Value] {
        var members: [String: Value] = [:]
        skipSpaces()
        while !rest.isEmpty {
            let key = try readKey()
            if skip(UInt8(ascii: "=")) {
                members[key] = rest.first == UInt8(ascii: "(") ? try readInnerList() : try readItem()
            } else {
                try readParameters()
                members[key] = .boolean(true)
            }
            skipBlanks()
            if rest.isEmpty { return members }
            guard skip(UInt8(ascii: ",")) else { throw Malformed() }
            skipBlanks()
            // A comma must be followed by a member.
            guard !rest.isEmpty else { throw Malformed() }
        }
        return members
    }

    private mutating func readItem() throws(Malformed) -> Value {
        let value = try readBareItem()
        try readParameters()
        return value
    }

    /// Parses an Inner List (§4.2.1.2).
    private mutating func readInnerList() throws(Malformed) -> Value {
        rest.removeFirst()
        while true {
            skipSpaces()
            if skip(UInt8(ascii: ")")) { break }
            _ = try readItem()
            guard rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else { throw Malformed() }
        }
        try readParameters()
        return .other
    }

    /// Parses Parameters (§4.2.3.2).
    private mutating func readParameters() throws(Malformed) {
        while skip(UInt8(ascii: ";")) {
            skipSpaces()
            _ = try readKey()
            if skip(UInt8(ascii: "=")) { _ = try readBareItem() }
        }
    }

    /// Parses a Key (§4.2.3.3).
    private mutating func readKey() throws(Malformed) -> String {
        guard let first = rest.first, first.isLowercase || first == UInt8(ascii: "*") else { throw Malformed() }
        let key = rest.prefix { $0.isLowercase || $0.isDigit || "_-.*".utf8.contains($0) }
        rest = rest[key.endIndex...]
        return String(decoding: key, as: UTF8.self)
    }

    /// Parses a Bare Item (§4.2.3.1).
    private mutating func readBareItem() throws(Malformed) -> Value {
        guard let first = rest.first else { throw Malformed() }
        switch first {
        case UInt8(ascii: "?"): return try readBoolean()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
        case UInt8(ascii: "\""): return try readString()
        case UInt8(ascii: ":"):
            rest.removeFirst()
            guard let end = rest.firstIndex(of: first) else { throw Malformed() }
            rest = rest[rest.index(after: end)...]
            return .other
        case UInt8(ascii: "@"):
            rest.removeFirst()
            guard case .integer = try readNumber() else { throw Malformed() }
            return .other
        case UInt8(ascii: "%"):
            rest.removeFirst()
            return try readString()
        case _ where first.isLetter || first == UInt8(ascii: "*"):
            rest = rest.drop { $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~:/".utf8.contains($0) }
            return .other
        case _: throw Malformed()
        }
    }

    /// Parses a Boolean (§4.2.8).
    private mutating func readBoolean() throws(Malformed) -> Value {
        rest.removeFirst()
        if skip(UInt8(ascii: "1")) { return .boolean(true) }
        if skip(UInt8(ascii: "0")) { return .boolean(false) }
        throw Malformed()
    }

    /// Parses an Integer or Decimal (§4.2.4). An Integer has at most 15 digits, a Decimal at most 12 before its point
    /// and 3 behind it.
    private mutating func readNumber() throws(Malformed) -> Value {
        let isNegative = skip(UInt8(ascii: "-"))
        let digits = rest.prefix { $0.isDigit }
        rest = rest[digits.endIndex...]
        guard !digits.isEmpty, digits.count <= 15 else { throw Malformed() }
        if skip(UInt8(ascii: ".")) {
            let fraction = rest.prefix { $0.isDigit }
            rest = rest[fraction.endIndex...]
            guard digits.count <= 12, 1...3 ~= fraction.count else { throw Malformed() }
            return .other
        }
        let number = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return .integer(isNegative ? -number : number)
    }

    /// Parses a String (§4.2.5).
    private mutating func readString() throws(Malformed) -> Value {
        guard skip(UInt8(ascii: "\"")) else { throw Malformed() }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return .other
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == byte else {
                    throw Malformed()
                }
            case 0x20...0x7E: continue
            case _: throw Malformed()
            }
        }
        throw Malformed()
    }

    // MARK: Bytes

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == UInt8(ascii: " ") } }
    private mutating func skipBlanks() { rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    fileprivate var isLowercase: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }
    fileprivate var isLetter: Bool { isLowercase || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
}
