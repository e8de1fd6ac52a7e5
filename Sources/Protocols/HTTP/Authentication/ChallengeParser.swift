import LoadingKitCore
import LoadingKitPrimitives

/// Parses `WWW-Authenticate` and `Proxy-Authenticate`: a list of challenges, each with a list of parameters, both
/// separated by commas (RFC 9110 §11.6.1). Elements that cannot be parsed are skipped.
struct ChallengeParser {
    private var scanner: AuthenticationFieldScanner
    private var found: [HTTPAuthenticationChallenge] = []
    private var scheme: String?
    private var token: String?
    private var parameters: [String: String] = [:]
    private var inLatin1: Set<String> = []

    private init(_ value: [UInt8]) { scanner = AuthenticationFieldScanner(value) }

    static func challenges(_ values: [String]) -> [HTTPAuthenticationChallenge] {
        values.flatMap { parse(Array($0.utf8)) }
    }

    static func challenges(in fields: HTTPFields, _ field: KnownField) -> [HTTPAuthenticationChallenge] {
        var all: [HTTPAuthenticationChallenge] = []
        fields.forEachValue(of: field) { all += parse(Array($0)) }
        return all
    }

    private static func parse(_ value: [UInt8]) -> [HTTPAuthenticationChallenge] {
        var parser = ChallengeParser(value)
        parser.read()
        return parser.found
    }

    /// The parameters of `Authentication-Info`, which names no scheme, by lowercase names (RFC 9110 §11.6.3).
    static func parameters(_ value: String) -> [String: String] {
        var parser = ChallengeParser(Array(value.utf8))
        parser.scheme = ""
        parser.read()
        return parser.found.first?.parameters ?? [:]
    }

    private mutating func read() {
        while scanner.skipToElement() {
            guard let name = scanner.token() else {
                scanner.skipElement()
                continue
            }
            if let value = scanner.parameterValue() {
                add(name.lowercased(), value)
            } else {
                finish()
                scheme = name
                token = scanner.token68()
            }
        }
        finish()
    }

    /// Each parameter may occur once. If one is repeated, the first counts, as in other clients.
    private mutating func add(_ name: String, _ value: [UInt8]) {
        guard parameters[name] == nil else { return }
        if String(validating: value, as: UTF8.self) == nil { inLatin1.insert(name) }
        parameters[name] = value.withUnsafeBytes { FieldText.string($0) }
    }

    private mutating func finish() {
        if let scheme {
            var challenge = HTTPAuthenticationChallenge(scheme: scheme, token: token, parameters: parameters)
            challenge.parametersInLatin1 = inLatin1
            found.append(challenge)
        }
        scheme = nil
        token = nil
        parameters = [:]
        inLatin1 = []
    }
}

/// Scans the tokens of authentication fields (RFC 9110 §5.6, §11). It never fails: missing parts are nil.
struct AuthenticationFieldScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: [UInt8]) { bytes = value }

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

    /// Skips empty elements, to the next element of a list (RFC 9110 §5.6.1). Returns false at the end.
    mutating func skipToElement() -> Bool {
        skip { ASCII.isSpace($0) || $0 == UInt8(ascii: ",") }
        return next != nil
    }

    /// Skips an element that begins neither a scheme nor a parameter.
    mutating func skipElement() {
        if next == UInt8(ascii: "\"") { _ = quotedString() } else { position += next == nil ? 0 : 1 }
        skip { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
    }

    mutating func token() -> String? { take(while: ASCII.isTokenByte) }

    /// The token that a scheme has instead of parameters. It ends the list's element.
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

    /// The value after a parameter's name, unquoted; nil if there is no `=`.
    mutating func parameterValue() -> [UInt8]? {
        let start = position
        skipSpace()
        guard next == UInt8(ascii: "=") else {
            position = start
            return nil
        }
        position += 1
        skipSpace()
        if next == UInt8(ascii: "\"") { return quotedString() }
        // Some servers forget the quotes around a value that is not a token.
        let first = position
        skip { !ASCII.isSpace($0) && $0 != UInt8(ascii: ",") }
        return Array(bytes[first..<position])
    }

    /// A quoted string without a closing quote ends with the field.
    private mutating func quotedString() -> [UInt8] {
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
        return text
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        ASCII.isLetterOrDigit(byte) || "-._~+/".utf8.contains(byte)
    }
}
