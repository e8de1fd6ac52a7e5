import Foundation
import LoadingKitTransport
import Logging

/// The settings of a configuration, as a struct: a session's copy does not change with the configuration.
package struct SessionSettings: @unchecked Sendable {  // metatypes and property-list values, which never change
    package var identifier: String?
    package var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    package var urlCache: URLCache?
    package var wallClock = WallClock.system
    package var timeoutIntervalForRequest = URLRequest.defaultTimeoutInterval
    package var timeoutIntervalForResource: TimeInterval = 7 * 24 * 3600
    package var networkServiceType = URLRequest.NetworkServiceType.default
    package var allowsCellularAccess = true
    package var allowsExpensiveNetworkAccess = true
    package var allowsConstrainedNetworkAccess = true
    package var allowsUltraConstrainedNetworkAccess = true
    package var requiresDNSSECValidation = false
    package var requiredInterface: String?
    package var usesClassicLoadingMode = true
    package var enablesEarlyData = false
    package var waitsForConnectivity = false
    package var isDiscretionary = false
    package var sharedContainerIdentifier: String?
    package var storeIdentifier: String?
    package var httpShouldUsePipelining = false
    package var shouldUseExtendedBackgroundIdleMode = false
    package var sessionSendsLaunchEvents = false
    package var backgroundLaunchCommand: [String]?
    package var backgroundDownloadFolder: URL?
    package var runsInProcess = false
    /// Makes the part of a background session that performs its tasks; nil for every other kind of session.
    package var makeBackground: (@Sendable (SessionCore) -> any SessionBackground)?
    package var multipathServiceType = URLSessionConfiguration.MultipathServiceType.none
    package var httpAdditionalHeaders: [(String, String)]?
    package var httpMaximumConnectionsPerHost = 6
    package var httpCookieStorage: HTTPCookieStorage?
    package var httpShouldSetCookies = true
    package var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    package var allowsHTTP2 = true
    package var assumesHTTP2 = false
    package var retriesUnansweredRequests = true
    package var attemptsResumableUploads = true
    package var maximumDecompressionRatio = 200
    package var keepsContentCodings = false
    package var maximumCollectedBodySize: Int?
    package var maximumUnreadBodySize = 64 << 20
    package var unixSocket: (@Sendable (_ host: String) -> UnixSocket?)?
    /// Fields that the session does not add to requests without them, in lower case.
    package var omittedFields: Set<String> = []
    /// Whether requests over HTTP/1 are those of HTTP/1.0.
    package var sendsHTTP1_0 = false
    package var connectSubstitution: ConnectSubstitution?
    package var interceptors: [any LoadInterceptor] = []
    /// Nil where the session is in no recording.
    package var recorders: [any LoadRecorder]? = []
    package var protocolClasses: [AnyClass]? = []
    package var factories: [SchemeFactory] = []
    package var builtInHandlers: [any BuiltInHandler.Type] = []
    package var connectionProxyDictionary: [AnyHashable: Any]?
    package var proxyResolver: (any ProxyResolver)?
    /// The environment variables for proxies, used where there is neither a dictionary nor a resolver. Nil until a
    /// session is made, which then reads the program's variables. A background session's transfers use the variables of
    /// the program that owns the session.
    package var proxyEnvironment: ProxyEnvironment?
    package var tlsMinimumVersion = tls_protocol_version_t.TLSv12
    package var tlsMaximumVersion = tls_protocol_version_t.TLSv13
    package var tlsCipherList: String?
    package var tlsCipherSuites: String?
    /// The environment's settings for trust and for keys.
    package var tlsEnvironment = TLSEnvironment.ofProcess
    package var trustRoots = URLSessionConfiguration.TrustRoots.system
    package var verifiesServer = true
    package var revocationLists: [TLSRevocationList] = []
    package var credentialStorage: URLCredentialStorage?
    package var authenticationSchemes: [AuthenticationSchemeMaker] = []
    package var hsts = HSTSStore()
    /// Nil where the program set none.
    private var ownTransportSecurity: AppTransportSecurity?
    /// The main bundle is read only when the policy is first needed: Foundation needs megabytes for it.
    package var appTransportSecurity: AppTransportSecurity {
        get { ownTransportSecurity ?? .ofMainBundle }
        set { ownTransportSecurity = newValue }
    }
    package var recordsEvents = true
    /// Nil where the program set none.
    package var ownLogger: Logger?
    package var logger: Logger { ownLogger ?? Self.silentLogger }
    private static let silentLogger = Logger(label: "LoadingKit", factory: { _ in SwiftLogNoOpLogHandler() })
}

