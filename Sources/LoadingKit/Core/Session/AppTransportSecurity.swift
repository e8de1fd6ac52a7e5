import Foundation

/// When cleartext `http` may be loaded, and which TLS is good enough, after Apple's App Transport Security.
///
/// By default cleartext may be loaded from this machine, from private addresses, from `.local` names and from unqualified
/// names. A number such as `3405803777` is an address, as the system has it, and no unqualified name. Every other host needs `https`, an entry in ``exceptionDomains``, or ``allowsArbitraryLoads``. A program's
/// Info.plist (`NSAppTransportSecurity`) is read for the default.
///
/// `https` needs cipher suites with forward secrecy and certificates of a certain strength, to local hosts, too; see
/// ``ExceptionDomain``.
public struct AppTransportSecurity: Sendable, Hashable {
    /// What is different for a domain; a key of Apple's `NSExceptionDomains`.
    public struct ExceptionDomain: Sendable, Hashable {
        /// `NSIncludesSubdomains`: whether it holds for all names below the domain, too. Apple's default is false.
        public var includesSubdomains: Bool
        /// `NSExceptionAllowsInsecureHTTPLoads`: whether cleartext may be loaded. Apple's default is false.
        public var allowsInsecureHTTPLoads: Bool
        /// `NSExceptionMinimumTLSVersion`: the oldest version accepted, in place of the configuration's. Nil: no other.
        public var minimumTLSVersion: tls_protocol_version_t?
        /// `NSExceptionRequiresForwardSecrecy`: whether TLS 1.2 is spoken only with cipher suites whose keys nobody can find
        /// out later who learns the server's (ECDHE, DHE). Apple's default is true. TLS 1.3 has no others.
        public var requiresForwardSecrecy: Bool
        /// Whether a server's certificate must have an RSA key of at least 2048 bits or an elliptic one of at least 256, and a
        /// signature with SHA-256 or better. Apple's dictionary has no key for it. Default true. What OpenSSL's security
        /// level demands holds besides.
        public var requiresStrongCertificates: Bool

        /// An exception that allows cleartext, for the domain and all below it.
        public init(
            includesSubdomains: Bool = true, allowsInsecureHTTPLoads: Bool = true,
            minimumTLSVersion: tls_protocol_version_t? = nil, requiresForwardSecrecy: Bool = true,
            requiresStrongCertificates: Bool = true
        ) {
            self.includesSubdomains = includesSubdomains
            self.allowsInsecureHTTPLoads = allowsInsecureHTTPLoads
            self.minimumTLSVersion = minimumTLSVersion
            self.requiresForwardSecrecy = requiresForwardSecrecy
            self.requiresStrongCertificates = requiresStrongCertificates
        }
    }

    /// `NSAllowsArbitraryLoads`: whether cleartext may be loaded from any host without an exception, and TLS with any cipher
    /// suite and certificate that OpenSSL lets pass. Default false.
    public var allowsArbitraryLoads = false

    /// `NSAllowsLocalNetworking`: whether cleartext may be loaded from private addresses, `.local` names and unqualified
    /// names. From this machine itself it always may. Default true.
    public var allowsLocalNetworking = true

    /// Domains for which something else holds. The longest that a host is in counts.
    public var exceptionDomains: [String: ExceptionDomain] = [:]

    /// A policy; by default cleartext is for local hosts alone.
    public init(allowsArbitraryLoads: Bool = false, exceptionDomains: [String: ExceptionDomain] = [:]) {
        self.allowsArbitraryLoads = allowsArbitraryLoads
        self.exceptionDomains = exceptionDomains
    }

    /// Whether cleartext may be loaded from `host` (a name, or an address without brackets).
    package func allowsCleartext(to host: String) -> Bool {
        if LocalHost.isThisMachine(host) || (allowsLocalNetworking && LocalHost.isLocal(host)) { return true }
        return exception(for: host)?.allowsInsecureHTTPLoads ?? allowsArbitraryLoads
    }

    /// The oldest TLS version accepted from `host`, where an exception says so.
    package func minimumTLSVersion(for host: String) -> tls_protocol_version_t? {
        exception(for: host)?.minimumTLSVersion
    }

    /// Whether `host` is spoken to only with cipher suites that have forward secrecy.
    package func requiresForwardSecrecy(of host: String) -> Bool {
        exception(for: host)?.requiresForwardSecrecy ?? !allowsArbitraryLoads
    }

    /// Whether the certificate of `host` has to be as strong as Apple wants it.
    package func requiresStrongCertificate(of host: String) -> Bool {
        exception(for: host)?.requiresStrongCertificates ?? !allowsArbitraryLoads
    }

    private func exception(for host: String) -> ExceptionDomain? {
        if exceptionDomains.isEmpty { return nil }
        let host = LocalHost.canonical(host)
        let matching = exceptionDomains.filter { domain, exception in
            let domain = LocalHost.canonical(domain)
            return host == domain || (exception.includesSubdomains && host.hasSuffix("." + domain))
        }
        return matching.max { $0.key.utf8.count < $1.key.utf8.count }?.value
    }
}

// MARK: - Apple's dictionary

extension AppTransportSecurity {
    /// What the running program's Info.plist says.
    static let ofMainBundle = AppTransportSecurity(infoDictionary: Bundle.main.infoDictionary ?? [:])

    init(infoDictionary: [String: Any]) {
        self.init(dictionary: infoDictionary["NSAppTransportSecurity"] as? [String: Any] ?? [:])
    }

    /// What a dictionary says that is like the value of `NSAppTransportSecurity` in an Info.plist. Keys that Linux gives no
    /// meaning (of media, of web content, of certificate transparency) are passed over.
    public init(dictionary: [String: Any]) {
        allowsArbitraryLoads = dictionary["NSAllowsArbitraryLoads"] as? Bool ?? false
        allowsLocalNetworking = dictionary["NSAllowsLocalNetworking"] as? Bool ?? true
        for (domain, value) in dictionary["NSExceptionDomains"] as? [String: Any] ?? [:] {
            guard let rule = value as? [String: Any] else { continue }
            exceptionDomains[domain] = ExceptionDomain(
                includesSubdomains: rule["NSIncludesSubdomains"] as? Bool ?? false,
                allowsInsecureHTTPLoads: rule["NSExceptionAllowsInsecureHTTPLoads"] as? Bool ?? false,
                minimumTLSVersion: (rule["NSExceptionMinimumTLSVersion"] as? String).flatMap(Self.version),
                requiresForwardSecrecy: rule["NSExceptionRequiresForwardSecrecy"] as? Bool ?? true)
        }
    }

    private static func version(_ text: String) -> tls_protocol_version_t? {
        switch text {
        case "TLSv1.0": .TLSv10
        case "TLSv1.1": .TLSv11
        case "TLSv1.2": .TLSv12
        case "TLSv1.3": .TLSv13
        case _: nil
        }
    }
}
