import Foundation
import LoadingKitTransport

extension SettingDeclaration {
    /// All settings, each once. A test compares them with the stored properties of ``SessionSettings``, and their lines
    /// with the page on background sessions.
    package static let all: [SettingDeclaration] = identity + loading + networks + requests + http + trust + handlers

    private static let identity: [SettingDeclaration] = [
        SettingDeclaration("identifier", .session, "which of the program's background sessions it is"),
        SettingDeclaration(
            "storeIdentifier", .session, "whose stores on disk the transfers use, and whose session it is"),
        SettingDeclaration(
            "sharedContainerIdentifier", .nothing, "Linux has no such containers: `backgroundDownloadFolder`"),
        SettingDeclaration(
            "runsInProcess", .program,
            """
            the program makes its transfers itself; they go on when it runs again. One process of the program at a time can; the \
            sessions of another one are invalidated with `URLError.backgroundSessionInUseByAnotherProcess`
            """),
        SettingDeclaration("makeBackground", .program, isPublic: false, "how this process reaches the other one"),
        SettingDeclaration("wallClock", .program, isPublic: false, "the process's clock"),
        SettingDeclaration("omittedFields", .program, isPublic: false, "fields that the tool's user does not want"),
        SettingDeclaration("sendsHTTP1_0", .program, isPublic: false, "requests of HTTP/1.0, for the tool's user"),
        SettingDeclaration(
            "connectSubstitution", .program, isPublic: false, "where connections of the tool's loads lead"),
        .transmitted(
            "isDiscretionary", \.isDiscretionary, .flag, at: "isDiscretionary", always: true,
            "transfers wait for a good time, as above"),
        SettingDeclaration(
            "sessionSendsLaunchEvents", .session,
            "false: the program is not started. `backgroundLaunchCommand` is left out"),
        SettingDeclaration(
            "backgroundLaunchCommand",
            .transfers(
                Transmission(
                    path: ["launchCommand"], isAlwaysWritten: false,
                    encode: { settings in
                        guard settings.sessionSendsLaunchEvents else { return nil }
                        return try SettingCoding.words.optional.encode(settings.backgroundLaunchCommand)
                    },
                    decode: { coded, settings in
                        let command = coded.flatMap { SettingCoding.words.decode($0) }
                        settings.backgroundLaunchCommand = command
                        settings.sessionSendsLaunchEvents = command != nil
                        return coded == nil || command != nil
                    })),
            "how the program is started"),
        .transmitted(
            "backgroundDownloadFolder", \.backgroundDownloadFolder,
            SettingCoding.text.map({ URL(fileURLWithPath: $0) }, { $0?.path }), at: "downloadFolder",
            "where downloads are put together"),
    ]

    private static let loading: [SettingDeclaration] = [
        .transmitted(
            "timeoutIntervalForRequest", \.timeoutIntervalForRequest, .seconds, at: "requestTimeout", always: true,
            "an attempt without a byte for so long has failed, and is followed by another"),
        .transmitted(
            "timeoutIntervalForResource", \.timeoutIntervalForResource, .seconds, at: "resourceTimeout", always: true,
            """
            from `resume()`, over all attempts and runs; not while the task is suspended, nor before its \
            `earliestBeginDate`
            """),
        .transmitted(
            "requestCachePolicy", \.requestCachePolicy, .number, at: "cachePolicy", always: true,
            "which fields ask caches on the way for a new response"),
        SettingDeclaration("urlCache", .program, "transfers use none; data tasks do"),
        SettingDeclaration("usesClassicLoadingMode", .nothing, "there is one mode"),
        SettingDeclaration("enablesEarlyData", .nothing, "early data is not sent"),
        SettingDeclaration(
            "maximumCollectedBodySize", .program, "a transfer's body is collected in a file; data tasks heed it"),
        SettingDeclaration(
            "maximumUnreadBodySize", .program, "a transfer's body is written as it comes; data tasks heed it"),
        .transmitted(
            "maximumDecompressionRatio", \.maximumDecompressionRatio, .integer, at: "maximumDecompressionRatio",
            "as in other sessions"),
        .transmitted(
            "keepsContentCodings", \.keepsContentCodings, .flag, at: "keepsContentCodings", "as in other sessions"),
        .transmitted(
            "recordsEvents", \.recordsEvents, .flag, at: "recordsEvents",
            "as in other sessions: the error of a transfer has the steps of its last attempt"),
        SettingDeclaration(
            "ownLogger", .program, as: "logger", "the daemon has a log of its own: `loadkit background log`"),
    ]

