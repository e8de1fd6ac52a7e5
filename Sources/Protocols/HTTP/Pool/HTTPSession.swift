import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// The state that a session's exchanges share: its settings, its records of origins and servers, its authentication,
/// and its connections.
final class HTTPSession: SessionResource {
    let loop: EventLoop
    let settings: SessionSettings
    /// The buffer for decoded bodies. A decoded piece is handed over before the next one is decoded.
    let decodeBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    let authentication: AuthenticationMemory
    /// The authentication schemes. The program's own come first, so that they can replace built-in ones.
    private let authenticationSchemes: [AuthenticationSchemeMaker]
    private let authenticationTurns: AuthenticationTurns
    private let connector: Connector
    @exclusivity(unchecked) private var origins = OriginRecords()  // calls nobody before it is consistent
    private var tlsContexts = TLSContexts()
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

    /// The record of a URL's origin, and the parts of the URL that the request contains.
    func find(_ url: URL) throws(LoadFailure) -> (record: OriginRecord, target: RequestTarget) {
        try origins.find(url, settings)
    }

    /// - Parameter delegate: the task's own delegate, if it may decide in the TLS handshake.
    func route(
        to origin: OriginRecord, through proxy: Proxy?, for request: URLRequest, switching: Route.Switching,
        decidedBy delegate: AnyObject?
    ) -> RouteRecord {
        origin.route(
            over: use.narrowed(by: request), switching: switching, decidedBy: delegate, through: proxy)
    }

    /// The way to an origin according to the settings' rules.
    func ruledWay(to origin: OriginRecord) throws(LoadFailure) -> ProxyRules.Answer {
        try origin.way(by: proxies)
    }

    /// The exchange no longer waits for a proxy look-up that it may have started.
    func withdrawLookup(of exchange: HTTPExchange) { proxies.withdraw(exchange.number) }

    /// Whether requests may be sent with credentials that they do not contain themselves.
    var mayAddCredentials: Bool { requestFields.addsCredentials || !authentication.isEmpty }

    /// Whether a delegate may decide about a connection to an origin: whether the server is trusted, and the client's
    /// identity at the server and at a proxy.
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
        // The request gets its own connection, unless there is one with a stream that may switch (RFC 8441).
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

    /// Requests that use the route are sent over HTTP/1.1 from now on.
    func requireHTTP1(_ record: RouteRecord) { record.driver?.requireHTTP1() }

    private func driver(of record: RouteRecord, _ origin: OriginRecord) -> ConnectionPoolDriver {
        if let driver = record.driver { return driver }
        let driver = ConnectionPoolDriver(record, origin, self, isClosing: isClosed)
        record.driver = driver
        origin.keep(record)
        origins.keep(origin)
        return driver
    }

    /// A route has no connection, no attempt and no request. Another driver may have replaced this one already.
    func release(_ driver: ConnectionPoolDriver) {
        guard driver.record.driver === driver else { return }
        driver.record.driver = nil
        driver.origin.routeDidEnd(driver.record)
    }

    /// The delegate for which a connection was opened does not decide about it. The connection and the exchanges that
    /// waited for it are now shared with all of the session's tasks.
    func share(
        _ stream: ByteStream, madeFor exchanges: [ConnectionPoolDriver.Submission], _ record: RouteRecord,
        _ origin: OriginRecord
    ) {
        driver(of: origin.undecided(record), origin).adopt(stream, exchanges)
    }

    // MARK: Authentication

    /// - Parameters:
    ///   - isSecure: whether the request is for an `https` URL.
    ///   - credential: the credential in the URL, or in the proxy's settings.
    func authenticationContext(
        _ site: AuthenticationSite, _ request: HTTPAuthenticationRequest,
        proxyType: String = NSURLProtectionSpaceHTTPProxy, given credential: URLCredential?, for task: URLSessionTask
    ) -> AuthenticationContext {
        AuthenticationContext(
            site: site, proxyType: proxyType, request: request, givenCredential: credential,
            schemes: authenticationSchemes, memory: authentication, turns: authenticationTurns,
            storage: settings.credentialStorage, task: task)
    }

    /// The request's user, for the choice of a connection that was authenticated for one user.
    func user(of exchange: HTTPExchange) -> HTTPConnectionPool.RequestUser {
        if exchange.transaction.fields.contains(.authorization) { return .ownField }
        guard exchange.target?.hasUserInfo == true, let credential = exchange.request.url?.credential else {
            return .none
        }
        return .named(HTTPConnectionPool.UserCredential(credential))
    }

    /// The requests that may use a connection that was authenticated with credentials.
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

    /// The TLS requirements of a connection to a proxy; nil if it is not secured.
    private func tlsToProxy(_ proxy: Proxy, asking decider: any TLSDecider) throws(TransportError) -> TLSDemand? {
        guard proxy.kind == .https else { return nil }
        return TLSDemand(try tlsContext(false, for: proxy.host), proxy.host, asking: decider)
    }

    private func tlsContext(_ offersHTTP2: Bool, for host: String) throws(TransportError) -> TLSContext {
        try tlsContexts.context(
            TLSOptions(settings, host: host, alpn: offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]))
    }

    // MARK: Idle connections

    /// A connection became idle. It must be closed some time later.
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

    /// The connections are not closed all at once: there may be connections to a thousand hosts.
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
