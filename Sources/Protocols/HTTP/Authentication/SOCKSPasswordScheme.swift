import LoadingKitCore

/// The user and password that a SOCKS 5 proxy may demand (RFC 1929), for the machinery of challenges. What is sent is no
/// text: the handshake makes it of the credential.
struct SOCKSPasswordScheme: HTTPAuthenticationScheme {
    static let name = "SOCKS5"
    static let authenticationMethod = NSURLAuthenticationMethodDefault

    let realm: String? = nil
    let strength = 10

    init?(_ challenge: HTTPAuthenticationChallenge) {}

    /// Nil for what is too long to be told.
    func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? {
        guard let user = credential.user, let password = credential.password,
            Proxy.Credential(user: user, password: password).isTellable
        else { return nil }
        return "\(user):\(password)"
    }

    func goesOn(after challenge: HTTPAuthenticationChallenge) -> Bool { false }

    /// All connections through the proxy.
    func paths(around path: String) -> [String] { ["/"] }
}

extension Proxy.Credential {
    /// Whether SOCKS 5 has room for it: a length is one byte.
    var isTellable: Bool { (1...255).contains(user.utf8.count) && password.utf8.count <= 255 }
}
