import LoadingKitTransport

extension TLSOptions {
    /// The TLS options of a session's configuration for a host, including those of App Transport Security.
    ///
    /// - Parameter alpn: the application protocols to offer, in the order of preference.
    package init(_ settings: SessionSettings, host: String, alpn: [String]) {
        self.init()
        let rules = settings.appTransportSecurity
        minimumVersion = (rules.minimumTLSVersion(for: host) ?? settings.tlsMinimumVersion).rawValue
        maximumVersion = settings.tlsMaximumVersion.rawValue
        (cipherList, cipherSuites) = (settings.tlsCipherList, settings.tlsCipherSuites)
        requiresForwardSecrecy = rules.requiresForwardSecrecy(of: host)
        requiresStrongCertificates = rules.requiresStrongCertificate(of: host)
        verifiesPeer = settings.verifiesServer
        environment = settings.tlsEnvironment
        self.alpn = alpn
        trustRoots =
            switch settings.trustRoots {
            case .system: .system
            case .file(let path): .file(path: path)
            case .pem(let text): .pem(Array(text.utf8))
            }
        revocationLists = settings.revocationLists.map(\.source)
        pins = rules.pins(of: host).map { PublicKeyPins($0) }
    }
}

/// The contexts of a session's connections. Each is made once, and again after its files have changed: those of authorities,
/// and those of lists of revoked certificates.
/// A failure is not remembered: there may be a descriptor for the trusted certificates' file the next time.
package struct TLSContexts {
    private var contexts: [(options: TLSOptions, context: TLSContext)] = []

    package init() {}

    package mutating func context(_ options: TLSOptions) throws(TransportError) -> TLSContext {
        if let made = contexts.first(where: { $0.options == options })?.context, made.isCurrent { return made }
        let made = try TLSContext(options)
        contexts.removeAll { $0.options == options }
        contexts.append((options, made))
        return made
    }
}

extension PublicKeyPins {
    fileprivate init(_ domain: AppTransportSecurity.PinnedDomain) {
        self.init(authorities: Set(domain.authorities.map { Array($0) }), leaves: Set(domain.leaves.map { Array($0) }))
    }
}
