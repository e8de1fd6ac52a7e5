import Foundation

/// The rules for cleartext `http`, and for the strength of TLS, after Apple's App Transport Security.
///
/// By default, cleartext may be loaded from this machine, from private addresses, from `.local` names and from
/// unqualified names. A number such as `3405803777` is an address to the system, and not an unqualified name. Every
/// other host requires `https`, an entry in ``exceptionDomains``, or ``allowsArbitraryLoads``. The default policy is
/// the one in the program's Info.plist (`NSAppTransportSecurity`).
///
/// `https` requires cipher suites with forward secrecy, and certificates of a minimum strength, for local hosts, too:
/// see ``ExceptionDomain``.
///
/// Domains may be written in Unicode (`bücher.example`) or in ASCII (`xn--bcher-kva.example`).
public struct AppTransportSecurity: Sendable, Hashable {
    /// The rules for a domain with an entry of its own in Apple's `NSExceptionDomains`.
    public struct ExceptionDomain: Sendable, Hashable {
        /// `NSIncludesSubdomains`: whether the rules also apply to all names below the domain. Apple's default is
        /// false.
        public var includesSubdomains: Bool
        /// `NSExceptionAllowsInsecureHTTPLoads`: whether cleartext may be loaded. Apple's default is false.
        public var allowsInsecureHTTPLoads: Bool
        /// `NSExceptionMinimumTLSVersion`: the oldest version accepted. Nil: the configuration's.
        public var minimumTLSVersion: tls_protocol_version_t?
        /// `NSExceptionRequiresForwardSecrecy`: whether TLS 1.2 is used only with cipher suites that have forward
        /// secrecy (ECDHE, DHE): a recorded connection cannot be decrypted later with the server's key. All cipher
        /// suites of TLS 1.3 have it. Apple's default is true.
        public var requiresForwardSecrecy: Bool
        /// Whether a server's certificate must have an RSA key of at least 2048 bits or an elliptic-curve key of at
        /// least 256 bits, and a signature with SHA-256 or better. Apple's dictionary has no key for it. Default true.
        /// The requirements of OpenSSL's security level always apply.
        public var requiresStrongCertificates: Bool

        /// An exception that permits cleartext, for the domain and all names below it.
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

    /// `NSAllowsArbitraryLoads`: whether cleartext may be loaded from any host that has no entry in
    /// ``exceptionDomains``. TLS with such a host may use any cipher suite and certificate that OpenSSL accepts.
    /// Default false.
    public var allowsArbitraryLoads = false

    /// `NSAllowsLocalNetworking`: whether cleartext may be loaded from private addresses, `.local` names and
    /// unqualified names. Cleartext from this machine itself is always permitted. Default true.
    public var allowsLocalNetworking = true

    /// Domains with their own rules. Of several that contain a host, the longest applies.
    public var exceptionDomains: [String: ExceptionDomain] = [:]

    /// `NSPinnedDomains`: domains whose servers must present certain public keys, in addition to trusted certificates.
    /// Of several that contain a host, the longest applies. Default: none.
    public var pinnedDomains: [String: PinnedDomain] = [:]

    /// The pinned public keys of a domain's servers: an entry of Apple's `NSPinnedDomains`. A server must have one of
    /// the keys.
    ///
    /// Each key is identified by the SHA-256 of its SubjectPublicKeyInfo, as in ``X509Certificate/publicKeySHA256``.
    /// Where there are identities of both kinds, a server needs one of each.
    public struct PinnedDomain: Sendable, Hashable {
        /// `NSIncludesSubdomains`: whether the pins also apply to all names below the domain. Apple's default is false.
        public var includesSubdomains: Bool
        /// `NSPinnedCAIdentities`: authorities. The chain of the server's certificate must contain one of them, above
        /// that certificate. Empty: any.
        public var authorities: Set<Data>
        /// `NSPinnedLeafIdentities`: servers' own certificates. Empty: any.
        public var leaves: Set<Data>

        /// The pins of a domain.
        public init(includesSubdomains: Bool = false, authorities: Set<Data> = [], leaves: Set<Data> = []) {
            self.includesSubdomains = includesSubdomains
            self.authorities = authorities
            self.leaves = leaves
        }
    }

    /// A policy; by default cleartext is permitted for local hosts only.
    public init(allowsArbitraryLoads: Bool = false, exceptionDomains: [String: ExceptionDomain] = [:]) {
        self.allowsArbitraryLoads = allowsArbitraryLoads
        self.exceptionDomains = exceptionDomains
    }

    /// Whether cleartext may be loaded from `host` (a name, or an address without brackets).
    package func allowsCleartext(to host: String) -> Bool {
        if LocalHost.isThisMachine(host) || (allowsLocalNetworking && LocalHost.isLocal(host)) { return true }
        return exception(for: host)?.allowsInsecureHTTPLoads ?? allowsArbitraryLoads
    }

