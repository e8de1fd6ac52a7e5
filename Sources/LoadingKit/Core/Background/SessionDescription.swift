import Foundation

/// What performs a background session's transfers knows of the session: its identifier, and the settings that decide how
/// transfers are made. It is kept in the journal, so that transfers go on without the program.
///
/// A later version may add properties. They are optional, so that each version reads what another has written.
package struct SessionDescription: Codable, Hashable, Sendable {
    /// The stores that the session's requests use.
    package struct Stores: Codable, Hashable, Sendable {
        /// The program's folder of stores (`StoreLocation`); nil where the package was built without them.
        package var folder: String?
        package var usesCookies: Bool
        package var usesCredentials: Bool
    }

    package struct TLS: Codable, Hashable, Sendable {
        package enum Roots: Codable, Hashable, Sendable {
            case system
            case file(String)
            case pem(String)
        }

        package enum RevocationList: Codable, Hashable, Sendable {
            case file(String)
            case pem(String)
            case der(Data)
        }

        package var minimumVersion: UInt16
        package var maximumVersion: UInt16
        package var roots: Roots
        package var verifiesServer: Bool
        package var revocationLists: [RevocationList]?
    }

    /// ``AppTransportSecurity``.
    package struct Security: Codable, Hashable, Sendable {
        package struct Exception: Codable, Hashable, Sendable {
            package var includesSubdomains: Bool
            package var allowsInsecureHTTPLoads: Bool
            package var minimumTLSVersion: UInt16?
            package var requiresForwardSecrecy: Bool
            package var requiresStrongCertificates: Bool
        }

        package struct Pins: Codable, Hashable, Sendable {
            package var includesSubdomains: Bool
            package var authorities: Set<Data>
            package var leaves: Set<Data>
        }

        package var allowsArbitraryLoads: Bool
        package var allowsLocalNetworking: Bool
        package var exceptions: [String: Exception]
        package var pins: [String: Pins]?
    }

    package var identifier: String
    /// The program's path: what a person reads, and what distinguishes programs that take the same identifier.
    package var program: String
    package var requestTimeout: TimeInterval
    package var resourceTimeout: TimeInterval
    /// Names and values, in order.
    package var additionalFields: [[String]]
    package var maximumConnectionsPerHost: Int
    package var cachePolicy: UInt
    package var allowsHTTP2: Bool
    package var setsCookies: Bool
    package var cookieAcceptPolicy: UInt
    package var networkServiceType: UInt
    package var allowsCellularAccess: Bool
    package var allowsExpensiveAccess: Bool
    package var allowsConstrainedAccess: Bool
    package var requiresDNSSEC: Bool?
    /// Nil: none.
    package var multipathServiceType: Int?
    package var isDiscretionary: Bool
    package var stores: Stores
    package var tls: TLS
    package var security: Security
    /// ``CarriedProxies/dictionary``.
    package var proxies: Data?
    /// The program's environment variables that name proxies, which a dictionary takes the place of.
    package var proxyEnvironment: [String: String]
    /// What is started when the session's tasks are done: a path and arguments; nil where nothing is to be.
    package var launchCommand: [String]?
    /// Where downloads are put together; nil: in the folder of the journal.
    package var downloadFolder: String?
    /// Nil: as where nothing is set.
    package var attemptsResumableUploads: Bool?

    /// - Parameters:
    ///   - program: The running program's path.
    ///   - storeFolder: The program's folder of stores.
    package init(
        _ settings: SessionSettings, _ carried: CarriedProxies, identifier: String, program: String,
        storeFolder: String?
    ) {
        self.identifier = identifier
        self.program = program
        requestTimeout = settings.timeoutIntervalForRequest
        resourceTimeout = settings.timeoutIntervalForResource
        additionalFields = (settings.httpAdditionalHeaders ?? []).map { [$0.0, $0.1] }
        maximumConnectionsPerHost = settings.httpMaximumConnectionsPerHost
        cachePolicy = settings.requestCachePolicy.rawValue
        allowsHTTP2 = settings.allowsHTTP2
        setsCookies = settings.httpShouldSetCookies
        cookieAcceptPolicy = settings.httpCookieAcceptPolicy.rawValue
        networkServiceType = settings.networkServiceType.rawValue
        allowsCellularAccess = settings.allowsCellularAccess
        allowsExpensiveAccess = settings.allowsExpensiveNetworkAccess
        allowsConstrainedAccess = settings.allowsConstrainedNetworkAccess
        requiresDNSSEC = settings.requiresDNSSECValidation ? true : nil
        multipathServiceType =
            settings.multipathServiceType == .none ? nil : settings.multipathServiceType.rawValue
        isDiscretionary = settings.isDiscretionary
        stores = Stores(
            folder: storeFolder, usesCookies: settings.httpCookieStorage != nil,
            usesCredentials: settings.credentialStorage != nil)
        tls = TLS(
            minimumVersion: settings.tlsMinimumVersion.rawValue, maximumVersion: settings.tlsMaximumVersion.rawValue,
            roots: TLS.Roots(settings.trustRoots), verifiesServer: settings.verifiesServer,
            revocationLists: settings.revocationLists.isEmpty
                ? nil : settings.revocationLists.map(TLS.RevocationList.init))
        security = Security(settings.appTransportSecurity)
        proxies = carried.dictionary
        proxyEnvironment = carried.environment
        launchCommand = settings.sessionSendsLaunchEvents ? settings.backgroundLaunchCommand : nil
        downloadFolder = settings.backgroundDownloadFolder?.path
        attemptsResumableUploads = settings.attemptsResumableUploads ? nil : false
    }

    /// A path that means the same file in a process that has another current folder.
    fileprivate static func wholePath(_ path: String) -> String { URL(fileURLWithPath: path).path }

    /// Gives a configuration the session's settings, but for its stores.
    package func configure(_ configuration: URLSessionConfiguration) {
        var settings = configuration.settings
        settings.timeoutIntervalForRequest = requestTimeout
        settings.timeoutIntervalForResource = resourceTimeout
        let fields = additionalFields.filter { $0.count == 2 }
        settings.httpAdditionalHeaders = fields.isEmpty ? nil : fields.map { ($0[0], $0[1]) }
        settings.httpMaximumConnectionsPerHost = maximumConnectionsPerHost
        settings.requestCachePolicy = URLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        settings.allowsHTTP2 = allowsHTTP2
        settings.httpShouldSetCookies = setsCookies
        settings.httpCookieAcceptPolicy =
            HTTPCookie.AcceptPolicy(rawValue: cookieAcceptPolicy) ?? .onlyFromMainDocumentDomain
        settings.networkServiceType = URLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default
        settings.allowsCellularAccess = allowsCellularAccess
        settings.allowsExpensiveNetworkAccess = allowsExpensiveAccess
        settings.allowsConstrainedNetworkAccess = allowsConstrainedAccess
        settings.requiresDNSSECValidation = requiresDNSSEC == true
        settings.multipathServiceType =
            multipathServiceType.flatMap(URLSessionConfiguration.MultipathServiceType.init) ?? .none
        settings.waitsForConnectivity = true
        settings.attemptsResumableUploads = attemptsResumableUploads ?? true
        settings.tlsMinimumVersion = tls_protocol_version_t(rawValue: tls.minimumVersion) ?? .TLSv12
        settings.tlsMaximumVersion = tls_protocol_version_t(rawValue: tls.maximumVersion) ?? .TLSv13
        settings.trustRoots = tls.roots.roots
        settings.verifiesServer = tls.verifiesServer
        settings.revocationLists = (tls.revocationLists ?? []).map(\.list)
        settings.appTransportSecurity = security.policy
        CarriedProxies(dictionary: proxies, environment: proxyEnvironment).configure(&settings)
        configuration.settings = settings
    }
}

