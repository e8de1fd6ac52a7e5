/// Pieces of field values (RFC 9110 §5.6).
extension StringProtocol {
    /// The parts between the separators. A separator in a quoted string does not count.
    ///
    /// It reads Unicode scalars, not characters: a combining mark must not hide a separator or a quote.
    func splitOutsideQuotes(at separator: Unicode.Scalar) -> [String] {
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
    var trimmingHTTPWhitespace: String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.isHTTPWhitespace }),
            let last = scalars.lastIndex(where: { !$0.isHTTPWhitespace })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }

    /// The content of a quoted string, its backslashes resolved; a string without quotes as it is.
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
