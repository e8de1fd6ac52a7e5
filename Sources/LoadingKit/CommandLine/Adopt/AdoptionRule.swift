/// A use that behaves differently (Migrating.md), or that LoadingKit does not have.
struct AdoptionRule {
    /// Each line with the use has this word. It is found faster than the pattern.
    let word: String
    let pattern: Regex<AnyRegexOutput>
    let text: String

    init(_ word: String, _ pattern: Regex<some Any>, _ text: String) {
        (self.word, self.text) = (word, text)
        // A dot between letters is a boundary.
        self.pattern = Regex<AnyRegexOutput>(pattern).wordBoundaryKind(.simple)
    }

    static var all: [AdoptionRule] {
        [
            AdoptionRule(
                "\"http://", /"http:\/\/(?!localhost|127\.|10\.|192\.168\.|[^"\/:]*\.local\b)[^"\/:]*\./,
                "plain http to other machines fails with -1022: https, or configuration.appTransportSecurity"),
            AdoptionRule(
                "URLProtocol", /\bclass\s+\w+\s*:(?!.*Sendable).*\bURLProtocol\b/,
                "a subclass of URLProtocol restates @unchecked Sendable"),
            AdoptionRule(
                "CF", /\bimport\s+CFNetwork\b|\bCF(HTTP|FTP)\w+|\bCFNetwork[A-Z]/, "LoadingKit has no CFNetwork"),
            AdoptionRule(
                "HTTPTypesFoundation", /\bimport\s+HTTPTypesFoundation\b/,
                "its requests are FoundationNetworking's: LoadingKitHTTPTypes has the same methods (package trait HTTPTypes)"
            ),
            AdoptionRule(
                "N", /\bNSURLConnection\b|\bNSURLDownload\b|\bNetService\b/,
                "LoadingKit does not have this class: sessions and tasks take its place"),
            AdoptionRule(
                ".observe(", /\.observe\(\\(URLSession\w*)?\.(state|progress|countOf\w+|fractionCompleted)/,
                "Linux has no KVO: a delegate's methods, or reading URLSessionTask.progress"),
            AdoptionRule(
                "(contentsOf:", /\(contentsOf:\s*URL\(string:/,
                "Foundation loads this itself, and http only with FoundationNetworking: load it with a session"),
            AdoptionRule("closeCode", /\bswitch\b.*\bcloseCode\b/, "a switch over close codes needs a default"),
        ]
    }
}