    private static let networks: [SettingDeclaration] = [
        .transmitted(
            "networkServiceType", \.networkServiceType, .number, at: "networkServiceType", always: true,
            "as in other sessions"),
        .transmitted(
            "allowsCellularAccess", \.allowsCellularAccess, .flag, at: "allowsCellularAccess", always: true,
            "as in other sessions"),
        .transmitted(
            "allowsExpensiveNetworkAccess", \.allowsExpensiveNetworkAccess, .flag, at: "allowsExpensiveAccess",
            always: true, "as in other sessions; never where `isDiscretionary`"),
        .transmitted(
            "allowsConstrainedNetworkAccess", \.allowsConstrainedNetworkAccess, .flag, at: "allowsConstrainedAccess",
            always: true, "as in other sessions"),
        SettingDeclaration(
            "allowsUltraConstrainedNetworkAccess", .nothing, "Linux has no such setting for interfaces"),
        .transmitted(
            "requiresDNSSECValidation", \.requiresDNSSECValidation, .flag, at: "requiresDNSSEC", "as in other sessions"),
        .transmitted(
            "requiredInterface", \.requiredInterface, SettingCoding.text.optional, at: "requiredInterface",
            "as in other sessions"),
        .transmitted(
            "multipathServiceType", \.multipathServiceType, .number, at: "multipathServiceType",
            "as in other sessions"),
        SettingDeclaration(
            "waitsForConnectivity", .nothing,
            "transfers always wait, of which the delegate is not told; data tasks heed it"),
        SettingDeclaration(
            "shouldUseExtendedBackgroundIdleMode", .nothing, "Linux does not suspend the process"),
        SettingDeclaration(
            "unixSocket", .refused { $0.unixSocket != nil },
            "a function of the program's: without it the host's address would be asked instead"),
        .transmitted(
            "connectionProxyDictionary", \.connectionProxyDictionary, .proxies, at: "proxies",
            "as in other sessions. Nil: the proxies of the program's environment. A script, and a value that is no string, number, list or URL, is refused"
        ),
        .transmitted(
            "proxyEnvironment", \.proxyEnvironment,
            SettingCoding<[String: String]>.own.map({ ProxyEnvironment($0) }, { ($0 ?? .ofProgram()).variables }),
            at: "proxyEnvironment", always: true, as: "http_proxy",
            "as in other sessions: the program's environment counts, and that of no other process; so the other variables of proxies"
        ),
        SettingDeclaration(
            "proxyResolver", .refused { $0.proxyResolver != nil && $0.connectionProxyDictionary == nil },
            "an object of the program's: without it requests would go past the proxies that it finds. Not asked where there is a `connectionProxyDictionary`"
        ),
    ]

    private static let requests: [SettingDeclaration] = [
        .transmitted(
            "httpAdditionalHeaders", \.httpAdditionalHeaders, .fields, at: "additionalFields", always: true,
            "as in other sessions"),
        .store(
            "httpCookieStorage", \.httpCookieStorage, at: "stores.usesCookies",
            "nil: cookies are not handled. The storage itself is that on disk, of `storeIdentifier`"),
        .transmitted(
            "httpShouldSetCookies", \.httpShouldSetCookies, .flag, at: "setsCookies", always: true,
            "as in other sessions"),
        .transmitted(
            "httpCookieAcceptPolicy", \.strictestCookieAcceptPolicy, .number, at: "cookieAcceptPolicy", always: true,
            "as in other sessions. The stricter of this policy and the storage's counts, as both are when the session is made"
        ),
        .store(
            "credentialStorage", \.credentialStorage, at: "stores.usesCredentials", as: "urlCredentialStorage",
            "nil: none is used. The storage itself is that on disk, of `storeIdentifier`"),
        SettingDeclaration("hsts", .session, isPublic: false, "that on disk, of `storeIdentifier`"),
        SettingDeclaration(
            "authenticationSchemes", .refused { !$0.authenticationSchemes.isEmpty },
            "code of the program's: without it another scheme would answer, or none"),
    ]

