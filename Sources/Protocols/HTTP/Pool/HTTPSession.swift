import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// What the exchanges of a session share: its settings, what it knows of origins and servers, what authentication has
/// brought, and the connections.
final class HTTPSession: SessionResource {
    let loop: EventLoop
    let settings: SessionSettings
    /// Where bodies are decoded to, a piece at a time; its bytes are handed over before the next piece.
    let decodeBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    let authentication: AuthenticationMemory
    /// Ways to authenticate. Those of the program come first, so that one of them can take the place of a built-in one.
    private let authenticationSchemes: [AuthenticationSchemeMaker]
    private let authenticationTurns: AuthenticationTurns
    private let connector: Connector
    @exclusivity(unchecked) private var origins = OriginRecords()  // calls nobody before it is consistent
    private var tlsContexts: [TLSOptions: TLSContext] = [:]
    private let use: NetworkUse
    @exclusivity(unchecked) private var exchangeCount: UInt64 = 0
    let requestFields: RequestFields
    let proxies: ProxyFinder
    private var sweepTimer: LoopTimer?
    @exclusivity(unchecked) private var isClosed = false

    private init(_ core: SessionCore) {
        loop = core.loop
        authenticationTurns = AuthenticationTurns(core.loop)
        settings = core.settings
        use = NetworkUse(core.settings)
        requestFields = RequestFields(core.settings)
        proxies = ProxyFinder(core)
        authentication = AuthenticationMemory(core.settings.credentialStorage)
        authenticationSchemes =
            core.settings.authenticationSchemes
            + [
                AuthenticationSchemeMaker(NTLMScheme.self), AuthenticationSchemeMaker(DigestScheme.self),
                AuthenticationSchemeMaker(BasicScheme.self), AuthenticationSchemeMaker(SOCKSPasswordScheme.self),
            ]
        connector = Connector(loop: core.loop, resolver: Resolver.shared)
    }

    deinit { decodeBuffer.deallocate() }

    static func of(_ core: SessionCore) -> HTTPSession { core.resource(HTTPSession.init) }

    // MARK: Origins

    /// What is known of a URL's origin, and what of the URL goes into the request.
    func find(_ url: URL) throws(LoadFailure) -> (record: OriginRecord, target: RequestTarget) {
        try origins.find(url, settings)
    }

    /// - Parameter delegate: the task's own, where it may decide in the TLS handshake.
    func route(
        to origin: OriginRecord, through proxy: Proxy?, for request: URLRequest, switching: Route.Switching,
        decidedBy delegate: AnyObject?
    ) -> RouteRecord {
        origin.route(
            over: use.narrowed(by: request), switching: switching, decidedBy: delegate, through: proxy)
    }

    /// The way to an origin by the settings' rules.
    func ruledWay(to origin: OriginRecord) throws(LoadFailure) -> ProxyRules.Answer {
        try origin.way(by: proxies)
    }

    /// The exchange waits no longer for what it may have asked.
    func withdrawLookup(of exchange: HTTPExchange) { proxies.withdraw(exchange.number) }

    /// Whether requests may be sent with credentials that they do not have themselves.
    var mayAddCredentials: Bool { requestFields.addsCredentials || !authentication.isEmpty }

    /// Whether a delegate may have a say in how a connection to an origin is made: whether the server is trusted, and who
    /// the client is to it and to a proxy.
    func mayAskDelegates(about origin: Origin) -> Bool {
        origin.isSecure || proxies.mayUseProxies
    }

    func makeExchangeNumber() -> UInt64 {
        exchangeCount &+= 1
        return exchangeCount
    }

