import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A session's HTTP connections: which are idle, which are being made, and who waits for one; and what the session's
/// exchanges know of servers.
final class ConnectionPool: SessionResource {
    /// How long an idle connection is kept, in seconds. Servers commonly close after 60 to 75.
    static let idleTimeout = 55.0

    let loop: EventLoop
    let settings: SessionSettings
    /// Where bodies are decoded to, a piece at a time; its bytes are handed over before the next piece.
    let decodeBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    let logins: AuthenticationMemory
    /// Ways to authenticate. Those of the program come first, so that one of them can take the place of a built-in one.
    private let authenticationSchemes: [any HTTPAuthenticationScheme.Type]
    private let turns = AuthenticationTurns()
    private let connector: Connector
    private var origins: [Route: OriginPool] = [:]
    /// Where a connection ended unannounced with requests ahead of their answers: nothing is pipelined there any more.
    private var brokenPipelines: Set<Route> = []
    private var tls: [TLSOptions: TLSContext] = [:]
    /// Where WebSockets cannot be opened over HTTP/1.1.
    private var http2Alone: Set<Route> = []
    /// How long idle connections lasted that servers have closed, in seconds.
    private var idleTimes: [Route: Double] = [:]
    private static let mostIdleTimes = 1000
    private var lastCleartext: (host: String, isAllowed: Bool)?
    private var lastTarget: RequestTarget?
    private var lastRoute: Route?
    private var lastPool: OriginPool?
    private let use: NetworkUse
    private var exchangeCount: UInt64 = 0
    private var requestFields: RequestFields
    private let proxies: ProxyRules
    private let hasProxies: Bool
    private var sweepTimer: LoopTimer?
    private(set) var isClosed = false

    private init(_ core: SessionCore) {
        loop = core.loop
        settings = core.settings
        use = NetworkUse(core.settings)
        requestFields = RequestFields(core.settings)
        proxies = ProxyRules(
            core.settings.connectionProxyDictionary, environment: ProcessInfo.processInfo.environment)
        hasProxies = !proxies.isEmpty
        logins = AuthenticationMemory(core.settings.credentialStorage)
        authenticationSchemes =
            core.settings.authenticationSchemes + [
                NTLMScheme.self, DigestScheme.self, BasicScheme.self, SOCKSPasswordScheme.self,
            ]
        connector = Connector(loop: core.loop, resolver: Resolver.shared)
    }

    deinit { decodeBuffer.deallocate() }

    static func of(_ core: SessionCore) -> ConnectionPool { core.resource(ConnectionPool.init) }

    // MARK: From exchanges

    /// Takes a URL apart. What the last one's origin was is remembered, too.
    func target(of url: URL) throws(LoadFailure) -> RequestTarget {
        let target = try RequestTarget(url, like: lastTarget)
        lastTarget = target
        return target
    }

    func fields(of request: URLRequest, to origin: Origin, for task: URLSessionTask) -> HTTPFields {
        requestFields.make(request, origin, for: task)
    }

    /// Whether requests may be sent with credentials that they do not have themselves.
    var mayAddCredentials: Bool { requestFields.addsCredentials || !logins.isEmpty }

    /// A request's fields as HTTP/2 has them, which says the host elsewhere.
    func withoutHost(_ fields: HTTPFields) -> RequestFields.WithoutHost { requestFields.withoutHost(fields) }

    /// Whether a delegate may have a say in how a connection to an origin is made: whether the server is trusted, and who
    /// the client is to it and to a proxy.
    func mayAskDelegates(about origin: Origin) -> Bool { origin.isSecure || hasProxies }

    func nextExchangeNumber() -> UInt64 {
        exchangeCount &+= 1
        return exchangeCount
    }

    /// What the last one was is remembered: most requests of a session go the same way.
    ///
    /// - Parameter delegate: the task's own, where it may decide in the TLS handshake.
    func route(
        to origin: Origin, for request: URLRequest, switching: Route.Switching, decidedBy delegate: AnyObject?
    ) -> Route {
        let use = use.narrowed(by: request)
        if let last = lastRoute, last.origin == origin, last.use == use, last.switching == switching,
            last.isDecided(by: delegate)
        {
            return last
        }
        let route = Route(
            origin: origin, proxy: proxies.proxy(for: origin), use: use, switching: switching,
            decider: delegate.map(Route.Decider.init))
        lastRoute = route
        return route
    }

