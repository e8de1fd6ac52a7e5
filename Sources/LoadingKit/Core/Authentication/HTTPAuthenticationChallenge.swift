/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field: a scheme's name, and its token or parameters
/// (RFC 9110 §11.3).
public struct HTTPAuthenticationChallenge: Sendable, Hashable {
    /// The scheme's name, as the server wrote it.
    public let scheme: String

    /// The token that some schemes have instead of parameters (`token68`); nil where there is none.
    public let token: String?

    /// The parameters, unquoted, by their names in lower case.
    public let parameters: [String: String]

    /// A challenge, as a server would make it. Of two names that differ only in case, one is kept.
    public init(scheme: String, token: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.token = token
        self.parameters = Dictionary(parameters.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }

    /// The value of a parameter; nil where there is none. The name is given in lower case.
    public subscript(name: String) -> String? { parameters[name] }

    /// Whether the challenge is of this scheme.
    public func isOf(_ type: any HTTPAuthenticationScheme.Type) -> Bool {
        scheme.lowercased() == type.name.lowercased()
    }
}
