import LoadingKitCore

/// Reads `WWW-Authenticate` and `Proxy-Authenticate`: a list of challenges, each of which may be a list of parameters,
/// with the same comma between both (RFC 9110 §11.6.1). What cannot be read is passed over.
struct ChallengeParser {
    private var scanner: AuthenticationFieldScanner
    private var found: [HTTPAuthenticationChallenge] = []
    /// The challenge whose parameters are being read.
    private var scheme: String?
    private var token: String?
    private var parameters: [String: String] = [:]

    private init(_ value: String) { scanner = AuthenticationFieldScanner(value) }

    /// The challenges of all field lines, in order.
    static func challenges(_ values: [String]) -> [HTTPAuthenticationChallenge] {
        values.flatMap { value in
            var parser = ChallengeParser(value)
            parser.read()
            return parser.found
        }
    }

    /// The parameters of `Authentication-Info`, which names no scheme (RFC 9110 §11.6.3), by their names in lower case.
    static func parameters(_ value: String) -> [String: String] {
        var parser = ChallengeParser(value)
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
                // Each may occur once; the first is what other clients take.
                if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
            } else {
                finish()
                scheme = name
                token = scanner.token68()
            }
        }
        finish()
    }

    private mutating func finish() {
        if let scheme {
            found.append(HTTPAuthenticationChallenge(scheme: scheme, token: token, parameters: parameters))
        }
        scheme = nil
        token = nil
        parameters = [:]
    }
}
