import Foundation
import LoadingKit

/// The HTTP authentication scheme `Negotiate` (RFC 4559) for servers and proxies: Kerberos by SPNEGO, with the system's
/// GSS-API.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default
/// Negotiate().install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// ```
///
/// The ticket of the user who runs the program is used (`kinit`, or `KRB5CCNAME`), unless the program answers the challenge
/// (`NSURLAuthenticationMethodNegotiate`, which goes to the session's delegate) with a credential of its own.
public struct Negotiate: Sendable {
    /// The name of the service that a ticket is requested for.
    public enum ServiceName: Sendable {
        /// `HTTP/` and the host as the URL has it, in the realm that `krb5.conf` maps it to, or that the user's realm refers
        /// to. No answer of a name server can make it another service.
        case asWritten
        /// As the system's Kerberos library makes it, which may ask name servers for the host's canonical name
        /// (`dns_canonicalize_hostname`, `rdns` in `krb5.conf`).
        case canonicalizedBySystem
    }

    /// The servers that may have a token: all by default. A host's name, or `*.` and a domain for all hosts within that
    /// domain. A proxy may always have one, as the program has chosen it.
    ///
    /// Where this is nil, a server gets the ticket of the user who runs the program, and no answer of NTLM for that user: other
    /// than a ticket it is of use to any server that asks for it. Servers that are named here may have one.
    public var hosts: [String]?

    /// The servers that may have a token without TLS: none by default. Somebody on the way can use the connection, or
    /// change what it carries, once it is authenticated. Written as ``hosts``.
    public var cleartextHosts: [String] = []

    /// The servers that get the right to act as the user elsewhere, where the ticket allows it (`kinit -f`): none by
    /// default. Written as ``hosts``.
    public var delegationHosts: [String] = []

    /// Whether a response of a server (2xx or 3xx) is refused, with `URLError.badServerResponse`, where it does not
    /// prove that the server knows the service's key. Default true. A wrong proof is refused in any case. A proxy's proof
    /// is optional, as most give none when they open a tunnel.
    public var requiresMutualAuthentication = true

    /// Whether tokens are bound to the server's certificate (`tls-server-end-point`, RFC 5929). Default true. False for
    /// servers behind something else that ends TLS with another certificate.
    public var bindsToTLS = true

    /// Default ``ServiceName/asWritten``.
    public var serviceName = ServiceName.asWritten

    /// Told why no token could be made, on a thread of LoadingKit's. Default nil.
    public var failureHandler: (@Sendable (NegotiateFailure) -> Void)?

    /// Negotiate with its defaults.
    public init() {}

    /// Has the sessions that are made of a configuration from now on answer `Negotiate`.
    public func install(in configuration: URLSessionConfiguration) {
        let credentials = CredentialCache()
        configuration.register(authenticationScheme: NegotiateScheme.self) { _, request in
            permits(request) ? NegotiateScheme(self, credentials) : nil
        }
    }

    func permits(_ request: HTTPAuthenticationRequest) -> Bool {
        if request.isProxy { return true }
        if let hosts, !Self.contains(hosts, request.host) { return false }
        return request.isSecure || Self.contains(cleartextHosts, request.host)
    }

    /// Whether the user's own credential may be one of NTLM: a server could guess the password from its answer, or use that
    /// elsewhere.
    func trustsWithNTLM(_ request: HTTPAuthenticationRequest) -> Bool {
        request.isProxy || hosts.map { Self.contains($0, request.host) } ?? false
    }

    func delegates(to request: HTTPAuthenticationRequest) -> Bool {
        !request.isProxy && Self.contains(delegationHosts, request.host)
    }

    private static func contains(_ patterns: [String], _ host: String) -> Bool {
        let host = host.lowercased()
        return patterns.contains { pattern in
            let pattern = pattern.lowercased()
            guard pattern.hasPrefix("*.") else { return host == pattern }
            return host.hasSuffix(pattern.dropFirst()) && host.count >= pattern.count
        }
    }
}

/// Why no token could be made for a server or a proxy.
public struct NegotiateFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The server's or the proxy's name.
    public let host: String

    /// What the system's GSS-API says.
    public let reason: String

    /// Both.
    public var description: String { "no Negotiate token for \(host): \(reason)" }

    /// What happened, in plain words.
    public var errorDescription: String? { description }
}