extension SessionDescription.TLS.Roots {
    fileprivate init(_ roots: URLSessionConfiguration.TrustRoots) {
        switch roots {
        case .system: self = .system
        case .file(let path): self = .file(SessionDescription.wholePath(path))
        case .pem(let text): self = .pem(text)
        }
    }

    fileprivate var roots: URLSessionConfiguration.TrustRoots {
        switch self {
        case .system: .system
        case .file(let path): .file(path: path)
        case .pem(let text): .pem(text)
        }
    }
}

extension SessionDescription.Security {
    fileprivate init(_ policy: AppTransportSecurity) {
        allowsArbitraryLoads = policy.allowsArbitraryLoads
        allowsLocalNetworking = policy.allowsLocalNetworking
        exceptions = policy.exceptionDomains.mapValues { domain in
            Exception(
                includesSubdomains: domain.includesSubdomains, allowsInsecureHTTPLoads: domain.allowsInsecureHTTPLoads,
                minimumTLSVersion: domain.minimumTLSVersion?.rawValue,
                requiresForwardSecrecy: domain.requiresForwardSecrecy,
                requiresStrongCertificates: domain.requiresStrongCertificates)
        }
        guard !policy.pinnedDomains.isEmpty else { return }
        pins = policy.pinnedDomains.mapValues { domain in
            Pins(
                includesSubdomains: domain.includesSubdomains, authorities: domain.authorities, leaves: domain.leaves)
        }
    }

    fileprivate var policy: AppTransportSecurity {
        var policy = AppTransportSecurity(
            allowsArbitraryLoads: allowsArbitraryLoads,
            exceptionDomains: exceptions.mapValues { exception in
                AppTransportSecurity.ExceptionDomain(
                    includesSubdomains: exception.includesSubdomains,
                    allowsInsecureHTTPLoads: exception.allowsInsecureHTTPLoads,
                    minimumTLSVersion: exception.minimumTLSVersion.flatMap { tls_protocol_version_t(rawValue: $0) },
                    requiresForwardSecrecy: exception.requiresForwardSecrecy,
                    requiresStrongCertificates: exception.requiresStrongCertificates)
            })
        policy.allowsLocalNetworking = allowsLocalNetworking
        policy.pinnedDomains = (pins ?? [:]).mapValues { pins in
            AppTransportSecurity.PinnedDomain(
                includesSubdomains: pins.includesSubdomains, authorities: pins.authorities, leaves: pins.leaves)
        }
        return policy
    }
}

extension SessionDescription.TLS.RevocationList {
    fileprivate init(_ list: URLSessionConfiguration.RevocationList) {
        switch list {
        case .file(let path): self = .file(SessionDescription.wholePath(path))
        case .pem(let text): self = .pem(text)
        case .der(let bytes): self = .der(bytes)
        }
    }

    fileprivate var list: URLSessionConfiguration.RevocationList {
        switch self {
        case .file(let path): .file(path: path)
        case .pem(let text): .pem(text)
        case .der(let bytes): .der(bytes)
        }
    }
}
