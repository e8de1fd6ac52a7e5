import Foundation
import LoadingKit

/// The HTTP authentication scheme `Negotiate` (RFC 4559) for servers and proxies: Kerberos with SPNEGO, by the system's
/// GSS-API.
///
/// ```swift
/// let configuration = URLSessionConfiguration.default
/// Negotiate().install(in: configuration)
/// let session = URLSession(configuration: configuration)
/// ```
///
/// It uses the ticket of the user who runs the program (`kinit`, or `KRB5CCNAME`), unless the program answers the
/// challenge (`NSURLAuthenticationMethodNegotiate`, which goes to the session's delegate) with its own credential.
public struct Negotiate: Sendable {
    /// The name of the service for which a ticket is requested.
    public enum ServiceName: Sendable {
        /// `HTTP/` and the URL's host, in the realm that `krb5.conf` maps it to, or that the user's realm refers to. No
        /// answer of a name server can replace it by another service.
        case asWritten
        /// The name that the system's Kerberos library makes, which may query name servers for the host's canonical
        /// name (`dns_canonicalize_hostname`, `rdns` in `krb5.conf`).
        case canonicalizedBySystem
    }

    /// The servers that may get a token: all by default. A host's name, or `*.` and a domain for all hosts within that
    /// domain. A proxy may always get one, because the program has chosen it.
    ///
    /// Where this is nil, a server gets the ticket of the user who runs the program, and no NTLM answer for that user:
    /// unlike a ticket, such an answer is useful to any server that requests it. Servers in this list may get one.
    public var hosts: [String]?

    /// The servers that may get a token without TLS: none by default. An attacker on the network can use an
    /// authenticated connection, or change its data. In the format of ``hosts``.
    public var cleartextHosts: [String] = []

    /// The servers that may act as the user elsewhere, where the ticket permits it (`kinit -f`): none by default. In
    /// the format of ``hosts``.
    public var delegationHosts: [String] = []

    /// Whether a server's response (2xx or 3xx) is refused, with `URLError.badServerResponse`, where it does not prove
    /// that the server knows the service's key. Default true. A wrong proof is always refused. A proxy's proof is
    /// optional, because most proxies send none when they open a tunnel.
    public var requiresMutualAuthentication = true

    /// Whether tokens are bound to the server's certificate (`tls-server-end-point`, RFC 5929). Default true. Set to
    /// false for servers behind an intermediary that terminates TLS with another certificate.
    public var bindsToTLS = true

    /// The form of the service's name. Default ``ServiceName/asWritten``.
    public var serviceName = ServiceName.asWritten

    /// Called with the reason when no token could be made, on a LoadingKit thread. Default nil.
    public var failureHandler: (@Sendable (NegotiateFailure) -> Void)?

    /// Makes Negotiate with its defaults.
    public init() {}

    /// Enables `Negotiate` for sessions that are made from a configuration from now on.
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

    /// Whether the user's own credential may be an NTLM credential: a server could guess the password from the NTLM
    /// answer, or use the answer elsewhere.
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

/// The error when no token could be made for a server or a proxy.
public struct NegotiateFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The server's or the proxy's name.
    public let host: String

    /// The message of the system's GSS-API.
    public let reason: String

    /// The host and the reason.
    public var description: String { "no Negotiate token for \(host): \(reason)" }

    /// The error in plain words.
    public var errorDescription: String? { description }
}
