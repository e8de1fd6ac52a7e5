/// One element of `Sec-WebSocket-Extensions` (RFC 6455 §9.1).
struct WebSocketExtension: Hashable {
    struct Parameter: Hashable {
        var name: String
        /// The unquoted value; nil if there is none.
        var value: String?
    }

    var name: String
    var parameters: [Parameter] = []

    /// The elements of the field's values; nil if one of them is malformed.
    static func list(_ values: [String]) -> [WebSocketExtension]? {
        var all: [WebSocketExtension] = []
        for value in values {
            var scanner = ExtensionScanner(value)
            guard let elements = scanner.readList() else { return nil }
            all += elements
        }
        return all
    }
}

/// Parses extensions and their parameters, whose names are tokens (RFC 9110 §5.6).
private struct ExtensionScanner {
    private var rest: Substring.UTF8View

    init(_ value: String) { rest = Substring(value).utf8 }

    mutating func readList() -> [WebSocketExtension]? {
        var elements: [WebSocketExtension] = []
        while true {
            while skip(",") {}
            if rest.isEmpty { return elements }
            guard let element = readElement() else { return nil }
            elements.append(element)
            guard rest.isEmpty || skip(",") else { return nil }
        }
    }

    private mutating func readElement() -> WebSocketExtension? {
        guard let name = readToken() else { return nil }
        var element = WebSocketExtension(name: name)
        while skip(";") {
            guard let name = readToken() else { return nil }
            var parameter = WebSocketExtension.Parameter(name: name)
            if skip("=") {
                guard let value = readToken() ?? readQuotedString() else { return nil }
                parameter.value = value
            }
            element.parameters.append(parameter)
        }
        return element
    }

    /// Skips spaces, and the character if it is next. Returns whether it was.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        rest = rest.drop(while: ASCII.isSpace)
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        rest = rest.drop(while: ASCII.isSpace)
        return true
    }

    private mutating func readToken() -> String? {
        let token = rest.prefix(while: ASCII.isTokenByte)
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(Substring(token)).lowercased()
    }

    private mutating func readQuotedString() -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        var isEscaped = false
        for index in rest.indices.dropFirst() {
            let byte = rest[index]
            if !isEscaped, byte == UInt8(ascii: "\"") {
                rest = rest[rest.index(after: index)...]
                return String(decoding: text, as: UTF8.self)
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { text.append(byte) }
        }
        return nil
    }
}