/// A scheme and the factory of its handlers.
package struct SchemeFactory: Sendable {
    let scheme: String
    let makeHandler: @Sendable (URLRequest) -> URLProtocolHandler
}

/// Gives the settings of `URLSessionConfiguration.default`: the class `DefaultSettings` of the module `LoadingKit`, which
/// this module does not import.
package protocol DefaultSettingsComposition: AnyObject {
    static var makeSettings: @Sendable () -> SessionSettings { get }
}

extension SessionSettings {
    /// Nil in a program without the module `LoadingKit`.
    private static let makeDefault =
        (NSClassFromString("LoadingKit.DefaultSettings") as? any DefaultSettingsComposition.Type)?.makeSettings

    /// The settings of `URLSessionConfiguration.default`. In a program without the module `LoadingKit` they have no
    /// built-in schemes, and nothing on disk.
    static var ofDefaultConfiguration: SessionSettings {
        if let makeDefault { return makeDefault() }
        var settings = SessionSettings()
        settings.urlCache = .shared
        settings.credentialStorage = .ofProgram
        return settings
    }

    /// The defaults in a process that performs other programs' transfers: its own environment is not used.
    package static var elsewhere: SessionSettings {
        var settings = SessionSettings()
        settings.tlsEnvironment = TLSEnvironment()
        settings.proxyEnvironment = ProxyEnvironment([:])
        return settings
    }

    /// The timeout for making a connection, in nanoseconds; nil for no limit.
    package var connectTimeout: UInt64? { Self.nanoseconds(timeoutIntervalForRequest) }

    /// The time that a request may wait for a connection, in nanoseconds; nil for no limit.
    package func connectTimeout(of request: URLRequest) -> UInt64? { Self.nanoseconds(idleTimeout(of: request)) }

    private static func nanoseconds(_ seconds: TimeInterval) -> UInt64? {
        seconds > 0 && seconds < 1e9 ? UInt64(seconds * 1e9) : nil
    }

    /// Whether App Transport Security permits cleartext to a host. Every policy permits it to this machine. The policy,
    /// which may have to be read from the main bundle, is not needed in this case.
    package func allowsCleartext(to host: String) -> Bool {
        LocalHost.isThisMachine(host) || appTransportSecurity.allowsCleartext(to: host)
    }

    /// The request's own policy, unless that is the default, or the session's is stricter.
    func cachePolicy(of request: URLRequest) -> URLRequest.CachePolicy {
        let own = request.cachePolicy
        return own == .useProtocolCachePolicy || requestCachePolicy.strictness > own.strictness
            ? requestCachePolicy : own
    }

    /// The stricter of the session's accept policy for cookies and that of its storage. The transfers of a background
    /// session use it, as their storage is another object, without the program's policy. Setting it sets the session's.
    var strictestCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get {
            let own = httpCookieAcceptPolicy
            guard let other = httpCookieStorage?.cookieAcceptPolicy else { return own }
            return other.strictness > own.strictness ? other : own
        }
        set { httpCookieAcceptPolicy = newValue }
    }

    /// The request's own timeout, if it has one and the session's is not stricter; in seconds, where 0 or less is no limit.
    /// The session's default timeout does not limit a request's own.
    func idleTimeout(of request: URLRequest) -> TimeInterval {
        guard request.hasExplicitTimeout else { return timeoutIntervalForRequest }
        let (own, limit) = (request.timeoutInterval, timeoutIntervalForRequest)
        guard limit > 0, limit != URLRequest.defaultTimeoutInterval else { return own }
        return own > 0 ? min(own, limit) : limit
    }

    /// Whether a response's body is the program's as the server has coded it.
    func keepsContentCodings(of request: URLRequest) -> Bool {
        keepsContentCodings || request.keepsContentCodings
    }

    /// Whether only a stored response may answer the request.
    package func forbidsLoading(_ request: URLRequest) -> Bool { cachePolicy(of: request) == .returnCacheDataDontLoad }
}

extension URLRequest.CachePolicy {
    /// The strictness of a policy: the uses of stored responses and of the network that it forbids. A stricter
    /// session's policy applies to all its requests.
    fileprivate var strictness: Int {
        switch self {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad: 0
        case .reloadRevalidatingCacheData: 1
        case .reloadIgnoringLocalCacheData: 2
        case .reloadIgnoringLocalAndRemoteCacheData: 3
        case .returnCacheDataDontLoad: 4
        }
    }
}

extension HTTPCookie.AcceptPolicy {
    /// The strictness of a policy: a stricter one accepts only cookies that the others accept, too.
    fileprivate var strictness: Int {
        switch self {
        case .always: 0
        case .onlyFromMainDocumentDomain: 1
        case .never: 2
        }
    }
}
