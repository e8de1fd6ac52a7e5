import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// The properties that a load requires of a control connection. Loads with equal keys can use the same connections.
struct FTPConnectionKey: Hashable {
    let server: FTPServer
    let user: String
    /// The password; nil if it is not known.
    let password: String?
    let proxy: Proxy?
    let use: NetworkUse
    /// The task's own delegate, if it decides about TLS. Its decisions do not apply to tasks with another delegate.
    let decider: ConnectionDecider?

    static func == (one: FTPConnectionKey, other: FTPConnectionKey) -> Bool {
        one.server == other.server && one.user.hasSameBytes(as: other.user)
            && one.password.hasSameBytes(as: other.password) && one.proxy == other.proxy && one.use == other.use
            && one.decider == other.decider
    }
}

/// The resources that a session's loads share: connections, and credentials that servers have accepted. Confined to
/// the session's loop.
///
/// Performs the pools' actions on the loads and connections that the identifiers represent. An action may cause another
/// input at once, whose actions are performed after the remaining actions of the first input.
final class FTPSession: SessionResource {
    let loop: EventLoop
    let settings: SessionSettings
    let connector: Connector
    let events: SessionEvents
    let proxies: ProxyFinder
    let use: NetworkUse
    var tlsContexts = TLSContexts()
    /// The most servers whose credentials are known. Beyond it another is forgotten, and requires a challenge again.
    private static let maximumServers = 1000
    /// The credentials that programs gave in answer to challenges, and that servers have accepted.
    private(set) var accepted: [FTPServer: URLCredential] = [:]
    private var pools: [FTPServer: FTPConnectionPool] = [:]
    /// The loads that were submitted and have no connection yet.
    private var loads: [FTPConnectionPool.LoadID: FTPLoad] = [:]
    private var connections: [FTPConnectionPool.ConnectionID: FTPConnection] = [:]
    private var pending: ArraySlice<(FTPServer, FTPConnectionPool.Action)> = []
    private var isRunning = false
    /// The number of loads so far, which is the number of the latest load.
    var loadCount: FTPConnectionPool.LoadID = 0
    private var isClosed = false
    private let networks: NetworkMonitor
    private var networkWatch: NetworkWatch?
    private var sleepWatch: SleepWatch

    init(_ core: SessionCore) {
        loop = core.loop
        networks = core.networks
        sleepWatch = SleepWatch(core.loop)
        settings = core.settings
        proxies = ProxyFinder(core)
        use = NetworkUse(core.settings)
        connector = core.makeConnector()
        events = core.events
    }

    // MARK: Credentials

    func serverDidAccept(_ login: FTPLogin, _ server: FTPServer) {
        guard let credential = login.credentialOfProgram, credential.persistence != .none else { return }
        accepted.set(credential, for: server, limit: Self.maximumServers)
        settings.credentialStorage?.serverDidAccept(credential, for: server.protectionSpace)
    }

    func serverDidRefuse(_ login: FTPLogin, _ server: FTPServer) {
        guard let known = accepted[server], known.user.hasSameBytes(as: login.user),
            known.password.hasSameBytes(as: login.password)
        else { return }
        accepted[server] = nil
    }

    // MARK: Connections

    /// Assigns a connection to a load, at once or when one becomes available.
    func submit(_ load: FTPLoad, _ key: FTPConnectionKey, needsFresh: Bool, goesFirst: Bool) {
        // Servers have closed idle connections meanwhile, and the network may have lost what they sent.
        if sleepWatch.noticeSleep(loop.now) { networkDidChange(afterSleep: true) }
        loads[load.number] = load
        let request = FTPConnectionPool.Request(
            load: load.number, key: key, needsFresh: needsFresh, goesFirst: goesFirst, priority: load.priority)
        run(key.server) { $0.submit(request) }
    }

    func withdraw(_ load: FTPLoad, from server: FTPServer) {
        loads[load.number] = nil
        pools[server]?.withdraw(load.number)
    }

    func priorityDidChange(_ load: FTPLoad, _ server: FTPServer) {
        pools[server]?.changePriority(of: load.number, to: load.priority)
    }

    /// Makes a connection that its load no longer needs available to other loads.
    func release(_ connection: FTPConnection) {
        guard !isClosed else { return connection.close(.sessionEnded) }
        guard !connection.isRetired else { return connection.close(.unusable) }
        connection.becomeIdle()
        run(connection.key.server) { $0.connectionDidBecomeIdle(connection.id) }
    }

    func connectionDidClose(_ connection: FTPConnection) {
        let server = connection.key.server
        connections[connection.id] = nil
        pools[server]?.connectionDidClose(connection.id)
        // The caller may be about to submit its own load again, which must come before the waiting loads.
        loop.executeLater { [weak self] in self?.run(server) { $0.serve() } }
    }

    private func run(_ server: FTPServer, _ input: (inout FTPConnectionPool) -> [FTPConnectionPool.Action]) {
        var pool = pools.removeValue(forKey: server) ?? FTPConnectionPool(limit: settings.httpMaximumConnectionsPerHost)
        pending += input(&pool).map { (server, $0) }
        if !pool.isUnused { pools[server] = pool }
        guard !isRunning else { return }
        isRunning = true
        while let (server, action) = pending.popFirst() { perform(action, server) }
        isRunning = false
    }

    private func perform(_ action: FTPConnectionPool.Action, _ server: FTPServer) {
        switch action {
        case .open(let request):
            let connection = FTPConnection(request.load, request.key, self)
            connections[request.load] = connection
            assign(connection, to: request.load)
        case .reuse(let id, let request):
            guard let connection = connections[id], connection.isUsable else {
                connections[id]?.close(.lost)
                var again = request
                again.goesFirst = true
                return run(server) { $0.submit(again) }
            }
            assign(connection, to: request.load)
        case .close(let id): connections[id]?.close(.idle)
        case .reportQueued(let load, let isQueued):
            loads[load]?.setQueued(isQueued)
        }
    }

    private func assign(_ connection: FTPConnection, to load: FTPConnectionPool.LoadID) {
        if let load = loads.removeValue(forKey: load) { load.use(connection) } else { connection.close() }
    }

    // MARK: Networks

    /// A connection is about to be opened: a change of the networks may concern it, and the addresses of its server.
    func watchNetworks() {
        guard networkWatch == nil, !isClosed else { return }
        networkWatch = NetworkWatch(networks, loop) { [weak self] in self?.networkDidChange() }
    }

    func networkDidChange(afterSleep: Bool = false) {
        connector.networkDidChange()
        for connection in Array(connections.values) { connection.networkDidChange(afterSleep: afterSleep) }
    }

    // MARK: SessionResource

    func addState(to snapshot: inout SessionSnapshot) {
        for pool in pools.values { snapshot.addQueue(pool.waitingCount) }
        snapshot.connections += connections.values.compactMap(\.state)
    }

    func reset() {
        proxies.forget()
        accepted = [:]
        for connection in Array(connections.values) { connection.retire(isClosed ? .sessionEnded : .idle) }
    }

    func close() {
        isClosed = true
        networkWatch = nil
        reset()
        proxies.end()
    }
}
