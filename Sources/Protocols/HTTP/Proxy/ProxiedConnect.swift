import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// Connects to a proxy, opens a tunnel if needed, and performs the TLS handshake in it. After a challenge the tunnel is
/// requested again, on the same connection or on another one.
final class ProxiedConnect: PendingConnection {
    private enum State {
        case connecting(ConnectAttempt?)
        /// An authentication scheme, which may need time, makes the value for the tunnel's request.
        case authorizing(TunnelDriver)
        case tunnelling(TunnelDriver)
        /// The program has to answer a challenge.
        case challenged(TunnelDriver, TunnelChallenge)
        case securing(ConnectAttempt)
        case ended
    }

    /// Nil for a connection that is not secured.
    struct Security {
        let proxy: TLSDemand?
        let server: TLSDemand?
    }

    private let route: Route
    private let proxy: Proxy
    private let proxyType: String
    private let connector: Connector
    /// Whether bytes behind the proxy's response may be read. False if the server may send first, as an FTP server
    /// does.
    private let readsAhead: Bool
    private let security: Security
    private let time: ConnectTime
    private var timeout: UInt64? { time.limit }
    /// Returns a load that waits for the connection, if there is one.
    private let requester: () -> TunnelRequester?
    /// Called with whether the program is being asked, perhaps with the same value again. While it is asked, the timeouts of
    /// the requests that wait for the connection are suspended.
    private let setChallenging: (Bool) -> Void
    private var handshake: AuthenticationHandshake?
    private var state = State.connecting(nil)
    /// Whether the tunnel was requested again on the connection that carried the challenge, which the proxy may have
    /// closed meanwhile.
    private var isOnKeptConnection = false
    /// Whether a kept connection was lost. It is replaced once: a proxy that closes after each wrong password would lock the
    /// account.
    private var hasConnectedAnew = false
    private(set) var number: UInt32 = 0
    private var timer: LoopTimer?
    private var completion: ((Result<ByteStream, any Error>) -> Void)?

    /// - Parameters:
    ///   - proxyType: the type of an HTTP proxy in protection spaces.
    ///   - readsAhead: false if the server may send first, as an FTP server does.
    ///   - time: the time limit for each step.
    ///   - completion: called once, after ``start()`` has returned, unless the attempt is cancelled.
    init(
        _ route: Route, _ proxy: Proxy, _ proxyType: String, _ connector: Connector, _ security: Security,
        readsAhead: Bool = true, time: ConnectTime, requester: @escaping () -> TunnelRequester?,
        setChallenging: @escaping (Bool) -> Void = { _ in },
        completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) {
        self.route = route
        self.proxy = proxy
        self.proxyType = proxyType
        self.readsAhead = readsAhead
        self.connector = connector
        self.security = security
        self.requester = requester
        self.setChallenging = setChallenging
        self.time = time
        self.completion = completion
    }

    func start() {
        if route.needsTunnel, proxy.kind.challengesTunnels, let requester = self.requester() {
            handshake = AuthenticationHandshake(preemptive: context(requester))
        }
        connect()
    }

    private func context(_ requester: TunnelRequester) -> AuthenticationContext {
        let request = HTTPAuthenticationRequest(
            method: "CONNECT", target: route.destination.authority, host: proxy.host, isSecure: proxy.kind.isSecure,
            isProxy: true)
        return requester.session.authenticationContext(
            .proxy(proxy), request, proxyType: proxyType, given: proxy.credential?.urlCredential, for: requester.task)
    }

    private func connect() {
        isOnKeptConnection = false
        let attempt = connector.connect(
            to: proxy.endpoint, tls: security.proxy, over: route.use, timeout: timeout
        ) { [self] result in
            switch result {
            case .success(let stream): didConnect(stream)
            case .failure(let error) where error.cause == .timedOut && !time.hasAnotherRoute: end(.failure(error))
            case .failure(let error) where error.concernsCertificates:
                end(.failure(TransportError(error.phase, "the proxy \(proxy.description)", error.cause)))
            case .failure(let error): fail(.unreachable(error))
            }
        }
        number = attempt.number
        state = .connecting(attempt)
    }

    func cancel() {
        completion = nil
        stop()
    }

    private func didConnect(_ stream: ByteStream) {
        guard route.needsTunnel else { return end(.success(stream)) }
        authorize(
            TunnelDriver(stream, proxy, destination: destination, readsAhead: readsAhead) { [self] outcome in
                timer?.cancel()
                switch outcome {
                case .established(let stream, let fields): tunnelDidOpen(stream, fields)
                case .challenged(let challenge): didReceiveChallenge(challenge)
                case .failed(let error): handshakeDidFail(error)
                }
            })
    }

    private func authorize(_ driver: TunnelDriver) {
        guard let handshake, handshake.needsPreparation else { return run(driver, on: driver.loop) }
        state = .authorizing(driver)
        limitStep(on: driver.loop)
        handshake.prepare(on: driver.connection) { [weak self] in
            guard let self, case .authorizing(let driver) = state else { return }
            run(driver, on: driver.loop)
        }
    }

    private func run(_ driver: TunnelDriver, on loop: EventLoop) {
        state = .tunnelling(driver)
        limitStep(on: loop)
        switch proxy.kind {
        case .http, .https:
            let authorization = handshake?.authorizationOctets(on: driver.connection)
            driver.run(
                ConnectHandshake(
                    route.destination, userAgent: RequestFields.userAgent, authorization: authorization))
        case .socks4:
            driver.run(SOCKS4Handshake(route.destination, proxy.credential))
        case .socks5:
            let credential = handshake?.credential(on: driver.connection)
            driver.run(SOCKS5Handshake(route.destination, Proxy.Credential(credential)))
        }
    }

