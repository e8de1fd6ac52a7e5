import LoadingKitCore
import LoadingKitTransport

/// A connection to a server that is being made, perhaps through a proxy. Confined to its loop.
protocol PendingConnection: AnyObject {
    /// Ends the attempt; nobody is told.
    func cancel()
}

extension ConnectAttempt: PendingConnection {}

/// Connects to a proxy, has it open a tunnel where one is needed, and secures that.
final class ProxiedConnect: PendingConnection {
    private enum State {
        case connecting(ConnectAttempt?)
        case tunnelling(TunnelDriver)
        case securing(ConnectAttempt)
        case ended
    }

    /// TLS with whom, and by which rules.
    struct Security {
        let proxy: TLSContext?
        let server: TLSContext?
        /// Who decides about the server's certificates.
        let decider: any TLSDecider
    }

    private let route: Route
    private let proxy: Proxy
    private let connector: Connector
    private let security: Security
    private let timeout: UInt64?
    private var state = State.connecting(nil)
    private var timer: LoopTimer?
    private var completion: ((Result<ByteStream, any Error>) -> Void)?

    /// - Parameters:
    ///   - timeout: nanoseconds for each step; nil for no limit.
    ///   - completion: called once, after ``start(on:)`` has returned, unless the attempt is cancelled.
    init(
        _ route: Route, _ proxy: Proxy, _ connector: Connector, _ security: Security, timeout: UInt64?,
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) {
        self.route = route
        self.proxy = proxy
        self.connector = connector
        self.security = security
        self.timeout = timeout
        self.completion = completion
    }

    func start() {
        let tls = security.proxy.map { (context: $0, serverName: proxy.host) }
        let attempt = connector.connect(to: proxy.endpoint, tls: tls, timeout: timeout) { [self] result in
            switch result {
            case .success(let stream): connected(stream)
            case .failure(let error) where error.cause == .timedOut: end(.failure(error))
            case .failure(let error): fail(.unreachable(error.description))
            }
        }
        state = .connecting(attempt)
    }

    func cancel() {
        completion = nil
        stop()
    }

    private func connected(_ stream: ByteStream) {
        guard let handshake = route.tunnel else { return end(.success(stream)) }
        let driver = TunnelDriver(stream, handshake, proxy, destination: destination) { [self] result in
            switch result {
            case .success(let stream): tunnelled(stream)
            case .failure(let error): end(.failure(error))
            }
        }
        state = .tunnelling(driver)
        if let timeout {
            timer = stream.loop.schedule(at: stream.loop.now.advanced(byNanoseconds: timeout)) { [weak self] in
                self?.tunnelTimedOut()
            }
        }
        driver.start()
    }

    private func tunnelTimedOut() {
        guard case .tunnelling(let driver) = state else { return }
        driver.cancel()
        end(.failure(TransportError(.connect, destination, .timedOut)))
    }

    private func tunnelled(_ stream: ByteStream) {
        timer?.cancel()
        guard let context = security.server else { return end(.success(stream)) }
        let attempt = connector.secure(
            stream, endpoint: route.origin.endpoint, tls: (context: context, serverName: route.origin.host),
            asking: security.decider, timeout: timeout
        ) { [self] result in
            end(result.mapError { $0 as any Error })
        }
        state = .securing(attempt)
    }

    private var destination: String { route.origin.endpoint.description }

    private func fail(_ cause: ProxyError.Cause) {
        end(.failure(ProxyError(proxy: proxy, destination: destination, cause: cause)))
    }

    private func end(_ result: Result<ByteStream, any Error>) {
        guard let completion else { return }
        self.completion = nil
        state = .ended
        stop()
        completion(result)
    }

    private func stop() {
        timer?.cancel()
        timer = nil
        switch state {
        case .connecting(let attempt): attempt?.cancel()
        case .tunnelling(let driver): driver.cancel()
        case .securing(let attempt): attempt.cancel()
        case .ended: break
        }
        state = .ended
    }
}
