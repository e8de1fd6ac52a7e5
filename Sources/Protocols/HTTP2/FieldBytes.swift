import LoadingKitPrimitives

/// What bytes a field's name and value may have when it is sent (RFC 9113 §8.2.1, RFC 9110 §5).
enum FieldBytes {
    /// Which bytes a token may have; capital letters are made small when they are sent.
    private static let isTokenByte: [Bool] = (0...255).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(UInt8(byte))
        }
    }

    /// Whether bytes are a token.
    static func isToken(_ name: UnsafeRawBufferPointer) -> Bool {
        guard !name.isEmpty else { return false }
        return isTokenByte.withUnsafeBufferPointer { table in
            for byte in name where !table[Int(byte)] { return false }
            return true
        }
    }

    /// Whether bytes are a value that may be sent: no NUL, CR or LF, and no white space around it.
    static func isValue(_ value: UnsafeRawBufferPointer) -> Bool {
        guard let first = value.first, let last = value.last else { return true }
        guard first != 0x20, first != 0x09, last != 0x20, last != 0x09 else { return false }
        for byte in value where byte < 0x0e && (byte == 0 || byte == 0x0a || byte == 0x0d) { return false }
        return true
    }

    /// Whether text is not empty and has no white space or control character: a path, an authority.
    static func isVisible(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
}
