import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Connects to a proxy, has it open a tunnel where one is needed, and secures that. When the proxy asks for a
/// credential, the tunnel is asked for again: on the same connection, or else on another.
final class ProxiedConnect: PendingConnection {
    private enum State {
        case connecting(ConnectAttempt?)
        case tunnelling(TunnelDriver)
        /// The program is asked for a credential.
        case challenged(TunnelDriver, TunnelChallenge)
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
    private weak var owner: (any TunnelOwner)?
    private var login: AuthenticationHandshake?
    private var state = State.connecting(nil)
    private var timer: LoopTimer?
    private var completion: ((Result<ByteStream, any Error>) -> Void)?

    /// - Parameters:
    ///   - timeout: nanoseconds for each step; nil for no limit.
    ///   - completion: called once, after ``start(on:)`` has returned, unless the attempt is cancelled.
    init(
        _ route: Route, _ proxy: Proxy, _ connector: Connector, _ security: Security, for owner: any TunnelOwner,
        timeout: UInt64?, completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) {
        self.route = route
        self.proxy = proxy
        self.connector = connector
        self.security = security
        self.owner = owner
        self.timeout = timeout
        self.completion = completion
    }

    func start() {
        if route.needsTunnel, proxy.kind != .socks4, let task = owner?.asker?.resources.task {
            login = owner?.asker.map { AuthenticationHandshake(opening: context($0.pool, task)) }
        }
        connect()
    }

    private func context(_ pool: ConnectionPool, _ task: URLSessionTask) -> AuthenticationContext {
        let request = HTTPAuthenticationRequest(
            method: "CONNECT", target: route.destination.authority, host: proxy.host)
        return pool.authenticationContext(
            .proxy(proxy), request, isSecure: route.origin.isSecure, given: proxy.credential?.urlCredential, for: task)
    }

    private func connect() {
        let tls = security.proxy.map { (context: $0, serverName: proxy.host) }
        let attempt = connector.connect(
            to: proxy.endpoint, tls: tls, over: route.use, timeout: timeout
        ) { [self] result in
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
        guard route.needsTunnel else { return end(.success(stream)) }
        run(
            TunnelDriver(stream, proxy, destination: destination) { [self] outcome in
                timer?.cancel()
                switch outcome {
                case .established(let stream, let fields): tunnelled(stream, fields)
                case .challenged(let challenge): challenged(challenge)
                case .failed(let error): refused(error)
                }
            }, on: stream.loop)
    }

    private func run(_ driver: TunnelDriver, on loop: EventLoop) {
        state = .tunnelling(driver)
        if let timeout {
            timer = loop.schedule(at: loop.now.advanced(byNanoseconds: timeout)) { [weak self] in
                self?.tunnelTimedOut()
            }
        }
        switch proxy.kind {
        case .http, .https:
            let authorization = login?.authorization(on: driver.connection)
            driver.run(ConnectHandshake(route.destination, authorization: authorization))
        case .socks4:
            driver.run(SOCKS4Handshake(route.destination, proxy.credential))
        case .socks5:
            let credential = login?.credential(on: driver.connection)
            driver.run(SOCKS5Handshake(route.destination, Proxy.Credential(credential)))
        }
    }

    private func tunnelTimedOut() {
        guard case .tunnelling(let driver) = state else { return }
        driver.cancel()
        end(.failure(TransportError(.connect, destination, .timedOut)))
    }

    // MARK: Authentication

    private func challenged(_ challenge: TunnelChallenge) {
        guard case .tunnelling(let driver) = state else { return }
        guard let login, let exchange = owner?.asker, let receiver = exchange.receiver else {
            return fail(.authentication)
        }
        state = .challenged(driver, challenge)
        owner?.isHeld(true)
        let response = challenge.head.map { HTTPURLResponse($0, to: exchange.request) }
        // Not from inside the driver's own call.
        driver.loop.executeLater { [weak self, weak receiver] in
            guard let self, let receiver, case .challenged = state else { return }
            login.answer(challenge.challenges, response, asking: receiver) { [weak self] in self?.settle($0) }
        }
    }

    private func settle(_ decision: AuthenticationHandshake.Decision) {
        guard case .challenged(let driver, let challenge) = state else { return }
        owner?.isHeld(false)
        switch decision {
        case .deliver: fail(.authentication)
        case .cancel:
            end(.failure(LoadFailure(.cancelled, "the program cancelled the proxy's authentication challenge")))
        case .sendAgain where challenge.keepsConnection && driver.isUsable:
            run(driver, on: driver.loop)
        case .sendAgain:
            driver.cancel()
            login?.changesConnection()
            connect()
        }
    }

    /// A proxy that refuses for another reason has taken the credential.
    private func refused(_ error: any Error) {
        if let error = error as? ProxyError, case .status(let status, _) = error.cause {
            _ = try? login?.accepted(HTTPFields(), status: status)
        }
        end(.failure(error))
    }

    // MARK: The tunnel

    private func tunnelled(_ stream: ByteStream, _ fields: HTTPFields) {
        do {
            try login?.accepted(fields, status: 200)
        } catch {
            stream.close()
            return end(.failure(error))
        }
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
        if case .success = result { state = .ended }
        stop()
        completion(result)
    }

    private func stop() {
        timer?.cancel()
        timer = nil
        login?.end()
        switch state {
        case .connecting(let attempt): attempt?.cancel()
        case .tunnelling(let driver), .challenged(let driver, _): driver.cancel()
        case .securing(let attempt): attempt.cancel()
        case .ended: break
        }
        state = .ended
    }
}
