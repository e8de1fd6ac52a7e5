/// The types that a program uses from FoundationNetworking on Linux, and from Foundation on Apple's systems.
enum LoadingNames {
    /// One of these is in each file that may need a change.
    static let words = [
        "FoundationNetworking", "LoadingKit", "URLSession", "URLRequest", "URLResponse", "URLProtocol", "HTTPCookie",
        "URLCache", "URLCredential", "URLProtectionSpace", "URLAuthenticationChallenge",
    ]

    private static var use: Regex<Substring> {
        /\b(?:NS)?URLSession\w*|\bNSMutableURLRequest|\bNSURLRequest|\bURLRequest|\b(?:HTTP|Cached)?URLResponse|\bURLProtocol|\bHTTPCookie(?:Storage)?|\bURLCache|\bURLCredential(?:Storage)?|\bURLProtectionSpace|\bURLAuthenticationChallenge/
    }

    static func used(in code: String) -> [String] {
        guard code.contains("URL") || code.contains("HTTPCookie") else { return [] }
        return code.matches(of: use.wordBoundaryKind(.simple)).compactMap { match in
            match.range.upperBound == code.endIndex || !code[match.range.upperBound].isPartOfName
                ? String(match.output) : nil
        }
    }

    /// The names among them that a file declares itself.
    static func declared(in code: String) -> [String] {
        let declaration = /\b(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)/
        return code.matches(of: declaration.wordBoundaryKind(.simple)).flatMap { used(in: String($0.1)) }
    }
}

extension Character {
    fileprivate var isPartOfName: Bool { isLetter || isNumber || self == "_" }
}
