import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// The state that a session's exchanges share: settings, records of origins and servers, authentication, connections.
final class HTTPSession: SessionResource {
    let loop: EventLoop
    let settings: SessionSettings
    /// A decoded piece is handed over before the next one is decoded.
    let decodeBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    let authentication: AuthenticationMemory
    /// The program's own come first, so that they can replace built-in ones.
    private let authenticationSchemes: [AuthenticationSchemeMaker]
    private let authenticationTurns: AuthenticationTurns
    let connector: Connector
    let events: SessionEvents
    @exclusivity(unchecked) private var origins = OriginRecords()  // calls nobody before it is consistent
    private var tlsContexts = TLSContexts()
    let use: NetworkUse
    @exclusivity(unchecked) private var exchangeCount: UInt64 = 0
    let requestFields: RequestFields
    let proxies: ProxyFinder
    private var sweepTimer: LoopTimer?
    private let networks: NetworkMonitor
    private var networkWatch: NetworkWatch?
    @exclusivity(unchecked) private var sleepWatch: SleepWatch  // calls nobody
    /// Whether the session has ended. Its pools keep no idle connection then.
    @exclusivity(unchecked) private(set) var isClosed = false
    private let makePool: (RouteRecord, OriginRecord, HTTPSession) -> any RoutePool

    /// - Parameter makePool: makes the pool of a route that has none.
    init(_ core: SessionCore, makePool: @escaping (RouteRecord, OriginRecord, HTTPSession) -> any RoutePool) {
        self.makePool = makePool
        loop = core.loop
        networks = core.networks
        sleepWatch = SleepWatch(core.loop)
        authenticationTurns = AuthenticationTurns(core.loop)
        settings = core.settings
        use = NetworkUse(core.settings)
        requestFields = RequestFields(core.settings)
        proxies = ProxyFinder(core)
        authentication = AuthenticationMemory(core.settings.credentialStorage)
        authenticationSchemes = core.settings.authenticationSchemes + Self.builtInSchemes
        connector = core.makeConnector()
        events = core.events
        authentication.connectionUserDidGo = { [weak self] in self?.retireConnections(authenticatedBy: $0) }
    }

    deinit { decodeBuffer.deallocate() }

    private static var builtInSchemes: [AuthenticationSchemeMaker] {
        #if NTLM
            let ntlm = [AuthenticationSchemeMaker(NTLMScheme.self)]
        #else
            let ntlm: [AuthenticationSchemeMaker] = []
        #endif
        return ntlm + [
            AuthenticationSchemeMaker(DigestScheme.self), AuthenticationSchemeMaker(BasicScheme.self),
            AuthenticationSchemeMaker(SOCKSPasswordScheme.self),
        ]
    }

    // MARK: Origins

    func find(_ url: URL) throws(LoadFailure) -> (record: OriginRecord, target: RequestTarget) {
        try origins.find(url, settings)
    }

    /// Whether App Transport Security permits the URL, of which a response is stored.
    func isAllowed(_ url: URL) -> Bool { origins.permits(url, settings) }

    var mayAddCredentials: Bool { requestFields.addsCredentials || !authentication.isEmpty }

    func makeExchangeNumber() -> UInt64 {
        exchangeCount &+= 1
        return exchangeCount
    }

