import LoadingKitPrimitives

extension Unicode.Scalar {
    /// A `tchar` of RFC 9110 §5.6.2.
    var isHTTPToken: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": true
        default: false
        }
    }

    /// Space, tab, CR or LF: what the Fetch standard calls HTTP whitespace.
    var isHTTPWhitespace: Bool {
        self == " " || self == "\t" || self == "\n" || self == "\r"
    }

    /// What may stand in a quoted string (WHATWG MIME Sniffing §3).
    var isHTTPQuotedStringToken: Bool {
        self == "\t" || (" "..."~").contains(self) || ("\u{80}"..."\u{FF}").contains(self)
    }
}

extension StringProtocol {
    /// The string with `A` to `Z` lower-cased and all else untouched, as protocols compare names.
    var asciiLowercased: String {
        guard utf8.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else { return String(self) }
        return String(decoding: utf8.map { ASCII.lowercased($0) }, as: UTF8.self)
    }

    /// Whether both are the same without regard to the case of ASCII letters. Makes no copies.
    func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { ASCII.lowercased($0) == ASCII.lowercased($1) }
    }
}