    /// Whether transport security lets cleartext go to a host. The last answer is remembered: most requests of a session
    /// go to the same host.
    func allowsCleartext(to host: String) -> Bool {
        if let lastCleartext, lastCleartext.host == host { return lastCleartext.isAllowed }
        let isAllowed = settings.allowsCleartext(to: host)
        lastCleartext = (host, isAllowed)
        return isAllowed
    }

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        guard let route = exchange.route else { return }
        // A connection of its own, unless there is one that a stream may switch on (RFC 8441).
        if route.switching == .inAnyVersion, origins[route.shared]?.carriesUpgrade(exchange) == true { return }
        pool(for: route).submit(exchange, needsFreshConnection: needsFreshConnection)
    }

    func withdraw(_ exchange: HTTPExchange) {
        guard let route = exchange.route else { return }
        origins[route]?.withdraw(exchange)
    }

    /// Requests that go that way go out over HTTP/1.1 from now on.
    func requireHTTP1(_ route: Route) { origins[route]?.requireHTTP1() }

    /// - Parameters:
    ///   - isSecure: whether the request is for an `https` URL.
    ///   - credential: what the URL, or the proxy's settings, name.
    func authenticationContext(
        _ site: AuthenticationSite, _ request: HTTPAuthenticationRequest, isSecure: Bool,
        given credential: URLCredential?,
        for task: URLSessionTask
    ) -> AuthenticationContext {
        AuthenticationContext(
            site: site, isSecure: isSecure, request: request, givenCredential: credential,
            schemes: authenticationSchemes, memory: logins, turns: turns, storage: settings.credentialStorage,
            task: task)
    }

    private func pool(for route: Route) -> OriginPool {
        if let last = lastPool, last.route === route { return last }
        let pool = origins[route] ?? OriginPool(route, self)
        origins[route] = pool
        lastPool = pool
        return pool
    }

    // MARK: From origins' pools

    func speaksHTTP2Alone(_ route: Route) -> Bool { http2Alone.contains(route.undecided) }

    /// Kept until the session is reset.
    func rememberHTTP2Alone(_ route: Route) { http2Alone.insert(route.undecided) }

    /// After how many seconds the server has last closed an idle connection.
    func idleTime(of route: Route) -> Double? { idleTimes.isEmpty ? nil : idleTimes[route.undecided] }

    /// Kept until the session is reset, and for a bounded number of servers: of more than that most are asked once.
    func rememberIdleTime(_ seconds: Double, of route: Route) {
        if idleTimes.count >= Self.mostIdleTimes { idleTimes.removeAll() }
        idleTimes[route.undecided] = seconds
    }

    func connect(
        _ route: Route, offersHTTP2: Bool, for owner: any TunnelOwner & TLSDecider,
        _ completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) -> (any PendingConnection)? {
        let origin = route.origin
        do {
            let context = origin.isSecure ? try tlsContext(offersHTTP2, for: origin.host) : nil
            if let proxy = route.proxy {
                let security = ProxiedConnect.Security(
                    proxy: proxy.kind == .https ? try tlsContext(false, for: proxy.host) : nil, server: context,
                    decider: owner)
                let attempt = ProxiedConnect(
                    route, proxy, connector, security, for: owner, timeout: settings.connectTimeout,
                    completion: completion)
                attempt.start()
                return attempt
            }
            let secure = context.map { (context: $0, serverName: origin.host) }
            return connector.connect(
                to: origin.endpoint, tls: secure, asking: owner, over: route.use, timeout: settings.connectTimeout
            ) { result in
                completion(result.mapError { $0 as any Error })
            }
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    private func tlsContext(_ offersHTTP2: Bool, for host: String) throws(TransportError) -> TLSContext {
        let options = TLSOptions(settings, host: host, alpn: offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"])
        if let made = tls[options] { return made }
        // A failure is not remembered: there may be a descriptor for the trusted certificates' file the next time.
        let made = try TLSContext(options)
        tls[options] = made
        return made
    }

    /// An origin has no connection and nobody waiting. Another pool may have taken its place already.
    func isUnused(_ route: Route, _ pool: OriginPool) {
        if origins[route] === pool { origins[route] = nil }
        if lastPool === pool { lastPool = nil }
    }

    func mayPipeline(_ route: Route) -> Bool { !brokenPipelines.contains(route.undecided) }

    func pipelineBroke(_ route: Route) { brokenPipelines.insert(route.undecided) }

    /// The delegate that a connection was made for has turned out not to decide about it: the connection is for all of the
    /// session's tasks, and those that waited for it go on among them.
    func share(_ stream: ByteStream, madeFor entries: [RequestQueue.Entry], _ route: Route) {
        pool(for: route.undecided).adopt(stream, entries)
    }

    /// A connection became idle: some time later it is to be closed.
    func scheduleSweep() {
        guard sweepTimer == nil else { return }
        sweepTimer = loop.schedule(at: loop.now.advanced(bySeconds: Self.idleTimeout / 4)) { [weak self] in
            self?.sweep()
        }
    }

    private func sweep() {
        sweepTimer = nil
        for pool in Array(origins.values) { pool.closeIdle(before: loop.now) }
        if origins.values.contains(where: \.hasIdle) { scheduleSweep() }
    }

    // MARK: SessionResource

    func reset() {
        forget()
        for pool in Array(origins.values) { pool.closeIdle(before: .distantFuture) }
    }

    private func forget() {
        logins.reset()
        http2Alone = []
        idleTimes = [:]
        brokenPipelines = []
    }

    /// Not all at once: there may be connections to a thousand hosts.
    func close() {
        isClosed = true
        sweepTimer?.cancel()
        forget()
        var pools = Array(origins.values)
        loop.executeInShares {
            pools.popLast()?.closeIdle(before: .distantFuture)
            return !pools.isEmpty
        }
    }
}
