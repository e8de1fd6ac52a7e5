/// One route to a server: direct, or through a proxy.
public struct ProxyChoice: Hashable, Sendable {
    /// The protocol between client and proxy.
    public enum Kind: Hashable, Sendable, CaseIterable {
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
        private struct Parts: Hashable {
            let kind: Kind
            let host: String
            let port: UInt16
            let user: String?
            let password: String?
        }

        private final class Storage: Sendable {
            let parts: Parts

            init(_ parts: Parts) { self.parts = parts }
        }

        /// In an object, because a proxy is determined for each request, and most requests have no proxy or the same
        /// one.
        private let storage: Storage

        /// The protocol between client and proxy.
        public var kind: Kind { storage.parts.kind }
        /// A name or an address, in lower case and without brackets.
        public var host: String { storage.parts.host }
        /// The TCP port, from 1.
        public var port: UInt16 { storage.parts.port }
        /// Nil where no credential is sent before the proxy requires one.
        public var user: String? { storage.parts.user }
        /// The password of ``user``.
        public var password: String? { storage.parts.password }

        package init(kind: Kind, host: String, port: UInt16, user: String?, password: String?) {
            storage = Storage(Parts(kind: kind, host: host, port: port, user: user, password: password))
        }

        /// Whether all properties of both are the same.
        public static func == (left: Server, right: Server) -> Bool {
            left.storage === right.storage || left.storage.parts == right.storage.parts
        }

        /// Hashes all properties.
        public func hash(into hasher: inout Hasher) { hasher.combine(storage.parts) }
    }

    /// Nil where no proxy is used.
    public let server: Server?

    /// No proxy.
    public static let direct = ProxyChoice(server: nil)

    /// A proxy.
    ///
    /// - Parameters:
    ///   - host: A name or an address, with or without brackets. With a name that no server can have, the proxy cannot
    ///     be reached.
    ///   - port: At least 1; 0 stands for the usual port: 80 for HTTP, 443 for HTTP over TLS, and 1080 for SOCKS.
    ///   - user: The user name for a proxy that requires a credential. It is sent before the proxy requires it.
    public init(_ kind: Kind, host: String, port: UInt16, user: String? = nil, password: String? = nil) {
        let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = hasBrackets ? String(host.dropFirst().dropLast()) : host
        server = Server(
            kind: kind, host: bare.lowercased(), port: port > 0 ? port : kind.usualPort, user: user, password: password)
    }

    private init(server: Server?) { self.server = server }
}
