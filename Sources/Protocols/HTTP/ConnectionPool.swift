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
    let authenticationSchemes: [any HTTPAuthenticationScheme.Type]
    private let connector: Connector
    private var origins: [Origin: OriginPool] = [:]
    /// By whether HTTP/2 is offered.
    private var tls: [Bool: Result<TLSContext, TransportError>] = [:]
    private var lastCleartext: (host: String, isAllowed: Bool)?
    private var lastTarget: RequestTarget?
    private var requestFields: RequestFields
    private var sweepTimer: LoopTimer?
    private(set) var isClosed = false

    private init(_ core: SessionCore) {
        loop = core.loop
        settings = core.settings
        requestFields = RequestFields(core.settings)
        logins = AuthenticationMemory(core.settings.credentialStorage)
        authenticationSchemes =
            core.settings.authenticationSchemes + [NTLMScheme.self, DigestScheme.self, BasicScheme.self]
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

    func fields(of request: URLRequest, to origin: Origin) -> HTTPFields { requestFields.make(request, origin) }

    /// Whether transport security lets cleartext go to a host. The last answer is remembered: most requests of a session
    /// go to the same host.
    func allowsCleartext(to host: String) -> Bool {
        if let lastCleartext, lastCleartext.host == host { return lastCleartext.isAllowed }
        let isAllowed = settings.appTransportSecurity.allowsCleartext(to: host)
        lastCleartext = (host, isAllowed)
        return isAllowed
    }

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        guard let origin = exchange.target?.origin else { return }
        pool(for: origin).submit(exchange, needsFreshConnection: needsFreshConnection)
    }

    func withdraw(_ exchange: HTTPExchange) {
        guard let origin = exchange.target?.origin else { return }
        origins[origin]?.withdraw(exchange)
    }

    /// Requests to the origin go out over HTTP/1.1 from now on.
    func requireHTTP1(_ origin: Origin) { origins[origin]?.requireHTTP1() }

    private func pool(for origin: Origin) -> OriginPool {
        if let pool = origins[origin] { return pool }
        let pool = OriginPool(origin, self)
        origins[origin] = pool
        return pool
    }

    // MARK: From origins' pools

    func connect(
        _ origin: Origin, offersHTTP2: Bool, _ completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) -> ConnectAttempt? {
        do {
            let secure = origin.isSecure ? (context: try tlsContext(offersHTTP2), serverName: origin.host) : nil
            return connector.connect(
                to: origin.endpoint, tls: secure, timeout: connectTimeout, completion: completion)
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    /// In nanoseconds: an attempt that nobody would wait for any more makes room for another.
    private var connectTimeout: UInt64? {
        let seconds = settings.timeoutIntervalForRequest
        return seconds > 0 && seconds < 1e9 ? UInt64(seconds * 1e9) : nil
    }

    private func tlsContext(_ offersHTTP2: Bool) throws(TransportError) -> TLSContext {
        if let tls = tls[offersHTTP2] { return try tls.get() }
        let made: Result<TLSContext, TransportError>
        do {
            made = .success(try TLSContext(TLSOptions(settings, offersHTTP2: offersHTTP2)))
        } catch {
            made = .failure(error)
        }
        tls[offersHTTP2] = made
        return try made.get()
    }

    /// An origin has no connection and nobody waiting. Another pool may have taken its place already.
    func isUnused(_ origin: Origin, _ pool: OriginPool) { if origins[origin] === pool { origins[origin] = nil } }

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
        logins.reset()
        for pool in Array(origins.values) { pool.closeIdle(before: .distantFuture) }
    }

    func close() {
        isClosed = true
        sweepTimer?.cancel()
        reset()
    }
}

extension TLSOptions {
    fileprivate init(_ settings: SessionSettings, offersHTTP2: Bool) {
        self.init()
        minimumVersion = settings.tlsMinimumVersion.rawValue
        maximumVersion = settings.tlsMaximumVersion.rawValue
        verifiesPeer = settings.verifiesServer
        alpn = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        trustRoots =
            switch settings.trustRoots {
            case .system: .system
            case .file(let path): .file(path: path)
            case .pem(let text): .pem(Array(text.utf8))
            }
    }
}