    /// The oldest TLS version accepted from `host`, where an exception sets it.
    package func minimumTLSVersion(for host: String) -> tls_protocol_version_t? {
        exception(for: host)?.minimumTLSVersion
    }

    /// Whether connections to `host` use only cipher suites that have forward secrecy.
    package func requiresForwardSecrecy(of host: String) -> Bool {
        exception(for: host)?.requiresForwardSecrecy ?? !allowsArbitraryLoads
    }

    /// Whether the certificate of `host` must have the strength of ``ExceptionDomain/requiresStrongCertificates``.
    package func requiresStrongCertificate(of host: String) -> Bool {
        exception(for: host)?.requiresStrongCertificates ?? !allowsArbitraryLoads
    }

    /// The pins of `host`; nil where it has none.
    package func pins(of host: String) -> PinnedDomain? {
        rule(for: host, pinnedDomains, \.includesSubdomains).flatMap {
            $0.authorities.isEmpty && $0.leaves.isEmpty ? nil : $0
        }
    }

    private func exception(for host: String) -> ExceptionDomain? {
        rule(for: host, exceptionDomains, \.includesSubdomains)
    }

    private func rule<Rule>(
        for host: String, _ rules: [String: Rule], _ includesSubdomains: (Rule) -> Bool
    ) -> Rule? {
        if rules.isEmpty { return nil }
        let host = RuleDomain.canonical(host)
        let matching = rules.map { (domain: RuleDomain.canonical($0.key), rule: $0.value) }.filter {
            host == $0.domain || (includesSubdomains($0.rule) && host.hasSuffix("." + $0.domain))
        }
        return matching.max { $0.domain.utf8.count < $1.domain.utf8.count }?.rule
    }
}

// MARK: - Apple's dictionary

extension AppTransportSecurity {
    /// The policy in the running program's Info.plist.
    static let ofMainBundle = AppTransportSecurity(infoDictionary: MainInfoPlist.read())

    init(infoDictionary: [String: Any]) {
        self.init(dictionary: infoDictionary["NSAppTransportSecurity"] as? [String: Any] ?? [:])
    }

    /// The policy of a dictionary like the value of `NSAppTransportSecurity` in an Info.plist. Keys for media and web
    /// content are ignored, because they have no meaning on Linux. Certificate transparency is ignored, too, because it
    /// is not checked.
    public init(dictionary: [String: Any]) {
        allowsArbitraryLoads = dictionary["NSAllowsArbitraryLoads"] as? Bool ?? false
        allowsLocalNetworking = dictionary["NSAllowsLocalNetworking"] as? Bool ?? true
        // A mistake must not permit anything. A domain whose value is no dictionary has the strictest rules.
        for (domain, value) in dictionary["NSExceptionDomains"] as? [String: Any] ?? [:] {
            guard let rule = value as? [String: Any] else {
                exceptionDomains[domain] = ExceptionDomain(allowsInsecureHTTPLoads: false)
                continue
            }
            exceptionDomains[domain] = ExceptionDomain(
                includesSubdomains: rule["NSIncludesSubdomains"] as? Bool ?? false,
                allowsInsecureHTTPLoads: rule["NSExceptionAllowsInsecureHTTPLoads"] as? Bool ?? false,
                minimumTLSVersion: (rule["NSExceptionMinimumTLSVersion"] as? String).flatMap(Self.version),
                requiresForwardSecrecy: rule["NSExceptionRequiresForwardSecrecy"] as? Bool ?? true)
        }
        // A mistake must not turn pinning off. A domain whose value is no dictionary has a pin that matches no key, and
        // a value of `NSIncludesSubdomains` that is no Boolean includes the subdomains.
        for (domain, value) in dictionary["NSPinnedDomains"] as? [String: Any] ?? [:] {
            guard let rule = value as? [String: Any] else {
                pinnedDomains[domain] = PinnedDomain(includesSubdomains: true, leaves: [Data()])
                continue
            }
            pinnedDomains[domain] = PinnedDomain(
                includesSubdomains: rule["NSIncludesSubdomains"].map { $0 as? Bool ?? true } ?? false,
                authorities: Self.identities(rule["NSPinnedCAIdentities"]),
                leaves: Self.identities(rule["NSPinnedLeafIdentities"]))
        }
    }

    /// The values of `SPKI-SHA256-BASE64`. A value that is not Base64 remains a pin, which matches no key: a mistake in
    /// the Info.plist must not turn pinning off.
    private static func identities(_ list: Any?) -> Set<Data> {
        guard let list else { return [] }
        guard let entries = list as? [[String: Any]] else { return [Data()] }
        return Set(
            entries.map { entry in
                (entry["SPKI-SHA256-BASE64"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
            })
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
