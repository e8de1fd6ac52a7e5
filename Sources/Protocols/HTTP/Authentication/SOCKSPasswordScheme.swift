import LoadingKitCore
import LoadingKitProxies

/// Lets `AuthenticationHandshake` answer a SOCKS 5 proxy that requires a user and password (RFC 1929). The value that
/// the scheme makes is not sent: `SOCKS5Handshake` sends the credential.
struct SOCKSPasswordScheme: HTTPAuthenticationScheme {
    static let name = "SOCKS5"
    static let authenticationMethod = NSURLAuthenticationMethodDefault

    let realm: String? = nil
    let strength = 10

    init?(_ challenge: HTTPAuthenticationChallenge) {}

    /// Nil if the user or the password is too long for SOCKS 5.
    func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? {
        guard let user = credential.user, let password = credential.password,
            Proxy.Credential(user: user, password: password).isValidForSOCKS5
        else { return nil }
        return "\(user):\(password)"
    }

    func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { false }

    /// The credential is for all connections through the proxy.
    func paths(around path: String) -> [String] { ["/"] }
}

extension Proxy.Credential {
    /// Whether SOCKS 5 can send the credential: a length has one byte (RFC 1929 §2).
    var isValidForSOCKS5: Bool { (1...255).contains(user.utf8.count) && password.utf8.count <= 255 }
}
