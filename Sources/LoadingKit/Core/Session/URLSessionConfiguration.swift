import Foundation
import Logging

/// The settings of a session: timeouts, fields sent with every request, connection limits, schemes, TLS.
///
/// A session copies its configuration when it is made; changes after that have no effect on it. Start from
/// `URLSessionConfiguration.default` or `.ephemeral`, which know the built-in schemes (`http`, `https`, `file`,
/// `data`). A configuration made with ``init()`` knows no scheme but those registered with it.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {  // a session reads only its own copy
    package var settings: SessionSettings

    /// A configuration with the default settings and none of the built-in schemes.
    public override init() {
        settings = SessionSettings()
        settings.urlCache = .shared
        settings.credentialStorage = .shared
    }

    package init(builtIn handlers: [URLProtocolHandler.Type], cache: URLCache) {
        settings = SessionSettings()
        settings.builtInHandlers = handlers
        settings.urlCache = cache
    }

    init(settings: SessionSettings) { self.settings = settings }

    /// An independent copy.
    open override func copy() -> Any { copy(with: nil) }

    /// An independent copy; the zone is ignored.
    open func copy(with zone: NSZone?) -> Any { URLSessionConfiguration(settings: settings) }

    /// The identifier of a background session; nil for every other kind.
    open internal(set) var identifier: String? {
        get { settings.identifier }
        set { settings.identifier = newValue }
    }

    /// The cache policy of requests that set none of their own: those whose policy is `useProtocolCachePolicy`.
    open var requestCachePolicy: URLRequest.CachePolicy {
        get { settings.requestCachePolicy }
        set { settings.requestCachePolicy = newValue }
    }

    /// The cache of the session; nil for none. By default `URLCache.shared`; an ephemeral configuration has one of its
    /// own, in memory.
    open var urlCache: URLCache? {
        get { settings.urlCache }
        set { settings.urlCache = newValue }
    }

    /// Seconds without a byte sent or received after which a task fails with `URLError.timedOut`. Default 60.
    ///
    /// A request whose own `timeoutInterval` was set overrides it. The time starts anew with each byte; it does
    /// not run while the task is suspended or waits for a free connection.
    open var timeoutIntervalForRequest: TimeInterval {
        get { settings.timeoutIntervalForRequest }
        set { settings.timeoutIntervalForRequest = newValue }
    }

    /// Seconds from `resume()` after which a task fails with `URLError.timedOut`, however much it received.
    /// Default seven days.
    open var timeoutIntervalForResource: TimeInterval {
        get { settings.timeoutIntervalForResource }
        set { settings.timeoutIntervalForResource = newValue }
    }

    /// Fields sent with every HTTP request that does not set them itself. Keys and values are strings.
    ///
    /// `Authorization`, `Cookie` and `Proxy-Authorization` go to the origin that a task is made for (the scheme, host and port
    /// of its first request, by `https` where the host asks for that), and to no other that it is redirected to.
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { settings.httpAdditionalHeaders.map { Dictionary(uniqueKeysWithValues: $0.map { ($0, $1) }) } }
        set {
            settings.httpAdditionalHeaders = newValue.map { headers in
                headers.map { (String(describing: $0.key.base), String(describing: $0.value)) }.sorted { $0.0 < $1.0 }
            }
        }
    }

    /// How many connections may be open to one host at a time. Default 6; values under 1 count as 1.
    open var httpMaximumConnectionsPerHost: Int {
        get { settings.httpMaximumConnectionsPerHost }
        set { settings.httpMaximumConnectionsPerHost = newValue }
    }

    /// Whether safe requests may be sent over an HTTP/1.1 connection before those ahead of them are answered (RFC 9112
    /// §9.3.2). Default false. A request alone may ask for it, too: `URLRequest.httpShouldUsePipelining`.
    ///
    /// It spares waiting where round trips are long and connections few: requests that would wait for one of
    /// ``httpMaximumConnectionsPerHost`` go out behind others, eight unanswered ones on a connection at most. Only `GET`,
    /// `HEAD`, `OPTIONS` and `TRACE` without a body do, behind others of that kind that ask for it, on connections on which
    /// the server has answered by HTTP/1.1 before; none that takes part in an NTLM login does, as that is the connection's.
    ///
    /// - None goes behind an answer that has begun and does not say how long it is, as a stream of events does not.
    /// - Answers come in the order of the requests, so that a long or slow one, or a suspended task, holds up those behind
    ///   it. A task's idle time (``timeoutIntervalForRequest``) runs from its turn to be answered.
    /// - When a connection ends, what it has not answered is sent again on others; a request is sent ahead once at most.
    /// - A server that breaks a connection off, or stays silent, with requests ahead of their answers is not pipelined to
    ///   any more in the session, until it is `reset`.
    open var httpShouldUsePipelining: Bool {
        get { settings.httpShouldUsePipelining }
        set { settings.httpShouldUsePipelining = newValue }
    }

    /// Whether HTTP/2 is offered to `https` servers, who choose (ALPN). Default true.
    open var allowsHTTP2: Bool {
        get { settings.allowsHTTP2 }
        set { settings.allowsHTTP2 = newValue }
    }

    /// Whether `http` servers are spoken to in HTTP/2 from the first byte, as is known before that they speak it
    /// (RFC 9113 §3.3). Default false: cleartext is HTTP/1.1.
    open var assumesCleartextHTTP2: Bool {
        get { settings.assumesHTTP2 }
        set { settings.assumesHTTP2 = newValue }
    }

    /// Where responses' cookies are kept, and requests' come from. Nil: nowhere. The default configuration has
    /// `HTTPCookieStorage.shared`, an ephemeral one a storage of its own in memory.
    open var httpCookieStorage: HTTPCookieStorage? {
        get { settings.httpCookieStorage }
        set { settings.httpCookieStorage = newValue }
    }

    /// Whether cookies of the storage go with requests. Default true. A request that has a `Cookie` field of its own keeps
    /// that alone.
    open var httpShouldSetCookies: Bool {
        get { settings.httpShouldSetCookies }
        set { settings.httpShouldSetCookies = newValue }
    }

    /// Which responses may set cookies; the storage's own policy applies, too. Default
    /// `onlyFromMainDocumentDomain`: those of the site of the request's `mainDocumentURL`, where it has one.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { settings.httpCookieAcceptPolicy }
        set { settings.httpCookieAcceptPolicy = newValue }
    }

    /// Whether a request that may do harm when it is done twice, such as a POST, is sent once more where the connection was
    /// closed before any byte of a response. Default true, as other clients do.
    ///
    /// It concerns requests on connections that have served before, and bodies that can be sent again: of such a
    /// connection it is most likely that the server has closed it as idle, while the request was on its way. Requests of
    /// idempotent methods, and those with an `Idempotency-Key` field, are sent again in any case.
    open var retriesUnansweredRequests: Bool {
        get { settings.retriesUnansweredRequests }
        set { settings.retriesUnansweredRequests = newValue }
    }

    /// How many bytes a response's body may decode to, for each byte that was received of it, where it has a content
    /// coding (gzip, deflate, br, zstd). Default 200; `Int.max`: any number.
    ///
    /// It counts from 32 MiB of decoded bytes on: what is smaller may expand as far as its coding can, which is 1,032 times
    /// for one layer of gzip, and more for br and zstd. Of codings one upon the other the result of each counts; more than four are not decoded. A
    /// body that expands further fails with `URLError.cannotDecodeRawData` when it does, whoever takes its bytes. The
    /// messages of a WebSocket are bounded by ``URLSessionWebSocketTask/maximumMessageSize`` instead.
    open var maximumDecompressionRatio: Int {
        get { settings.maximumDecompressionRatio }
        set { settings.maximumDecompressionRatio = newValue }
    }

    /// How many bytes of a response's body, decoded, may be put together in memory: for a completion handler, and for
    /// `data(for:)`, `data(from:)` and `upload(for:…)`. Default nil: as many as there is memory for.
    ///
    /// A longer body fails with `URLError.dataLengthExceedsMaximum`: at once where the response announces its length. Of a
    /// `multipart/x-mixed-replace` response it holds for each part. What a delegate, `bytes(for:)`, a stream or a download
    /// takes piece by piece has no such bound.
    open var maximumCollectedBodySize: Int? {
        get { settings.maximumCollectedBodySize }
        set { settings.maximumCollectedBodySize = newValue }
    }

    /// Through which proxies servers are reached, by Apple's keys (``kCFNetworkProxiesHTTPProxy`` and so on).
    ///
    /// Nil, the default: what the environment says in `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl reads
    /// them. An empty dictionary: no proxy.
    ///
    /// A proxy that asks for a credential (407, or a SOCKS 5 proxy that wants a password) gets what the dictionary says,
    /// else what ``urlCredentialStorage`` has for its protection space, else what the delegate answers to a challenge
    /// whose protection space ``URLProtectionSpace/isProxy()``. What it accepted it is told unasked by later requests of
    /// the session. Without a credential its 407 is the response to an `http` request, and
    /// `URLError.userAuthenticationRequired`, naming the proxy, for one that needed a tunnel.
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { settings.connectionProxyDictionary }
        set { settings.connectionProxyDictionary = newValue }
    }

    /// Handler classes asked before the built-in ones, in order. Each must be a subclass of ``URLProtocolHandler``;
    /// other classes are ignored.
    open var protocolClasses: [AnyClass]? {
        get { settings.protocolClasses }
        set { settings.protocolClasses = newValue }
    }

    /// The oldest TLS version accepted. Default TLS 1.2.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { settings.tlsMinimumVersion }
        set { settings.tlsMinimumVersion = newValue }
    }

    /// The newest TLS version offered. Default TLS 1.3.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { settings.tlsMaximumVersion }
        set { settings.tlsMaximumVersion = newValue }
    }

    /// Which certificate authorities are trusted. Default: the system's.
    open var tlsTrustRoots: TrustRoots {
        get { settings.trustRoots }
        set { settings.trustRoots = newValue }
    }

    /// Whether a server's certificate chain and name are verified. Default true. Without it anyone on the path can
    /// read and change what is transferred.
    open var tlsVerifiesServer: Bool {
        get { settings.verifiesServer }
        set { settings.verifiesServer = newValue }
    }

    /// Where credentials are kept that servers have accepted, and looked for that are proposed. Default
    /// ``URLCredentialStorage/shared``, for an ephemeral configuration a storage of its own. Nil: nowhere; then every
    /// challenge is put to the delegate.
    open var urlCredentialStorage: URLCredentialStorage? {
        get { settings.credentialStorage }
        set { settings.credentialStorage = newValue }
    }

    /// Ways to authenticate to HTTP servers beyond Basic, Digest and NTLM. One with the name of a built-in scheme takes
    /// its place.
    open var authenticationSchemes: [any HTTPAuthenticationScheme.Type] {
        get { settings.authenticationSchemes }
        set { settings.authenticationSchemes = newValue }
    }

    /// When cleartext `http` may be loaded. Default: what the program's Info.plist says, else to local hosts alone.
    open var appTransportSecurity: AppTransportSecurity {
        get { settings.appTransportSecurity }
        set { settings.appTransportSecurity = newValue }
    }

    /// Where the session writes what it does. Default: a logger that writes nothing.
    ///
    /// The logger given to a session last also gets the one line of a store that can no longer keep things on disk; where
    /// none was given, the program's (`LoggingSystem`) does.
    open var logger: Logger {
        get { settings.logger }
        set { settings.ownLogger = newValue }
    }

    /// Registers a factory for a URL scheme, asked after ``protocolClasses`` and before the built-in classes.
    ///
    /// The factory may capture instances (a recorder, a store), so that sessions side by side share no static
    /// state. A later registration of the same scheme replaces the earlier one.
    ///
    /// - Parameters:
    ///   - scheme: compared without regard to ASCII case.
    ///   - makeHandler: called on the session's event loop for each load. Must not block.
    open func register(
        scheme: String, _ makeHandler: @escaping @Sendable (URLRequest) -> URLProtocolHandler
    ) {
        let scheme = scheme.lowercased()
        settings.factories.removeAll { $0.scheme == scheme }
        settings.factories.append(SchemeFactory(scheme: scheme, makeHandler: makeHandler))
    }

    /// Registers what loads a URL scheme, as ``register(scheme:_:)`` does a factory.
    ///
    /// - Parameter load: what ``URLProtocolHandler/load(_:)`` is to a class.
    open func register(scheme: String, loading load: @escaping @Sendable (LoadContext) async throws -> Void) {
        register(scheme: scheme) { ClosureHandler(request: $0, load: load) }
    }

    /// Which certificate authorities a session trusts.
    public enum TrustRoots: Sendable, Hashable {
        /// The system's store; `SSL_CERT_FILE` and `SSL_CERT_DIR` are respected.
        case system
        /// Only the certificates of a PEM file.
        case file(path: String)
        /// Only these certificates, in PEM.
        case pem(String)
    }
}
