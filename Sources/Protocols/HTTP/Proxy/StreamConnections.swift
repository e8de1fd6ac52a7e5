import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// Opens the connections of a session's stream tasks: each directly or in a tunnel of its own, by the rules for
/// `https`, which also apply to tunnels. Confined to the session's loop.
final class StreamConnections: SessionResource {
    fileprivate let core: SessionCore
    fileprivate let proxies: ProxyFinder
    fileprivate let connector: Connector
    private var lastNumber: UInt64 = 0
    private var networkWatch: NetworkWatch?

    private init(_ core: SessionCore) {
        self.core = core
        proxies = ProxyFinder(core)
        connector = core.makeConnector()
    }

    static func of(_ core: SessionCore) -> StreamConnections { core.resource(StreamConnections.init) }

    fileprivate func nextNumber() -> UInt64 {
        lastNumber &+= 1
        return lastNumber
    }

    /// A connection is about to be opened. After a change of the networks its name is looked up anew.
    fileprivate func watchNetworks() {
        guard networkWatch == nil else { return }
        networkWatch = NetworkWatch(core.networks, core.loop) { [connector] in connector.networkDidChange() }
    }

    func reset() { proxies.forget() }

    func close() {
        networkWatch = nil
        proxies.end()
    }
}

extension HTTPProtocolHandler: StreamConnectingHandler {
    package static func streamConnections(for task: URLSessionTask, of core: SessionCore) -> any StreamConnecting {
        TaskConnections(connections: StreamConnections.of(core), task: task)
    }
}

/// The connections of one stream task, whose program gets the challenges of proxies.
private struct TaskConnections: StreamConnecting {
    let connections: StreamConnections
    let task: URLSessionTask

    func connect(
        to host: String, port: UInt16, challenging receiver: any ChallengeReceiver & TLSAsker,
        completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) -> any PendingConnection {
        connections.watchNetworks()
        let attempt = StreamAttempt(connections, connections.nextNumber(), host, port, task, receiver, completion)
        attempt.start()
        return attempt
    }
}

/// A stream task's connection that is being opened.
private final class StreamAttempt: PendingConnection {
    private enum State {
        case new
        /// The proxy resolver is running.
        case finding
        case connecting(any PendingConnection)
        case ended
    }

    private let connections: StreamConnections
    /// Among the session's searches for routes.
    private let search: UInt64
    private let host: String
    private let port: UInt16
    private let task: URLSessionTask
    private weak var receiver: (any ChallengeReceiver & TLSAsker)?
    private let use: NetworkUse
    private var routes = ProxyRoutes([])
    private var state = State.new
    /// Limits the search for routes. A stream task has no idle timeout.
    private var searchTimer: LoopTimer?
    private var completion: ((Result<ConnectedStream, any Error>) -> Void)?

    init(
        _ connections: StreamConnections, _ search: UInt64, _ host: String, _ port: UInt16, _ task: URLSessionTask,
        _ receiver: any ChallengeReceiver & TLSAsker,
        _ completion: @escaping (Result<ConnectedStream, any Error>) -> Void
    ) {
        self.connections = connections
        self.search = search
        self.host = host
        self.port = port
        self.task = task
        self.receiver = receiver
        self.completion = completion
        use = NetworkUse(connections.core.settings)
    }

    var number: UInt32 { if case .connecting(let attempt) = state { attempt.number } else { 0 } }
    private var settings: SessionSettings { connections.core.settings }

    func start() {
        do {
            let target = ProxyTarget(.https, host: host.lowercased(), port: port)
            state = .finding
            limitSearch()
            try connections.proxies.findRoutes(to: target, for: search) { [weak self] in self?.didFindRoutes($0) }
        } catch {
            failLater(error)
        }
    }

    private func limitSearch() {
        guard let limit = settings.connectTimeout else { return }
        let loop = connections.core.loop
        searchTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: limit)) { [weak self] in
            self?.searchTimedOut()
        }
    }

    private func searchTimedOut() {
        guard case .finding = state else { return }
        connections.proxies.withdraw(search)
        let seconds = settings.timeoutIntervalForRequest
        let text = "the proxy resolver gave no answer for \(seconds) seconds (timeoutIntervalForRequest)"
        end(.failure(LoadFailure(.timedOut, text)))
    }

    private func didFindRoutes(_ result: Result<[Proxy?], any Error>) {
        guard case .finding = state else { return }
        searchTimer?.cancel()
        switch result {
        case .success(let found):
            routes = ProxyRoutes(found)
            connect()
        case .failure(let error): end(.failure(error))
        }
    }

    private func connect() {
        do {
            guard let receiver else { return }
            state = .connecting(
                try ProxyTunnel.connect(
                    to: host, port: port, through: routes.current, NSURLProtectionSpaceHTTPSProxy, over: use,
                    connections.connector, settings, asking: receiver,
                    time: ConnectTime(settings.connectTimeout, along: routes),
                    requester: { [weak self] in self?.requester },
                    completion: { [weak self] in self?.routeDidEnd($0) }))
        } catch {
            failLater(error)
        }
    }

    /// There is no request. The URL of the challenges' responses is made from the tunnel's destination.
    private var requester: TunnelRequester? {
        guard let receiver else { return nil }
        let authority = TunnelDestination(host: host, port: port).authority
        guard let url = URL(string: "https://\(authority)/") ?? URL(string: "https://invalid/") else { return nil }
        return TunnelRequester(URLRequest(url: url), HTTPSession.of(connections.core), task, receiver)
    }

    private func routeDidEnd(_ result: Result<ByteStream, any Error>) {
        guard case .connecting = state else { return }
        switch result {
        case .success(let stream):
            connections.proxies.proxyDidConnect(routes.current)
            end(.success(ConnectedStream(stream, proxyPartition: routes.current?.partition ?? "")))
        case .failure(let error):
            connections.proxies.proxyDidFail(routes.current, error)
            if routes.takeNext(after: error) { connect() } else { end(.failure(routes.failure(error))) }
        }
    }

    private func failLater(_ error: any Error) {
        connections.core.loop.executeLater { [weak self] in
            guard let self else { return }
            end(.failure(routes.failure(error)))
        }
    }

    private func end(_ result: Result<ConnectedStream, any Error>) {
        guard let completion else { return }
        self.completion = nil
        searchTimer?.cancel()
        state = .ended
        completion(result)
    }

    func cancel() {
        completion = nil
        searchTimer?.cancel()
        let last = state
        state = .ended
        switch last {
        case .finding: connections.proxies.withdraw(search)
        case .connecting(let attempt): attempt.cancel()
        case .new, .ended: break
        }
    }
}
