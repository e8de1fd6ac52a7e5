#if CommandLineTool
    import Foundation
    import LoadingKit
    import LoadingKitArchives
    import LoadingKitCore
    import LoadingKitS3
    import LoadingKitTransport
    import LoadingKitUnixSockets

    /// The settings of the session that runs the loads of a plan.
    struct SessionPlan: Sendable {
        /// The servers that TLS trusts.
        enum Trust: Sendable, Hashable {
            case system
            /// The authorities of a PEM file, as the file's content.
            case authorities(String)
            case everyone
        }

        /// Seconds without a byte after which a load ends: curl's limit for making a connection.
        private static let idleTimeout: TimeInterval = 300

        let trust: Trust
        let identity: ClientIdentity?
        /// SHA-256 of the accepted servers' public keys; empty for all.
        let pins: Set<Data>
        private let proxies: ProxyPlan
        private let substitution: ConnectSubstitution?
        private let unixSocket: String?
        private let interface: String?
        private let sendsHTTP10: Bool
        private let ciphers: (list: String?, suites: String?)
        private let http2: (isOffered: Bool, isAssumed: Bool)
        private let versions: (oldest: tls_protocol_version_t, newest: tls_protocol_version_t)

        init(_ options: LoadCommand, readFile: (String) throws -> Data) throws {
            let connection = options.connection
            trust = try Self.trust(options.tls, readFile)
            identity = try ClientIdentity(options.tls, readFile: readFile)
            pins = try Self.pins(options.tls.pinnedKeys)
            proxies = try ProxyPlan(connection)
            substitution = try ConnectSubstitution(connection)
            unixSocket = connection.unixSocket
            interface = try connection.interface.map { try InterfaceArgument.resolve($0) }
            sendsHTTP10 = connection.http10
            ciphers = (options.tls.ciphers, options.tls.tls13Ciphers)
            http2 = (!connection.http1 && !sendsHTTP10, connection.priorKnowledge)
            versions = try Self.versions(options.tls)
        }

        func configuration(maximumTime: Double?, jobs: Int) -> URLSessionConfiguration {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = Self.idleTimeout
            // A URL that is given twice is loaded twice, as in curl.
            configuration.urlCache = nil
            configuration.attemptsResumableUploads = false
            if let maximumTime { configuration.timeoutIntervalForResource = maximumTime }
            configuration.httpMaximumConnectionsPerHost = max(configuration.httpMaximumConnectionsPerHost, jobs)
            // A user who types a URL has chosen its scheme.
            configuration.appTransportSecurity = AppTransportSecurity(allowsArbitraryLoads: true)
            switch trust {
            case .system: break
            case .authorities(let pem): configuration.tlsTrustRoots = .pem(pem)
            case .everyone: configuration.tlsVerifiesServer = false
            }
            configuration.tlsMinimumSupportedProtocolVersion = versions.oldest
            configuration.tlsMaximumSupportedProtocolVersion = versions.newest
            (configuration.tlsCipherList, configuration.tlsCipherSuites) = ciphers
            (configuration.allowsHTTP2, configuration.assumesCleartextHTTP2) = http2
            configuration.settings.sendsHTTP1_0 = sendsHTTP10
            configuration.requiredInterface = interface
            proxies.apply(to: configuration)
            configuration.settings.connectSubstitution = substitution
            configuration.installPlugins()
            if let unixSocket { configuration.unixSocket = { _ in UnixSocket(path: unixSocket) } }
            return configuration
        }

        private static func trust(_ options: TLSOptions, _ readFile: (String) throws -> Data) throws -> Trust {
            if options.insecure { return .everyone }
            guard let path = options.cacert else { return .system }
            guard let content = try? readFile(path) else {
                throw ToolFailure(.badAuthorityFile, "the certificates of \(path) cannot be read")
            }
            let text = String(decoding: content, as: UTF8.self)
            guard text.contains("-----BEGIN CERTIFICATE-----") || text.contains("-----BEGIN TRUSTED CERTIFICATE-----")
            else {
                throw ToolFailure(.badAuthorityFile, "\(path) has no certificate in PEM")
            }
            return .authorities(text)
        }

        private static func pins(_ text: String?) throws -> Set<Data> {
            guard let text else { return [] }
            let failure = ToolFailure(.usage, "--pinnedpubkey needs sha256//HASH, with a hash in base 64")
            let pins = Set(
                try text.split(separator: ";").map { pin in
                    guard pin.hasPrefix("sha256//"), let hash = Data(base64Encoded: String(pin.dropFirst(8))),
                        hash.count == 32
                    else { throw failure }
                    return hash
                })
            // An empty set would accept every key.
            guard !pins.isEmpty else { throw failure }
            return pins
        }

        private static func versions(
            _ options: TLSOptions
        ) throws -> (oldest: tls_protocol_version_t, newest: tls_protocol_version_t) {
            let oldest: tls_protocol_version_t =
                switch options.version {
                case .tlsv1: .TLSv10
                case .tlsv11: .TLSv11
                case .tlsv13: .TLSv13
                case .tlsv12, nil: .TLSv12
                }
            switch options.newest {
            case nil, "1.3", "default": return (oldest, .TLSv13)
            case "1.2" where oldest != .TLSv13: return (oldest, .TLSv12)
            case _: throw ToolFailure(.usage, "--tls-max needs 1.2 or 1.3, not less than the oldest version")
            }
        }
    }

    extension URLSessionConfiguration {
        /// Adds the schemes of the plugins that are built into the tool.
        func installPlugins() {
            ArchiveLoader().install(in: self)
            S3Client().install(in: self)
            UnixSockets().install(in: self)
        }
    }

    extension ClientIdentity {
        /// The one of `--cert`; nil without that option.
        fileprivate init?(_ options: TLSOptions, readFile: (String) throws -> Data) throws {
            guard let argument = options.cert else { return nil }
            // File names and passwords may have colons: the password is behind the first one that follows the name of a
            // readable file. A file is read once: it may be a pipe.
            let scalars = argument.unicodeScalars
            let ends = [argument.endIndex] + scalars.indices.filter { scalars[$0] == ":" }
            var content: Data?
            let fileEnd = ends.first { end in
                content = try? readFile(String(argument[..<end]))
                return content != nil
            }
            let end = fileEnd ?? ends.dropFirst().first ?? argument.endIndex
            let path = String(argument[..<end])
            let password = options.pass ?? (end == argument.endIndex ? nil : String(scalars[end...].dropFirst()))
            func read(_ path: String) throws -> Data {
                guard let content = try? readFile(path) else {
                    throw ToolFailure(.clientCertificate, "the certificate or key in \(path) cannot be read")
                }
                return content
            }
            let certificate = try content ?? read(path)
            do {
                if options.certType?.uppercased() == "P12" || path.hasSuffix(".p12") || path.hasSuffix(".pfx") {
                    try self.init(pkcs12Representation: certificate, password: password ?? "")
                } else {
                    let key = try options.key.map(read) ?? certificate
                    try self.init(
                        certificatesPEM: String(decoding: certificate, as: UTF8.self),
                        privateKeyPEM: String(decoding: key, as: UTF8.self), password: password)
                }
            } catch let error as ClientIdentityError {
                throw ToolFailure(.clientCertificate, "--cert \(path): \(error.description)")
            }
        }
    }
#endif