    private static let http: [SettingDeclaration] = [
        .transmitted(
            "httpMaximumConnectionsPerHost", \.httpMaximumConnectionsPerHost, .integer,
            at: "maximumConnectionsPerHost", always: true, "connections to one host, of all the session's transfers"),
        .transmitted(
            "httpShouldUsePipelining", \.httpShouldUsePipelining, .flag, at: "usesPipelining", "as in other sessions"),
        .transmitted("allowsHTTP2", \.allowsHTTP2, .flag, at: "allowsHTTP2", always: true, "as in other sessions"),
        .transmitted(
            "assumesHTTP2", \.assumesHTTP2, .flag, at: "assumesHTTP2", as: "assumesCleartextHTTP2",
            "as in other sessions"),
        .transmitted(
            "retriesUnansweredRequests", \.retriesUnansweredRequests, .flag, at: "retriesUnansweredRequests",
            "as in other sessions, within an attempt. A transfer whose attempt has failed is tried again in any case"),
        .transmitted(
            "attemptsResumableUploads", \.attemptsResumableUploads, .flag, at: "attemptsResumableUploads",
            "as in other sessions"),
    ]

    private static let trust: [SettingDeclaration] = [
        .transmitted(
            "tlsMinimumVersion", \.tlsMinimumVersion, .number, at: "tls.minimumVersion", always: true,
            as: "tlsMinimumSupportedProtocolVersion", "as in other sessions"),
        .transmitted(
            "tlsMaximumVersion", \.tlsMaximumVersion, .number, at: "tls.maximumVersion", always: true,
            as: "tlsMaximumSupportedProtocolVersion", "as in other sessions"),
        .transmitted(
            "tlsCipherList", \.tlsCipherList, SettingCoding.text.optional, at: "tls.cipherList", "as in other sessions"),
        .transmitted(
            "tlsCipherSuites", \.tlsCipherSuites, SettingCoding.text.optional, at: "tls.cipherSuites",
            "as in other sessions"),
        .transmitted(
            "trustRoots", \.trustRoots, SettingCoding<CodedTrustRoots>.own.map({ $0.roots }, { CodedTrustRoots($0) }),
            at: "tls.roots", always: true, as: "tlsTrustRoots", "as in other sessions"),
        .transmitted(
            "tlsEnvironment", \.tlsEnvironment,
            SettingCoding<TLSEnvironment>.own.map({ $0 }, { $0.map { URL(fileURLWithPath: $0).path } }),
            at: "tls.environment", as: "SSL_CERT_FILE",
            "as in other sessions: the program's environment counts, and that of no other process; so `SSL_CERT_DIR` and `SSLKEYLOGFILE`"
        ),
        .transmitted(
            "verifiesServer", \.verifiesServer, .flag, at: "tls.verifiesServer", always: true, as: "tlsVerifiesServer",
            "as in other sessions"),
        .transmitted(
            "revocationLists", \.revocationLists,
            SettingCoding<[CodedRevocationList]>.own.map(
                { $0.map(\.list) }, { $0.map { CodedRevocationList($0) } }),
            at: "tls.revocationLists", as: "tlsRevocationLists", "as in other sessions"),
        SettingDeclaration(
            "ownTransportSecurity",
            .transfers(
                Transmission(
                    path: ["security"], isAlwaysWritten: true,
                    encode: { try CodedValue(encoding: CodedTransportSecurity($0.appTransportSecurity)) },
                    decode: { coded, settings in
                        guard let policy = try? coded?.decoded(as: CodedTransportSecurity.self).policy else {
                            return false
                        }
                        settings.appTransportSecurity = policy
                        return true
                    })),
            as: "appTransportSecurity", "as in other sessions; the policy of the program's Info.plist goes along"),
    ]

    private static let handlers: [SettingDeclaration] = [
        SettingDeclaration(
            "interceptors", .refused { !$0.interceptors.isEmpty },
            "objects of the program's: without them requests would go out unchanged and unseen"),
        SettingDeclaration(
            "recorders", .program, isPublic: false, "recordings in the program, which also has the transfers' metrics"),
        SettingDeclaration(
            "protocolClasses", .program, "transfers use none, as on Apple's systems; data tasks do"),
        SettingDeclaration(
            "factories", .refused { $0.factories.contains { BackgroundRules.schemes.contains($0.scheme) } },
            as: "register(scheme:_:)",
            "for `http` and `https`: code of the program's, in whose place others would load. Transfers have no other schemes"
        ),
        SettingDeclaration("builtInHandlers", .program, isPublic: false, "each process has its own"),
    ]
}
