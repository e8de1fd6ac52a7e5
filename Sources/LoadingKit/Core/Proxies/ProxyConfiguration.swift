import Foundation

/// A proxy for ``URLSessionConfiguration/proxyConfigurations``, like that of Apple's Network framework.
public struct ProxyConfiguration: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case connect(NWEndpoint, isSecure: Bool)
        case socks(NWEndpoint)
        case relay
    }

    private struct Credential: Hashable, Sendable {
        let user: String
        let password: String
    }

    private let kind: Kind
    private var credential: Credential?

    /// Whether servers are reached directly where the proxy cannot be reached: only if each configuration for a server
    /// permits it. Default false: the loads fail.
    public var allowFailover = false

    /// The domains, with their subdomains, whose servers are reached through the proxy. Empty, the default: all.
    public var matchDomains: [String] = []

    /// The domains, with their subdomains, whose servers are not reached through the proxy. They take precedence over
    /// ``matchDomains``.
    public var excludedDomains: [String] = []

    /// An HTTP proxy. `http` requests are sent to it in absolute form, everything else in a tunnel (`CONNECT`).
    ///
    /// - Parameter tlsOptions: Nil where the connection to the proxy has no TLS.
    public init(httpCONNECTProxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) {
        kind = .connect(httpCONNECTProxy, isSecure: tlsOptions != nil)
    }

    /// A SOCKS 5 proxy (RFC 1928), which resolves names.
    public init(socksv5Proxy: NWEndpoint) { kind = .socks(socksv5Proxy) }

    /// One or two relays (MASQUE), which are not supported: loads that would go through them fail with
    /// `URLError.cannotConnectToHost`.
    public init(relayHops: [RelayHop]) { kind = .relay }

    /// Oblivious HTTP (RFC 9458), which is not supported: loads that would go through it fail with
    /// `URLError.cannotConnectToHost`.
    public init(
        obliviousHTTPRelay: RelayHop, relayResourcePath: String, gatewayKeyConfig: Data, matchDomains: [String]
    ) {
        kind = .relay
        self.matchDomains = matchDomains
    }

    /// Sets the credential for the proxy, and replaces an existing one.
    public mutating func applyCredential(username: String, password: String) {
        credential = Credential(user: username, password: password)
    }

    /// A relay of a ``ProxyConfiguration/init(relayHops:)``.
    public struct RelayHop: Hashable, Sendable {
        /// The relay over HTTP/3.
        public let http3RelayEndpoint: NWEndpoint?
        /// The relay over HTTP/2.
        public let http2RelayEndpoint: NWEndpoint?
        /// Fields that are sent with each request to the relay.
        public let additionalHTTPHeaderFields: [String: String]

        /// A relay that is reached over HTTP/3, or over HTTP/2 where HTTP/3 is not possible.
        public init(
            http3RelayEndpoint: NWEndpoint, http2RelayEndpoint: NWEndpoint? = nil,
            tlsOptions: NWProtocolTLS.Options = NWProtocolTLS.Options(),
            additionalHTTPHeaderFields: [String: String] = [:]
        ) {
            self.http3RelayEndpoint = http3RelayEndpoint
            self.http2RelayEndpoint = http2RelayEndpoint
            self.additionalHTTPHeaderFields = additionalHTTPHeaderFields
        }

        /// A relay that is reached over HTTP/2.
        public init(
            http2RelayEndpoint: NWEndpoint, tlsOptions: NWProtocolTLS.Options = NWProtocolTLS.Options(),
            additionalHTTPHeaderFields: [String: String] = [:]
        ) {
            http3RelayEndpoint = nil
            self.http2RelayEndpoint = http2RelayEndpoint
            self.additionalHTTPHeaderFields = additionalHTTPHeaderFields
        }
    }

    // MARK: For servers

    fileprivate func applies(to host: String) -> Bool {
        let host = Self.canonical(host)
        func contains(_ domains: [String]) -> Bool { domains.contains { Self.isHost(host, in: Self.canonical($0)) } }
        return !contains(excludedDomains) && (matchDomains.isEmpty || contains(matchDomains))
    }

    private static func isHost(_ host: String, in domain: String) -> Bool {
        !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }

    /// In the form of a URL's host, without dots at the ends.
    private static func canonical(_ name: String) -> String {
        RuleDomain.canonical(name.trimmingCharacters(in: CharacterSet(charactersIn: ".")))
    }

    fileprivate func choice() throws(LoadFailure) -> ProxyChoice {
        let (kind, endpoint): (ProxyChoice.Kind, NWEndpoint)
        switch self.kind {
        case .connect(let server, let isSecure): (kind, endpoint) = (isSecure ? .https : .http, server)
        case .socks(let server): (kind, endpoint) = (.socks5, server)
        case .relay:
            throw LoadFailure(
                .cannotConnectToHost,
                "proxyConfigurations has a relay (MASQUE or Oblivious HTTP), which is not supported")
        }
        guard let (host, port) = endpoint.hostAndPort else {
            throw LoadFailure(.cannotConnectToHost, "proxyConfigurations has a proxy without a host: \(endpoint)")
        }
        return ProxyChoice(kind, host: host, port: port, user: credential?.user, password: credential?.password)
    }
}

/// Determines proxies by a configuration's ``URLSessionConfiguration/proxyConfigurations``.
struct ConfiguredProxies: ProxyResolver {
    let configurations: [ProxyConfiguration]

    func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
        let host = CookieHost.host(of: query.url) ?? ""
        let chosen = configurations.filter { $0.applies(to: host) }
        let choices = try chosen.map { try $0.choice() }
        return chosen.allSatisfy(\.allowFailover) ? choices + [.direct] : choices
    }
}

extension URLSessionConfiguration {
    /// The proxies through which servers are reached: of the configurations whose domains include a server, the first
    /// with a reachable proxy. Empty, the default: the proxies of ``connectionProxyDictionary``, or of
    /// ``proxyResolver``.
    ///
    /// They act as a ``ProxyResolver``, and replace one that was set; ``connectionProxyDictionary`` must be nil.
    /// Servers that are in no configuration's domains are reached directly.
    ///
    /// A background session with proxy configurations is invalidated with an error, as with any resolver: use a
    /// ``connectionProxyDictionary`` there.
    public var proxyConfigurations: [ProxyConfiguration] {
        get { (settings.proxyResolver as? ConfiguredProxies)?.configurations ?? [] }
        set {
            if !newValue.isEmpty {
                settings.proxyResolver = ConfiguredProxies(configurations: newValue)
            } else if settings.proxyResolver is ConfiguredProxies {
                settings.proxyResolver = nil
            }
        }
    }
}
