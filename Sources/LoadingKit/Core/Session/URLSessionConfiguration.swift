import Foundation
import Logging

/// The settings of a session: timeouts, fields sent with every request, connection limits, schemes, TLS.
///
/// A session copies its configuration when it is made; later changes do not affect it. Start from
/// `URLSessionConfiguration.default` or `.ephemeral`, which have the built-in schemes: `http`, `https`, `ws`, `wss`,
/// `file`, `data`, and with the package trait `FTP` also `ftp` and `ftps`.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {  // a session reads only its own copy
    package var settings: SessionSettings

    /// A configuration with the settings, schemes and stores of `URLSessionConfiguration.default`.
    public override init() { settings = .ofDefaultConfiguration }

    package init(builtIn handlers: [any BuiltInHandler.Type], cache: URLCache) {
        settings = SessionSettings()
        settings.builtInHandlers = handlers
        settings.urlCache = cache
    }

    init(settings: SessionSettings) { self.settings = settings }

    /// An independent copy.
    open override func copy() -> Any { copy(with: nil) }

    /// An independent copy; the zone is ignored.
    open func copy(with zone: NSZone?) -> Any { URLSessionConfiguration(settings: settings) }

    /// The identifier of a background session (`background(withIdentifier:)`); nil for every other kind of session.
    open internal(set) var identifier: String? {
        get { settings.identifier }
        set { settings.identifier = newValue }
    }

    /// The cache policy of requests without their own: those whose policy is `useProtocolCachePolicy`.
    ///
    /// It also replaces a request's own policy that is less strict, as on Apple's systems. The order of strictness is
    /// `reloadRevalidatingCacheData`, `reloadIgnoringLocalCacheData`, `reloadIgnoringLocalAndRemoteCacheData`,
    /// `returnCacheDataDontLoad`; the other two forbid nothing. With the last one, a stored response answers a request,
    /// or the request fails with `URLError.resourceUnavailable`. All requests fail where nothing is ever stored, such
    /// as those of WebSocket tasks, of background sessions, and of `ftp`.
    open var requestCachePolicy: URLRequest.CachePolicy {
        get { settings.requestCachePolicy }
        set { settings.requestCachePolicy = newValue }
    }

    /// The cache of the session; nil for none. By default `URLCache.shared`; an ephemeral configuration has its own
    /// cache, in memory.
    open var urlCache: URLCache? {
        get { settings.urlCache }
        set { settings.urlCache = newValue }
    }

    /// Seconds without a byte sent or received after which a task fails with `URLError.timedOut`. Default 60.
    ///
    /// A request's own `timeoutInterval` overrides it, unless this property was set to a smaller value: the stricter
    /// one applies, as on Apple's systems. The timeout starts again with each byte; it does not run while the task is
    /// suspended or waits for a free connection.
    open var timeoutIntervalForRequest: TimeInterval {
        get { settings.timeoutIntervalForRequest }
        set { settings.timeoutIntervalForRequest = newValue }
    }

    /// Seconds from `resume()` after which a task fails with `URLError.timedOut`, regardless of its progress. Default
    /// seven days. It also limits a stream task, whose reads and writes have their own timeouts.
    open var timeoutIntervalForResource: TimeInterval {
        get { settings.timeoutIntervalForResource }
        set { settings.timeoutIntervalForResource = newValue }
    }

    /// The kind of traffic of the session's requests that set none themselves. Packets are marked with it (DSCP,
    /// RFC 4594), which routers may take into account.
    open var networkServiceType: URLRequest.NetworkServiceType {
        get { settings.networkServiceType }
        set { settings.networkServiceType = newValue }
    }

    /// Whether requests may use cellular interfaces (those that the system names `wwan`). Default true. A request for
    /// which there is no other network fails with `URLError.notConnectedToInternet`, whose `networkUnavailableReason`
    /// is `.cellular`; with ``waitsForConnectivity`` it waits for one.
    open var allowsCellularAccess: Bool {
        get { settings.allowsCellularAccess }
        set { settings.allowsCellularAccess = newValue }
    }

    /// Whether a background session's transfers wait for favorable conditions. Default false.
    ///
    /// They do not begin while the machine runs on battery, while the network is metered, or while the processors are busy,
    /// and their starts are spread over some time. A transfer that has begun continues.
    open var isDiscretionary: Bool {
        get { settings.isDiscretionary }
        set { settings.isDiscretionary = newValue }
    }

    /// The container for the files of background sessions. It has no effect, because Linux has no such containers;
    /// ``backgroundDownloadFolder`` sets the folder.
    open var sharedContainerIdentifier: String? {
        get { settings.sharedContainerIdentifier }
        set { settings.sharedContainerIdentifier = newValue }
    }

    /// Whether connections are kept open while the program is in the background. The property has no effect: they are
    /// always kept open, because Linux does not suspend the process. Default false.
    open var shouldUseExtendedBackgroundIdleMode: Bool {
        get { settings.shouldUseExtendedBackgroundIdleMode }
        set { settings.shouldUseExtendedBackgroundIdleMode = newValue }
    }

    /// Fields sent with every HTTP request that does not set them itself. Keys and values are strings.
    ///
    /// `Authorization`, `Cookie` and `Proxy-Authorization` are sent to the origin of the task's first request (its
    /// scheme, host and port, with `https` where the host requires it, as a ``LoadAdapter`` returns them), and to no
    /// other origin after a redirect.
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { settings.httpAdditionalHeaders.map { Dictionary($0.map { ($0, $1) }) { first, _ in first } } }
        set {
            settings.httpAdditionalHeaders = newValue.map { headers in
                // Different keys may have the same text.
                headers.map { (String(describing: $0.key.base), String(describing: $0.value)) }.sorted(by: <)
            }
        }
    }

    /// The largest number of open connections to one host. Default 6; values under 1 count as 1.
    ///
    /// The limit is for all of the session's tasks together, also for those that use no connection of others: tasks
    /// whose own delegate may decide about connections, and transfers of a background session over `https`. While such
    /// a task waits, an idle connection is closed for it, or a busy one when its request has ended. A busy HTTP/2
    /// connection takes no further request once one of its requests has ended, or if it carries WebSocket tasks alone.
    /// It is closed after the others, and until then does not count. The other connections of WebSocket tasks do not
    /// count either.
    open var httpMaximumConnectionsPerHost: Int {
        get { settings.httpMaximumConnectionsPerHost }
        set { settings.httpMaximumConnectionsPerHost = newValue }
    }

    /// Whether safe requests may be sent over an HTTP/1.1 connection before those ahead of them are answered
    /// (RFC 9112 §9.3.2). Default false. A single request may permit it, too: `URLRequest.httpShouldUsePipelining`.
    ///
    /// Pipelining saves time where round trips are long and connections are few. Requests that would otherwise wait for
    /// one of ``httpMaximumConnectionsPerHost`` are sent behind others. A connection has at most eight unanswered
    /// requests.
    ///
    /// - Only `GET`, `HEAD`, `OPTIONS` and `TRACE` requests without a body are pipelined, and only behind other such
    ///   requests that permit it. The server must have answered with HTTP/1.1 on the connection before. Requests of an
    ///   NTLM login are not pipelined, because the login authenticates the connection.
    /// - No request is sent behind a response that has begun and has no known length, such as a stream of events.
    /// - Responses arrive in the order of the requests: a long or slow response, or a suspended task, delays the
    ///   responses behind it. The idle timeout of a task (``timeoutIntervalForRequest``) starts when its response is
    ///   the next.
    /// - When a connection ends, its unanswered requests are sent again on others. A request is pipelined at most once.
    /// - When a server closes a connection that has pipelined requests, or does not answer them, the session stops
    ///   pipelining requests to that server, until it is `reset`.
    open var httpShouldUsePipelining: Bool {
        get { settings.httpShouldUsePipelining }
        set { settings.httpShouldUsePipelining = newValue }
    }

    /// Whether HTTP/2 is offered to `https` servers. The server selects the version (ALPN). Default true.
    open var allowsHTTP2: Bool {
        get { settings.allowsHTTP2 }
        set { settings.allowsHTTP2 = newValue }
    }

    /// Whether connections to `http` servers use HTTP/2 from the first byte, because the program knows that the servers
    /// support it (RFC 9113 §3.3). Default false: cleartext is HTTP/1.1.
    open var assumesCleartextHTTP2: Bool {
        get { settings.assumesHTTP2 }
        set { settings.assumesHTTP2 = newValue }
    }

    /// The storage of cookies that responses set and requests send. Nil: cookies are not handled. The default
    /// configuration has `HTTPCookieStorage.shared`; an ephemeral one has its own storage, in memory.
    open var httpCookieStorage: HTTPCookieStorage? {
        get { settings.httpCookieStorage }
        set { settings.httpCookieStorage = newValue }
    }

    /// Whether the storage's cookies are sent with requests. Default true. A request with its own `Cookie` field is
    /// sent with that field only.
    open var httpShouldSetCookies: Bool {
        get { settings.httpShouldSetCookies }
        set { settings.httpShouldSetCookies = newValue }
    }

    /// The policy for cookies that responses set; the storage's own policy applies, too. Default
    /// `onlyFromMainDocumentDomain`: cookies of the site of the request's `mainDocumentURL`, where it has one.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { settings.httpCookieAcceptPolicy }
        set { settings.httpCookieAcceptPolicy = newValue }
    }

    /// Whether a request that is not idempotent, such as a POST, is sent once more where the connection was closed
    /// before any byte of a response. Default true, as in other clients.
    ///
    /// This applies only to requests whose body can be sent again: data, a file, or a stream in place of which the
    /// delegate gives another (`needNewBodyStream`). It applies only where the connection has carried another request
    /// before. Most likely the server has closed such a connection as idle, while the request was in transit.
    /// An HTTP/2 server that has sent anything since the request, or that no longer answers PINGs, has not: the request
    /// fails with `networkConnectionLost`. Requests with idempotent methods, and those with an `Idempotency-Key` field,
    /// are sent again up to three times, whatever this setting is, and only where the connection has carried another
    /// request before.
    open var retriesUnansweredRequests: Bool {
        get { settings.retriesUnansweredRequests }
        set { settings.retriesUnansweredRequests = newValue }
    }

    /// Whether upload tasks inform the server that they can be resumed. They then resume after a broken connection if
    /// the server has sent 104 (Upload Resumption Supported). Default true, as on Apple's systems.
    ///
    /// Each request of an upload task then has the fields `Upload-Complete` and `Upload-Draft-Interop-Version`. Set to
    /// false for servers, or intermediaries, that refuse unknown fields. See <doc:ResumableUploads>.
    open var attemptsResumableUploads: Bool {
        get { settings.attemptsResumableUploads }
        set { settings.attemptsResumableUploads = newValue }
    }

    /// Whether the bodies of all responses are delivered with their servers' content codings (`Content-Encoding`).
    /// Default false: they are decoded, as on Apple's systems.
    ///
    /// For a program that forwards or stores bodies. ``URLRequest/keepsContentCodings`` describes the effect, and is
    /// the setting for single requests.
    open var keepsContentCodings: Bool {
        get { settings.keepsContentCodings }
        set { settings.keepsContentCodings = newValue }
    }

    /// The largest ratio between the decoded and the received bytes of a response's body, where it has a content coding
    /// (gzip, deflate, br, zstd). Default 200; `Int.max`: no limit.
    ///
    /// The limit is applied after more than 32 MiB of decoded bytes. A smaller body may expand as far as its coding
    /// can: 1,032 times for one layer of gzip, and more for br and zstd. Where several codings were applied, the limit
    /// applies to the result of each; a body with more than four is not decoded. A body that exceeds the limit fails
    /// with `URLError.cannotDecodeRawData`, in every kind of task. The messages of a WebSocket have another limit:
    /// ``URLSessionWebSocketTask/maximumMessageSize``.
    open var maximumDecompressionRatio: Int {
        get { settings.maximumDecompressionRatio }
        set { settings.maximumDecompressionRatio = newValue }
    }

    /// The largest number of bytes of a response's body, decoded, that may be collected in memory: for a completion
    /// handler, and for `data(for:)`, `data(from:)` and `upload(for:…)`. Default nil: no limit but the available
    /// memory.
    ///
    /// A longer body fails with `URLError.dataLengthExceedsMaximum`, at once where the response announces its length.
    /// In a `multipart/x-mixed-replace` response the limit applies to each part. Bodies that are received piece by
    /// piece, by a delegate, `bytes(for:)`, a stream or a download, have no such limit.
    open var maximumCollectedBodySize: Int? {
        get { settings.maximumCollectedBodySize }
        set { settings.maximumCollectedBodySize = newValue }
    }

    /// The number of bytes of bodies that may be held in memory while readers do not take them, in the whole process,
    /// in addition to the first 128 KiB of each response. Default 64 MiB. It is a limit for HTTP/2.
    ///
    /// A reader pauses where a task is suspended, where `bytes(for:)` is not iterated, or where a delegate has not yet
    /// returned. The server may then send what its flow-control window still permits, and no more. The window grows for
    /// a fast response whose reader takes the received bytes, up to 64 MiB, within this limit: one response gets half
    /// of the remainder, and the responses of one connection half of the whole. Where nothing remains, each response
    /// continues with its first 128 KiB, which are returned to the server as the reader takes them. This may be slower
    /// over a long distance.
    ///
    /// A session compares the total of all the process's sessions with its own setting. Over HTTP/1.1 each response has
    /// its own connection, which is not read until the reader continues.
    open var maximumUnreadBodySize: Int {
        get { settings.maximumUnreadBodySize }
        set { settings.maximumUnreadBodySize = newValue }
    }

    /// The proxies through which servers are reached, by Apple's keys (``kCFNetworkProxiesHTTPProxy`` and so on).
    ///
    /// Nil, the default: the proxies of the environment variables `http_proxy`, `https_proxy`, `all_proxy` and
    /// `no_proxy`, interpreted as curl does. An empty dictionary: no proxy.
    ///
    /// A proxy may require a credential: with a 407, or as a SOCKS 5 proxy that requires a password. It gets, in this
    /// order, the credential of the dictionary, the credential of ``urlCredentialStorage`` for its protection space, or
    /// the delegate's answer to a challenge whose protection space ``URLProtectionSpace/isProxy()``. Later requests of
    /// the session send an accepted credential from the start. Without a credential, an `http` request gets the 407 as
    /// its response. A request that needs a tunnel fails with `URLError.userAuthenticationRequired`, whose text names
    /// the proxy.
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { settings.connectionProxyDictionary }
        set { settings.connectionProxyDictionary = newValue }
    }

    /// Determines the proxies of servers, in place of the environment variables. Default: nil.
    ///
    /// It is called where ``connectionProxyDictionary`` is nil, or names a script
    /// (``kCFNetworkProxiesProxyAutoConfigEnable``), which it then gets with the query. A dictionary without a script
    /// takes precedence. The resolver is not called for hosts of the dictionary's exceptions, and for those of
    /// ``unixSocket``.
    ///
    /// A result may have several routes (``ProxyChoice``). A request uses the first route whose proxy can be reached:
    /// the next one is tried where connecting failed, never after a request was sent. A route that is not the last has
    /// 10 seconds to connect, or its share of the request's timeout where that is shorter. A proxy that could not be
    /// reached is tried after the others for 5 minutes. Where no route succeeds, the error's text names all.
    ///
    /// A session calls the resolver once for all loads to a scheme, host and port, with at most 16 calls at a time. It
    /// keeps a result for a minute, until the networks change, or until the session is reset. While a resolver has not
    /// returned, the loads' timeouts run.
    ///
    /// A background session that has a resolver, and would call it, is invalidated with an error: its transfers
    /// continue after the program has ended.
    open var proxyResolver: (any ProxyResolver)? {
        get { settings.proxyResolver }
        set { settings.proxyResolver = newValue }
    }

    /// Handler classes that are tried before the built-in ones, in order. Each must be a subclass of
    /// ``URLProtocolHandler``; other classes are ignored.
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

    /// The cipher suites that are offered in TLS 1.2 and earlier, in OpenSSL's notation (`ciphers(1)`), the preferred
    /// first: `ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256`. Default nil: those of the system's OpenSSL.
    ///
    /// Suites without forward secrecy are offered only where ``appTransportSecurity`` permits them. A text that names no
    /// suite is `URLError.cannotConnectToHost` when a connection is made.
    open var tlsCipherList: String? {
        get { settings.tlsCipherList }
        set { settings.tlsCipherList = newValue }
    }

    /// The cipher suites that are offered in TLS 1.3, in OpenSSL's notation, the preferred first:
    /// `TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256`. Default nil: those of the system's OpenSSL.
    ///
    /// A text with another name is `URLError.cannotConnectToHost` when a connection is made.
    open var tlsCipherSuites: String? {
        get { settings.tlsCipherSuites }
        set { settings.tlsCipherSuites = newValue }
    }

    /// The trusted certificate authorities. Default: the system's.
    ///
    /// Files are read again when they have changed; see <doc:TrustAndIdentity>.
    open var tlsTrustRoots: TrustRoots {
        get { settings.trustRoots }
        set { settings.trustRoots = newValue }
    }

    /// Whether a server's certificate chain and name are verified. Default true. If false, everyone on the path to the
    /// server can read and change the transferred data.
    open var tlsVerifiesServer: Bool {
        get { settings.verifiesServer }
        set { settings.verifiesServer = newValue }
    }

    /// The storage of credentials that servers have accepted, and of credentials that are proposed in challenges.
    /// Default `URLCredentialStorage.shared`; an ephemeral configuration has its own storage. Nil: no credential is
    /// stored or proposed, and the delegate gets every challenge.
    open var urlCredentialStorage: URLCredentialStorage? {
        get { settings.credentialStorage }
        set { settings.credentialStorage = newValue }
    }

    /// Authentication schemes for HTTP servers, in addition to Basic, Digest and NTLM. A scheme with the name of a
    /// built-in one replaces it.
    open var authenticationSchemes: [any HTTPAuthenticationScheme.Type] {
        get { settings.authenticationSchemes.map(\.type) }
        set {
            let old = settings.authenticationSchemes
            settings.authenticationSchemes = newValue.map { type in
                old.first { $0.type == type } ?? AuthenticationSchemeMaker(type)
            }
        }
    }

    /// Adds an authentication scheme whose values need the program's own settings. It becomes one of the
    /// ``authenticationSchemes``, and replaces an earlier one of the same type.
    ///
    /// - Parameters:
    ///   - type: the scheme.
    ///   - make: makes a value that answers a challenge to a request; nil where it cannot, or should not. It is called
    ///     on event loops, must not block, and is used instead of the scheme's `init`.
    open func register<Scheme: HTTPAuthenticationScheme>(
        authenticationScheme type: Scheme.Type,
        _ make: @escaping @Sendable (HTTPAuthenticationChallenge, HTTPAuthenticationRequest) -> Scheme?
    ) {
        settings.authenticationSchemes.removeAll { $0.type == type }
        settings.authenticationSchemes.append(AuthenticationSchemeMaker(type, make))
    }

    /// The rules for cleartext `http`. Default: the policy of the program's Info.plist; without one, cleartext is
    /// permitted from local hosts only.
    open var appTransportSecurity: AppTransportSecurity {
        get { settings.appTransportSecurity }
        set { settings.appTransportSecurity = newValue }
    }

    /// The logger for the session's activity, by levels and keys of metadata that the page on logging lists. Default: a
    /// logger that writes nothing. Its level is read where the session is made.
    ///
    /// When a store can no longer write to disk, it logs one line: to the logger that was last assigned to a session,
    /// or otherwise to the program's own (`LoggingSystem`).
    open var logger: Logger {
        get { settings.logger }
        set { settings.ownLogger = newValue }
    }

    /// Whether the session keeps its last events, in at most 64 KiB of memory, for ``URLSession/flightRecord`` and for the
    /// steps in the errors of its loads. Default: true. This property exists only in LoadingKit.
    open var recordsEvents: Bool {
        get { settings.recordsEvents }
        set { settings.recordsEvents = newValue }
    }

    /// Returns the Unix-domain socket for requests to a host, for `http`, `https`, `ws` and `wss`; nil for hosts that
    /// are reached by their addresses. Default: nil, for all hosts.
    ///
    /// ```swift
    /// configuration.unixSocket = { $0 == "docker" ? UnixSocket(path: "/run/docker.sock") : nil }
    /// let (data, _) = try await session.data(from: URL(string: "http://docker/v1.44/info")!)
    /// ```
    ///
    /// Such hosts use no proxy, and cleartext to them is permitted. No other host's server can redirect to them. Called
    /// on the session's event loop, with the host in lower case: it must not block, and must always return the same
    /// result for a host.
    open var unixSocket: (@Sendable (_ host: String) -> UnixSocket?)? {
        get { settings.unixSocket }
        set { settings.unixSocket = newValue }
    }

    /// The interceptors between the session and its handlers, the outermost first. They are called before
    /// ``protocolClasses``. Default: none.
    open var interceptors: [any LoadInterceptor] {
        get { settings.interceptors }
        set { settings.interceptors = newValue }
    }

    /// Registers a factory for a URL scheme. It is tried after ``protocolClasses`` and before the built-in classes.
    ///
    /// The factory may capture instances (a recorder, a store), so that parallel sessions share no static state. A
    /// later registration of the same scheme replaces the earlier one.
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

    /// Registers a function that loads a URL scheme, in the same way as ``register(scheme:_:)`` registers a factory.
    ///
    /// - Parameter load: loads a request like a class's ``URLProtocolHandler/load(_:)``.
    open func register(scheme: String, loading load: @escaping @Sendable (LoadContext) async throws -> Void) {
        register(scheme: scheme) { ClosureHandler(request: $0, load: load) }
    }

    /// Replaces the function of each registered scheme, for checks of handlers.
    @_spi(LoadingKitPlugins)
    public func mapFactories(
        _ change: (@escaping @Sendable (URLRequest) -> URLProtocolHandler)
            -> @Sendable (URLRequest) -> URLProtocolHandler
    ) {
        settings.factories = settings.factories.map {
            SchemeFactory(scheme: $0.scheme, makeHandler: change($0.makeHandler))
        }
    }

    /// Keeps the configuration's sessions out of all recordings, also out of those of all sessions: `LOADKIT_HAR` and
    /// the inspector. For exchanges whose bodies are secrets, without a name by which a recording could hide them.
    @_spi(LoadingKitPlugins)
    public func preventRecording() { settings.recorders = nil }

    /// The certificate authorities that a session trusts.
    public enum TrustRoots: Sendable, Hashable {
        /// The system's store; `SSL_CERT_FILE` and `SSL_CERT_DIR` are respected.
        case system
        /// Only the certificates of a PEM file.
        case file(path: String)
        /// Only these certificates, in PEM.
        case pem(String)
    }
}
