import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// What control connections have in common that may serve the same loads.
struct FTPConnectionKey: Hashable {
    let server: FTPServer
    let user: String
    /// Nil where none is known.
    let password: String?
    let proxy: Proxy?
    let use: NetworkUse
    /// The task's own delegate, where it decides about TLS: what it decides is not for tasks with another one.
    let decider: ObjectIdentifier?
}

/// What the loads of a session share: control connections, TLS contexts, and credentials that servers have accepted. Confined
/// to the session's loop.
final class FTPSession: SessionResource {
    /// How long a connection that nothing uses is kept, in seconds: servers commonly close them after one minute or more.
    private static let idleTimeout = 55.0

    let core: SessionCore
    let loop: EventLoop
    let settings: SessionSettings
    let connector: Connector
    let proxies: ProxyFinder
    private let use: NetworkUse
    private var tlsContexts: [TLSOptions: TLSContext] = [:]
    /// What servers have accepted that programs were asked for.
    private var accepted: [FTPServer: URLCredential] = [:]
    private var idle: [FTPConnectionKey: [FTPConnection]] = [:]
    /// Open connections and those that are being made, by server.
    private var connections: [FTPServer: [ObjectIdentifier: FTPConnection]] = [:]
    /// Loads that wait until a connection may be made, in order.
    private var waiting: [FTPServer: [FTPLoad]] = [:]
    private var loadCount: UInt64 = 0
    private var sweepTimer: LoopTimer?
    private var isClosed = false

    private init(_ core: SessionCore) {
        self.core = core
        loop = core.loop
        settings = core.settings
        proxies = ProxyFinder(core)
        use = NetworkUse(core.settings)
        connector = Connector(loop: core.loop, resolver: Resolver.shared)
    }

    static func of(_ core: SessionCore) -> FTPSession { core.resource(FTPSession.init) }

    /// A number that no other load of the session has.
    func makeLoadNumber() -> UInt64 {
        loadCount &+= 1
        return loadCount
    }

    func networks(for request: URLRequest) -> NetworkUse { use.narrowed(by: request) }

    func tlsContext(for host: String) throws(TransportError) -> TLSContext {
        let options = TLSOptions(settings, host: host, alpn: [])
        if let made = tlsContexts[options] { return made }
        let made = try TLSContext(options)
        tlsContexts[options] = made
        return made
    }

    // MARK: Credentials

    func acceptedCredential(for server: FTPServer) -> URLCredential? { accepted[server] }

    func serverDidAccept(_ credential: URLCredential, _ server: FTPServer, for task: URLSessionTask) {
        guard credential.persistence != .none else { return }
        accepted[server] = credential
        settings.credentialStorage?.set(credential, for: server.protectionSpace, task: task)
    }

    func serverDidRefuse(_ user: String, _ password: String?, _ server: FTPServer) {
        guard let known = accepted[server], known.user == user, known.password == password else { return }
        accepted[server] = nil
    }

    // MARK: Connections

    /// Gives a load a connection: at once, or when there is one.
    func connect(_ load: FTPLoad, _ key: FTPConnectionKey, needsFresh: Bool) {
        if !needsFresh {
            while let connection = takeIdle(key) {
                if connection.isUsable { return load.use(connection, isReused: true) }
                connection.close()
            }
        }
        guard makeRoom(key.server) else {
            waiting[key.server, default: []].append(load)
            return load.didBeginWaiting()
        }
        let connection = FTPConnection(key, self)
        connections[key.server, default: [:]][ObjectIdentifier(connection)] = connection
        load.use(connection, isReused: false)
        connection.connect()
    }

    /// Whether one more connection to a server may be made, for which an idle one of another user may have to go.
    private func makeRoom(_ server: FTPServer) -> Bool {
        let open = connections[server]?.values
        guard open?.count ?? 0 >= max(1, settings.httpMaximumConnectionsPerHost) else { return true }
        guard let unused = open?.first(where: \.isIdle) else { return false }
        unused.close()
        return true
    }

    private func takeIdle(_ key: FTPConnectionKey) -> FTPConnection? {
        guard let connection = idle[key]?.popLast() else { return nil }
        if idle[key]?.isEmpty == true { idle[key] = nil }
        connection.didBecomeActive()
        return connection
    }

    func withdraw(_ load: FTPLoad) {
        guard let server = load.server, waiting[server] != nil else { return }
        waiting[server]?.removeAll { $0 === load }
        if waiting[server]?.isEmpty == true { waiting[server] = nil }
    }

    /// A connection that is ready for another transfer has no load any more.
    func release(_ connection: FTPConnection) {
        guard !isClosed else { return connection.close() }
        idle[connection.key, default: []].append(connection)
        connection.didBecomeIdle()
        scheduleSweep()
        proceed(connection.key.server)
    }

    func connectionDidClose(_ connection: FTPConnection) {
        let (key, server) = (connection.key, connection.key.server)
        connections[server]?[ObjectIdentifier(connection)] = nil
        if connections[server]?.isEmpty == true { connections[server] = nil }
        idle[key]?.removeAll { $0 === connection }
        if idle[key]?.isEmpty == true { idle[key] = nil }
        // Later: the caller may be about to make another connection for a load of its own.
        loop.executeLater { [weak self] in self?.proceed(server) }
    }

    /// The load that waits longest has its turn.
    private func proceed(_ server: FTPServer) {
        while let load = waiting[server]?.first {
            let hasRoom = connections[server]?.count ?? 0 < max(1, settings.httpMaximumConnectionsPerHost)
            guard hasRoom || connections[server]?.values.contains(where: \.isIdle) == true else { return }
            waiting[server]?.removeFirst()
            if waiting[server]?.isEmpty == true { waiting[server] = nil }
            load.waitDidEnd()
        }
    }

    // MARK: Idle connections

    private func scheduleSweep() {
        guard sweepTimer == nil, !isClosed else { return }
        sweepTimer = loop.schedule(at: loop.now.advanced(bySeconds: Self.idleTimeout / 4)) { [weak self] in
            self?.sweep()
        }
    }

    private func sweep() {
        sweepTimer = nil
        let all = idle.values.flatMap { $0 }
        for connection in all where loop.now.seconds(since: connection.idleSince) >= Self.idleTimeout {
            connection.close()
        }
        if !idle.isEmpty { scheduleSweep() }
    }

    private func closeIdle() { for connection in idle.values.flatMap({ $0 }) { connection.close() } }

    // MARK: SessionResource

    func reset() {
        proxies.forget()
        accepted = [:]
        closeIdle()
    }

    func close() {
        isClosed = true
        proxies.end()
        sweepTimer?.cancel()
        accepted = [:]
        closeIdle()
    }
}