    // MARK: Exchanges

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        guard let record = exchange.destination?.route, let origin = exchange.destination?.origin else { return }
        checkAfterSleep()
        // The request gets its own connection, unless there is one with a stream that may switch (RFC 8441).
        if record.route.switching == .inAnyVersion, origin.shared(record)?.pool?.submitUpgrade(exchange) == true {
            return
        }
        let pool = pool(of: record, origin)
        // Told here, and not when the challenge came: the pool of then may have been released while a program or a thread
        // made the credentials.
        if exchange.needsHTTP1 { pool.requireHTTP1() }
        pool.submit(exchange, needsFreshConnection: needsFreshConnection)
    }

    func withdraw(_ exchange: HTTPExchange) { exchange.destination?.route.pool?.withdraw(exchange) }

    func priorityDidChange(_ exchange: HTTPExchange) { exchange.destination?.route.pool?.priorityDidChange(exchange) }

    func pool(of record: RouteRecord, _ origin: OriginRecord) -> any RoutePool {
        if let pool = record.pool { return pool }
        let pool = makePool(record, origin, self)
        record.pool = pool
        origin.keep(record)
        origins.keep(origin)
        return pool
    }

    // MARK: Authentication

    /// - Parameter credential: the credential in the URL, or in the proxy's settings.
    func authenticationContext(
        _ site: AuthenticationSite, _ request: HTTPAuthenticationRequest,
        proxyType: String = NSURLProtectionSpaceHTTPProxy, given credential: URLCredential?, for task: URLSessionTask
    ) -> AuthenticationContext {
        AuthenticationContext(
            site: site, proxyType: proxyType, request: request, givenCredential: credential,
            schemes: authenticationSchemes, memory: authentication, turns: authenticationTurns,
            storage: settings.credentialStorage, task: task)
    }

    /// The program has removed or replaced the credential of these connections. Later requests open new ones. A tunnel
    /// stays: the proxy authenticates the client before the tunnel is open.
    private func retireConnections(authenticatedBy site: AuthenticationSite) {
        for record in origins.all.flatMap(\.routes) {
            let isAuthenticated =
                switch site {
                case .server(let origin): record.route.origin == origin
                case .proxy(let proxy): record.route.isForwarded && record.route.proxy == proxy
                }
            if isAuthenticated { record.pool?.retireAll() }
        }
    }

    // MARK: Connections

    func tlsContext(_ offersHTTP2: Bool, for host: String) throws(TransportError) -> TLSContext {
        try tlsContexts.context(
            TLSOptions(settings, host: host, alpn: offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]))
    }

    // MARK: Idle connections

    func scheduleSweep() {
        guard sweepTimer == nil else { return }
        let time = loop.now.advanced(bySeconds: HTTPConnectionPool.Configuration.defaultIdleTimeout / 4)
        sweepTimer = loop.schedule(at: time) { [weak self] in self?.sweep() }
    }

    private func sweep() {
        sweepTimer = nil
        checkAfterSleep()
        let pools = origins.pools
        for pool in pools { pool.closeExpired() }
        if pools.contains(where: \.hasIdleConnection) { scheduleSweep() }
    }

    // MARK: Networks

    /// A connection is about to be opened: a change of the networks may concern it, and the addresses of its server.
    func watchNetworks() {
        guard networkWatch == nil, !isClosed else { return }
        networkWatch = NetworkWatch(networks, loop) { [weak self] in self?.networkDidChange() }
    }

    func networkDidChange(afterSleep: Bool = false) {
        connector.networkDidChange()
        for pool in origins.pools { pool.networkDidChange(afterSleep: afterSleep) }
    }

    /// If the machine has slept, connections are checked as after a change of the networks, and no idle one of HTTP/1.1
    /// is used: servers have closed them, and the network may have lost what they sent.
    private func checkAfterSleep() { if sleepWatch.noticeSleep(loop.now) { networkDidChange(afterSleep: true) } }

    // MARK: SessionResource

    func addState(to snapshot: inout SessionSnapshot) {
        snapshot.decodeBufferBytes += decodeBuffer.count
        for pools in origins.all.map(\.pools) where !pools.isEmpty {
            snapshot.addQueue(pools.reduce(0) { $0 + $1.waitingCount })
            for pool in pools { pool.addConnections(to: &snapshot) }
        }
    }

    func reset() {
        forget()
        proxies.forget()
        for pool in origins.pools { pool.retireAll() }
    }

    private func forget() {
        authentication.reset()
        for record in origins.all { record.forgetServers() }
    }

    /// The connections are not closed all at once: there may be connections to a thousand hosts.
    func close() {
        isClosed = true
        sweepTimer?.cancel()
        networkWatch = nil
        forget()
        proxies.end()
        var pools = origins.pools
        loop.executeInShares {
            pools.popLast()?.sessionDidEnd()
            return !pools.isEmpty
        }
    }
}
