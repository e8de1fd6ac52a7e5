import LoadingKitTransport

extension TLSOptions {
    /// What a session's configuration says of TLS.
    ///
    /// - Parameter alpn: the application protocols that are offered, the most wanted first.
    package init(_ settings: SessionSettings, alpn: [String]) {
        self.init()
        minimumVersion = settings.tlsMinimumVersion.rawValue
        maximumVersion = settings.tlsMaximumVersion.rawValue
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
