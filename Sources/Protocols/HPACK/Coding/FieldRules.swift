/// The rules for names and values in header lists (RFC 9113 §8.2, §8.3).
enum FieldRules {
    /// The kind of a name, and its errors.
    static func check(name: UnsafeRawBufferPointer) -> (kind: FieldNameKind, malformation: HPACKMalformation) {
        guard let first = name.first else { return (.field(.other), .invalidName) }
        if first == UInt8(ascii: ":") {
            if let pseudo = HPACKPseudoFieldName(nameBytes: name) { return (.pseudo(pseudo), []) }
            return (.unknownPseudo, .unknownPseudoField)
        }
        var seen: UInt8 = 0
        nameBytes.withUnsafeBufferPointer { classes in for byte in name { seen |= classes[Int(byte)] } }
        var malformation: HPACKMalformation = []
        if seen & capital != 0 { malformation.insert(.uppercaseName) }
        if seen & forbidden != 0 { malformation.insert(.invalidName) }
        let known = KnownField(nameBytes: name)
        if known.isConnectionSpecific { malformation.insert(.connectionSpecificField) }
        return (.field(known), malformation)
    }

    /// The errors of the value of a field of this kind.
    static func check(value: UnsafeRawBufferPointer, of kind: FieldNameKind) -> HPACKMalformation {
        guard let first = value.first, let last = value.last else { return [] }
        var malformation: HPACKMalformation = []
        if mayHaveControl(value), value.contains(where: isControl) { malformation.insert(.invalidValue) }
        if ASCII.isSpace(first) || ASCII.isSpace(last) { malformation.insert(.whitespaceAroundValue) }
        if kind == .field(.te), !ASCII.equalsIgnoringCase(value, "trailers") {
            malformation.insert(.connectionSpecificField)
        }
        return malformation
    }

    private static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }

    /// Whether any byte is below 0x20 or is 0x7F. Eight bytes are checked at a time; the last eight overlap earlier
    /// ones.
    private static func mayHaveControl(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 8 else { return value.contains(where: isControl) }
        let last = value.count &- 8
        var offset = 0
        while true {
            let word = value.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let deletes = word ^ 0x7F7F_7F7F_7F7F_7F7F
            // The subtraction sets the highest bit of the first smaller byte, which was not set before.
            let below = (word &- 0x2020_2020_2020_2020) & ~word
            let zero = (deletes &- 0x0101_0101_0101_0101) & ~deletes
            if (below | zero) & 0x8080_8080_8080_8080 != 0 { return true }
            if offset == last { return false }
            offset = min(offset &+ 8, last)
        }
    }

    private static let capital: UInt8 = 1
    private static let forbidden: UInt8 = 2

    /// The class of each byte: ``capital``, ``forbidden``, or 0 for the bytes of a lowercase token (RFC 9110 §5.6.2).
    private static let nameBytes: [UInt8] = (0...255).map { (byte: UInt8) in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): 0
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): capital
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte) ? 0 : forbidden
        }
    }
}
