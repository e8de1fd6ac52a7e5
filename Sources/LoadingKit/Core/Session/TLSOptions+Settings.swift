import LoadingKitTransport

extension TLSOptions {
    /// What a session's configuration says of TLS with a host, App Transport Security included.
    ///
    /// - Parameter alpn: the application protocols that are offered, the most wanted first.
    package init(_ settings: SessionSettings, host: String, alpn: [String]) {
        self.init()
        let rules = settings.appTransportSecurity
        minimumVersion = (rules.minimumTLSVersion(for: host) ?? settings.tlsMinimumVersion).rawValue
        maximumVersion = settings.tlsMaximumVersion.rawValue
        requiresForwardSecrecy = rules.requiresForwardSecrecy(of: host)
        requiresStrongCertificates = rules.requiresStrongCertificate(of: host)
        verifiesPeer = settings.verifiesServer
        self.alpn = alpn
        trustRoots =
            switch settings.trustRoots {
            case .system: .system
            case .file(let path): .file(path: path)
            case .pem(let text): .pem(Array(text.utf8))
            }
    }
}