    /// Limits the time of the step that begins.
    private func limitStep(on loop: EventLoop) {
        timer?.cancel()
        guard let timeout else { return }
        timer = loop.schedule(at: loop.now.advanced(byNanoseconds: timeout)) { [weak self] in self?.stepTimedOut() }
    }

    private func stepTimedOut() {
        switch state {
        case .authorizing(let driver), .challenged(let driver, _):
            end(driver, missing: "the end of its authentication")
        case .tunnelling(let driver): end(driver, missing: driver.awaited ?? "its answer")
        case .connecting, .securing, .ended: break
        }
    }

    private func end(_ driver: TunnelDriver, missing awaited: String) {
        driver.cancel()
        fail(time.hasAnotherRoute ? .silent : .unanswered(awaited))
    }

    // MARK: Authentication

    private func didReceiveChallenge(_ challenge: TunnelChallenge) {
        guard case .tunnelling(let driver) = state else { return }
        guard let handshake, let requester = self.requester() else { return fail(.authentication) }
        state = .challenged(driver, challenge)
        let response = challenge.head.map { HTTPURLResponse($0, to: requester.request) }
        setChallenging(true)
        // The attempt may have ended in this call.
        guard case .challenged = state else { return }
        handshake.answer(
            challenge.schemes, response, on: driver.connection,
            challenging: { [weak self] in self?.requester()?.receiver },
            setAsking: { [weak self] in self?.setAsking($0) }
        ) { [weak self] in self?.settle($0) }
    }

    /// The program's answer has no time limit. A scheme's step that follows it has one.
    private func setAsking(_ isAsking: Bool) {
        guard case .challenged(let driver, _) = state else { return }
        if isAsking { timer?.cancel() } else { limitStep(on: driver.loop) }
        setChallenging(isAsking)
    }

    private func settle(_ decision: AuthenticationHandshake.Decision) {
        guard case .challenged(let driver, let challenge) = state else { return }
        timer?.cancel()
        setChallenging(false)
        switch decision {
        case .deliver: fail(.authentication)
        case .cancel:
            end(.failure(LoadFailure(.cancelled, "the program cancelled the proxy's authentication challenge")))
        case .sendAgain where challenge.keepsConnection && driver.isUsable:
            isOnKeptConnection = true
            authorize(driver)
        case .sendAgain:
            driver.cancel()
            connectAnew()
        }
    }

    private func connectAnew() {
        handshake?.connectionWillChange()
        connect()
    }

    /// A proxy that refuses for another reason has accepted the credential.
    private func handshakeDidFail(_ error: any Error) {
        if let error = error as? ProxyError, case .status(let status, _) = error.cause {
            _ = try? handshake?.serverDidAccept(HTTPFields(), status: status)
        }
        // A reset also ends the connection without a response.
        let isReset = (error as? TransportError)?.category == .connectionLost
        let isClosed = isReset || (error as? ProxyError)?.cause == .closed
        if isClosed, isOnKeptConnection, !hasConnectedAnew {
            hasConnectedAnew = true
            return connectAnew()
        }
        if isReset { return fail(.closed) }
        end(.failure(error))
    }

    // MARK: The tunnel

    private func tunnelDidOpen(_ stream: ByteStream, _ fields: HTTPFields) {
        do {
            try handshake?.serverDidAccept(fields, status: 200)
        } catch {
            stream.close()
            return end(.failure(error))
        }
        guard let tls = security.server else { return end(.success(stream)) }
        let attempt = connector.secure(
            stream, endpoint: route.origin.endpoint, tls: tls, timeout: timeout
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
        handshake?.end()
        switch state {
        case .connecting(let attempt): attempt?.cancel()
        case .authorizing(let driver), .tunnelling(let driver), .challenged(let driver, _): driver.cancel()
        case .securing(let attempt): attempt.cancel()
        case .ended: break
        }
        state = .ended
    }
}

package struct ConnectTime {
    /// The limit in nanoseconds; nil for none.
    package let limit: UInt64?
    /// The request has another route, and spends only a part of its time on this one.
    let hasAnotherRoute: Bool

    /// - Parameters:
    ///   - request: the time that a request may wait, in nanoseconds.
    ///   - route: the part of this time for a route that is followed by another one.
    package init(_ request: UInt64?, ofRoute route: UInt64?) {
        limit = route.map { min($0, request ?? .max) } ?? request
        hasAnotherRoute = route != nil
    }

    /// - Parameter request: the time that a request may wait, in nanoseconds.
    package init(_ request: UInt64?, along routes: ProxyRoutes) {
        self.init(request, ofRoute: routes.limit(of: request))
    }
}

extension TransportError {
    /// Whether a TLS handshake failed because of a decision about either side's certificate.
    fileprivate var concernsCertificates: Bool {
        switch cause {
        case .cancelled, .certificate: true
        case .alert(_, let use): use != .notAsked
        case _: false
        }
    }
}

extension TunnelChallenge {
    /// The schemes that the proxy offers. An HTTP proxy names them in its response's fields.
    fileprivate var schemes: [HTTPAuthenticationChallenge] {
        guard let head else { return [HTTPAuthenticationChallenge(scheme: SOCKSPasswordScheme.name)] }
        return ChallengeParser.challenges(in: head.fields, .proxyAuthenticate)
    }
}