    // MARK: Exchanges

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        guard let record = exchange.destination?.route else { return }
        // A connection of its own, unless there is one that a stream may switch on (RFC 8441).
        if record.route.switching == .inAnyVersion,
            exchange.destination?.origin.shared(record)?.driver?.submitUpgrade(exchange) == true
        {
            return
        }
        if let driver = record.driver {
            driver.submit(exchange, needsFreshConnection: needsFreshConnection)
        } else if let origin = exchange.destination?.origin {
            driver(of: record, origin).submit(exchange, needsFreshConnection: needsFreshConnection)
        }
    }

    func withdraw(_ exchange: HTTPExchange) { exchange.destination?.route.driver?.withdraw(exchange) }

    /// Requests that take the route go out over HTTP/1.1 from now on.
    func requireHTTP1(_ record: RouteRecord) { record.driver?.requireHTTP1() }

    private func driver(of record: RouteRecord, _ origin: OriginRecord) -> ConnectionPoolDriver {
        if let driver = record.driver { return driver }
        let driver = ConnectionPoolDriver(record, origin, self, isClosing: isClosed)
        record.driver = driver
        origin.keep(record)
        origins.keep(origin)
        return driver
    }

    /// A route has no connection, no attempt and no request. Another driver may have taken its place already.
    func release(_ driver: ConnectionPoolDriver) {
        guard driver.record.driver === driver else { return }
        driver.record.driver = nil
        driver.origin.routeDidEnd(driver.record)
    }

    /// The delegate that a connection was made for has turned out not to decide about it: the connection is for all of the
    /// session's tasks, and those that waited for it go on among them.
    func share(
        _ stream: ByteStream, madeFor exchanges: [ConnectionPoolDriver.Submission], _ record: RouteRecord,
        _ origin: OriginRecord
    ) {
        driver(of: origin.undecided(record), origin).adopt(stream, exchanges)
    }

    // MARK: Authentication

    /// - Parameters:
    ///   - isSecure: whether the request is for an `https` URL.
    ///   - credential: what the URL, or the proxy's settings, name.
    func authenticationContext(
        _ site: AuthenticationSite, _ request: HTTPAuthenticationRequest,
        proxyType: String = NSURLProtectionSpaceHTTPProxy, given credential: URLCredential?, for task: URLSessionTask
    ) -> AuthenticationContext {
        AuthenticationContext(
            site: site, proxyType: proxyType, request: request, givenCredential: credential,
            schemes: authenticationSchemes, memory: authentication, turns: authenticationTurns,
            storage: settings.credentialStorage, task: task)
    }

    /// The user that a request names, to a connection that was authenticated as one.
    func user(of exchange: HTTPExchange) -> HTTPConnectionPool.RequestUser {
        if exchange.transaction.fields.contains(.authorization) { return .ownField }
        guard exchange.target?.hasUserInfo == true, let credential = exchange.request.url?.credential else {
            return .none
        }
        return .named(HTTPConnectionPool.UserCredential(credential))
    }

    /// Whose requests may go on a connection that was authenticated with credentials.
    func binding(of credentials: BoundCredentials) -> HTTPConnectionPool.Binding {
        if let proxy = credentials.proxy?.credential, proxy.persistence == .none { return .spent }
        guard let server = credentials.server else { return .none }
        guard server.credential.persistence != .none else { return .spent }
        let user = HTTPConnectionPool.UserCredential(server.credential)
        return server.isOfURL ? .namedUser(user) : .user(user)
    }

    // MARK: Connections

    func connect(
        _ route: Route, offersHTTP2: Bool, in time: ConnectTime, for owner: ConnectionAttempt,
        _ completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) -> (any PendingConnection)? {
        let origin = route.origin
        do {
            let secure =
                origin.isSecure
                ? TLSDemand(
                    try tlsContext(offersHTTP2, for: route.serverName), route.serverName, asking: owner.originDecider)
                : nil
            if let proxy = route.proxy {
                let proxyTLS = try tlsToProxy(proxy, asking: owner.makeProxyDecider(proxy))
                let security = ProxiedConnect.Security(proxy: proxyTLS, server: secure)
                let type = origin.isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy
                let attempt = ProxiedConnect(
                    route, proxy, type, connector, security, for: owner, time: time, completion: completion)
                attempt.start()
                return attempt
            }
            return connector.connect(
                to: route.endpoint, tls: secure, over: route.use, timeout: time.limit
            ) { result in
                completion(result.mapError { $0 as any Error })
            }
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    /// How a connection to a proxy is secured; nil where it is not.
    private func tlsToProxy(_ proxy: Proxy, asking decider: any TLSDecider) throws(TransportError) -> TLSDemand? {
        guard proxy.kind == .https else { return nil }
        return TLSDemand(try tlsContext(false, for: proxy.host), proxy.host, asking: decider)
    }

    private func tlsContext(_ offersHTTP2: Bool, for host: String) throws(TransportError) -> TLSContext {
        let options = TLSOptions(settings, host: host, alpn: offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"])
        if let made = tlsContexts[options] { return made }
        // A failure is not remembered: there may be a descriptor for the trusted certificates' file the next time.
        let made = try TLSContext(options)
        tlsContexts[options] = made
        return made
    }

    // MARK: Idle connections

    /// A connection became idle: some time later it is to be closed.
    func scheduleSweep() {
        guard sweepTimer == nil else { return }
        let time = loop.now.advanced(bySeconds: HTTPConnectionPool.Configuration.defaultIdleTimeout / 4)
        sweepTimer = loop.schedule(at: time) { [weak self] in self?.sweep() }
    }

    private func sweep() {
        sweepTimer = nil
        let drivers = origins.drivers
        for driver in drivers { driver.closeExpired() }
        if drivers.contains(where: \.hasIdleConnection) { scheduleSweep() }
    }

    // MARK: SessionResource

    func reset() {
        forget()
        proxies.forget()
        for driver in origins.drivers { driver.closeAllIdle() }
    }

    private func forget() {
        authentication.reset()
        for record in origins.all { record.forgetServers() }
    }

    /// Not all at once: there may be connections to a thousand hosts.
    func close() {
        isClosed = true
        sweepTimer?.cancel()
        forget()
        proxies.end()
        var drivers = origins.drivers
        loop.executeInShares {
            drivers.popLast()?.sessionDidEnd()
            return !drivers.isEmpty
        }
    }
}

extension HTTPConnectionPool.UserCredential {
    fileprivate convenience init(_ credential: URLCredential) {
        self.init(user: credential.user, password: credential.password)
    }
}
