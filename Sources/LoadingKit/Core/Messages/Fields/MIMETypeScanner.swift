/// Scans the parts of a MIME type from left to right (WHATWG MIME Sniffing §4.4).
struct MIMETypeScanner {
    /// A parameter as it was in the text, valid or not.
    struct Parameter {
        var name: String.UnicodeScalarView
        var value: String.UnicodeScalarView

        /// Name and value; nil where they are not valid. The scanner has already rejected an empty value without
        /// quotes.
        var valid: (name: String, value: String)? {
            guard !name.isEmpty, name.allSatisfy(\.isHTTPToken), value.allSatisfy(\.isHTTPQuotedStringToken) else {
                return nil
            }
            return (String(name).asciiLowercased, String(value))
        }
    }

    private var rest: Substring.UnicodeScalarView

    init(_ string: some StringProtocol) {
        rest = Substring(string).unicodeScalars
        while let first = rest.first, first.isHTTPWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isHTTPWhitespace { rest.removeLast() }
    }

    /// Scans the type. Nil when no slash follows it.
    mutating func takeType() -> String? {
        let type = take { $0 != "/" }
        guard rest.popFirst() != nil else { return nil }
        return Self.lowercasedToken(type)
    }

    /// Scans the subtype, up to the first parameter. Nil when it is not valid.
    mutating func takeSubtype() -> String? {
        var subtype = take { $0 != ";" }
        while let last = subtype.last, last.isHTTPWhitespace { subtype.removeLast() }
        return Self.lowercasedToken(subtype)
    }

    mutating func takeParameter() -> Parameter? {
        while rest.popFirst() != nil {  // the semicolon
            _ = take(while: \.isHTTPWhitespace)
            let name = String.UnicodeScalarView(take { $0 != ";" && $0 != "=" })
            guard rest.first == "=" else { continue }  // a name without a value is ignored
            rest.removeFirst()
            if rest.first == "\"" {
                let value = takeQuotedString()
                _ = take { $0 != ";" }
                return Parameter(name: name, value: value)
            }
            var value = take { $0 != ";" }
            while let last = value.last, last.isHTTPWhitespace { value.removeLast() }
            guard !value.isEmpty else { continue }
            return Parameter(name: name, value: String.UnicodeScalarView(value))
        }
        return nil
    }

    /// The text between the quotes, with its backslashes resolved (Fetch, "collect an HTTP quoted string").
    private mutating func takeQuotedString() -> String.UnicodeScalarView {
        var value = String.UnicodeScalarView()
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"":
                return value
            case "\\":
                value.append(rest.popFirst() ?? "\\")
            default:
                value.append(scalar)
            }
        }
        return value
    }

    private mutating func take(while matches: (Unicode.Scalar) -> Bool) -> Substring.UnicodeScalarView {
        let taken = rest.prefix(while: matches)
        rest = rest[taken.endIndex...]
        return taken
    }

    private static func lowercasedToken(_ scalars: Substring.UnicodeScalarView) -> String? {
        guard !scalars.isEmpty, scalars.allSatisfy(\.isHTTPToken) else { return nil }
        return String(Substring(scalars)).asciiLowercased
    }
}
