import LoadingKitPrimitives

/// Reads the words of authentication fields (RFC 9110 §5.6, §11). Never fails: what is not there is nil.
struct AuthenticationFieldScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) { bytes = Array(value.utf8) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while let byte = next, isSkipped(byte) { position += 1 }
    }

    private mutating func take(while isTaken: (UInt8) -> Bool) -> String? {
        let start = position
        skip(while: isTaken)
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    mutating func skipSpace() { skip(while: ASCII.isSpace) }

    /// To the next element of a list, past empty ones (RFC 9110 §5.6.1). False at the end.
    mutating func skipToElement() -> Bool {
        skip { ASCII.isSpace($0) || $0 == UInt8(ascii: ",") }
        return next != nil
    }

    /// Past what begins neither a scheme nor a parameter.
    mutating func skipElement() {
        if next == UInt8(ascii: "\"") { _ = quotedString() } else { position += next == nil ? 0 : 1 }
        skip { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
    }

    mutating func token() -> String? { take(while: ASCII.isTokenByte) }

    /// What stands after a scheme's name in the place of parameters; it ends with the list's element.
    mutating func token68() -> String? {
        let start = position
        skipSpace()
        let first = position
        skip(while: Self.isToken68Byte)
        guard position > first, first > start else {
            position = start
            return nil
        }
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        skipSpace()
        guard next == nil || next == UInt8(ascii: ",") else {
            position = start
            return nil
        }
        return String(decoding: bytes[first..<end], as: UTF8.self)
    }

    /// The value after a parameter's name, unquoted; nil when there is no `=`.
    mutating func parameterValue() -> String? {
        let start = position
        skipSpace()
        guard next == UInt8(ascii: "=") else {
            position = start
            return nil
        }
        position += 1
        skipSpace()
        if next == UInt8(ascii: "\"") { return quotedString() }
        // Some servers forget to quote what is no token.
        return take { !ASCII.isSpace($0) && $0 != UInt8(ascii: ",") } ?? ""
    }

    /// A string whose end is missing ends with the field.
    private mutating func quotedString() -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            position += 1
            if byte == UInt8(ascii: "\\"), let escaped = next {
                text.append(escaped)
                position += 1
            } else {
                text.append(byte)
            }
        }
        if next != nil { position += 1 }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~+/".utf8.contains(byte)
    }
}
