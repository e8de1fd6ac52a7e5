import LoadingKitPrimitives

/// Parts of field values (RFC 9110 §5.6).
extension StringProtocol {
    /// The parts between the separators. A separator in a quoted string is ignored.
    ///
    /// It processes Unicode scalars, not characters: a combining mark must not hide a separator or a quote.
    @inlinable
    package func splitOutsideQuotes(at separator: Unicode.Scalar) -> [String] {
        var parts: [String] = []
        var part = String.UnicodeScalarView()
        var isQuoted = false
        var isEscaped = false
        for scalar in unicodeScalars {
            if scalar == separator, !isQuoted {
                parts.append(String(part))
                part = String.UnicodeScalarView()
                continue
            }
            part.append(scalar)
            if isEscaped {
                isEscaped = false
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == "\\", isQuoted {
                isEscaped = true
            }
        }
        parts.append(String(part))
        return parts
    }

    /// The string without spaces, tabs and line ends around it.
    @inlinable package var trimmingHTTPWhitespace: String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.isHTTPWhitespace }),
            let last = scalars.lastIndex(where: { !$0.isHTTPWhitespace })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }

    /// The content of a quoted string, with its backslashes resolved; a string without quotes unchanged.
    var unquoted: String {
        guard unicodeScalars.first == "\"" else { return String(self) }
        var result = String.UnicodeScalarView()
        var rest = unicodeScalars.dropFirst().makeIterator()
        while let scalar = rest.next(), scalar != "\"" {
            if scalar == "\\" {
                result.append(rest.next() ?? "\\")
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    /// A `tchar` of RFC 9110 §5.6.2.
    var isHTTPToken: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": true
        default: false
        }
    }

    /// Whether the scalar is space, tab, CR or LF: HTTP whitespace in the Fetch standard.
    @inlinable package var isHTTPWhitespace: Bool {
        self == " " || self == "\t" || self == "\n" || self == "\r"
    }

    /// Whether the scalar may be part of a quoted string (WHATWG MIME Sniffing §3).
    var isHTTPQuotedStringToken: Bool {
        self == "\t" || (" "..."~").contains(self) || ("\u{80}"..."\u{FF}").contains(self)
    }
}

extension StringProtocol {
    /// The string with `A` to `Z` in lower case and everything else unchanged, as protocols compare names.
    var asciiLowercased: String {
        guard utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return String(self) }
        return String(decoding: utf8.map { ASCII.lowercased($0) }, as: UTF8.self)
    }

    /// Whether both are the same, regardless of the case of ASCII letters. Makes no copies.
    func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { ASCII.lowercased($0) == ASCII.lowercased($1) }
    }
}
