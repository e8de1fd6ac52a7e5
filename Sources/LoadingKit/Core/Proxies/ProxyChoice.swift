/// One way to a server: directly, or through a proxy.
public struct ProxyChoice: Hashable, Sendable {
    /// What is spoken with a proxy.
    public enum Kind: Hashable, Sendable {
        /// HTTP (RFC 9110 §3.7): `http` requests are sent in absolute form, everything else in a tunnel.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS 4A: the proxy resolves names.
        case socks4
        /// SOCKS 5 (RFC 1928): the proxy resolves names.
        case socks5
    }

    /// A proxy's address, and the credential for it.
    public struct Server: Hashable, Sendable {
        /// What is spoken with it.
        public let kind: Kind
        /// A name or an address, lowercase and without brackets.
        public let host: String
        /// The TCP port, from 1.
        public let port: UInt16
        /// Nil where the proxy gets no credential before it requires one.
        public let user: String?
        /// That user's password.
        public let password: String?

        package init(kind: Kind, host: String, port: UInt16, user: String?, password: String?) {
            self.kind = kind
            self.host = host
            self.port = port
            self.user = user
            self.password = password
        }
    }

    /// Nil where no proxy is used.
    public let server: Server?

    /// No proxy.
    public static let direct = ProxyChoice(server: nil)

    /// A proxy.
    ///
    /// - Parameters:
    ///   - host: A name or an address, with or without brackets. A name that no server can have makes a proxy that cannot
    ///     be reached.
    ///   - port: From 1; 0 stands for the usual one: 80 for HTTP, 443 for HTTP over TLS, and 1080 for SOCKS.
    ///   - user: For a proxy that requires a credential. It is sent before the proxy requires it.
    public init(_ kind: Kind, host: String, port: UInt16, user: String? = nil, password: String? = nil) {
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = hasBrackets ? String(host.dropFirst().dropLast()) : host
        server = Server(
            kind: kind, host: bare.lowercased(), port: port > 0 ? port : kind.usualPort, user: user, password: password)
    }

    private init(server: Server?) { self.server = server }
}

extension ProxyChoice.Kind {
    fileprivate var usualPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        case .socks4, .socks5: 1080
        }
    }
}
