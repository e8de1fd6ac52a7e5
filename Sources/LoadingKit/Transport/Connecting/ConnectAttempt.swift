import LoadingKitPrimitives

/// A connection that is being opened. Confined to its loop. It continues even if its creator releases it.
package final class ConnectAttempt {
    private enum State {
        case waiting
        case racing(AddressRace)
        case connectingUnix(SocketConnect)
        case securing(TLSHandshake)
        case finished
    }

    private let endpoint: Endpoint
    private let tls: TLSDemand?
    private let use: NetworkUse
    private let loop: EventLoop
    private let observer: (any ConnectObserver)?
    /// The connection's number for the observer; 0 without one.
    package let number: UInt32
    private var completion: ((Result<ByteStream, TransportError>) -> Void)?
    private var state = State.waiting
    private var timeout: UInt64?
    private var timer: LoopTimer?
    private var timings = ConnectTimings()
    /// Retains this object while it has work.
    private var keepAlive: ConnectAttempt?

    /// - Parameter number: the connection's number where it is open; nil for a new one.
    init(
        _ endpoint: Endpoint, tls: TLSDemand?, over use: NetworkUse, on loop: EventLoop,
        observer: (any ConnectObserver)?, number: UInt32? = nil,
        completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) {
        self.observer = observer
        self.number = number ?? observer?.makeConnectionNumber() ?? 0
        self.endpoint = endpoint
        self.tls = tls
        self.use = use
        self.loop = loop
        self.completion = completion
    }

    /// Ends the attempt without calling its completion. Does nothing after the attempt has ended.
    package func cancel() {
        loop.preconditionCurrent()
        if completion != nil { note(.cancelled) }
        stop()
        completion = nil
    }

    /// The times of the steps so far.
    package var timingsSoFar: ConnectTimings { timings }

    func start(_ resolver: Resolver, timeout: UInt64?) { start(timeout: timeout) { $0.begin(resolver) } }

    func start(over stream: ByteStream, timeout: UInt64?) {
        timings = stream.info.timings
        let remote = stream.info.remote
        guard let (socket, carrier) = stream.handOver() else {
            return start(timeout: nil) { attempt in
                attempt.end(.failure(attempt.error(.tls, .configuration("TLS is put on an open connection"))))
            }
        }
        start(timeout: timeout) { $0.socketDidConnect(socket, inside: carrier, remote) }
    }

    private func start(timeout: UInt64?, _ begin: @escaping (ConnectAttempt) -> Void) {
        keepAlive = self
        self.timeout = timeout
        startTimer()
        // Begins later, so that the caller has this object before it is notified of the end.
        loop.executeLater { [weak self] in
            guard let self, case .waiting = self.state else { return }
            begin(self)
        }
    }

    private func startTimer() {
        guard let timeout else { return }
        timer = loop.schedule(at: loop.now.advanced(byNanoseconds: timeout)) { [weak self] in self?.timeoutDidPass() }
    }

    /// The timeout does not run while a decision about certificates is awaited. It restarts afterwards.
    private func awaitingDecisionDidChange(_ isAwaitingDecision: Bool) {
        timer?.cancel()
        if !isAwaitingDecision, case .securing = state { startTimer() }
    }

    // MARK: Steps

    private func begin(_ resolver: Resolver) {
        switch endpoint {
        case .tcp(let host, let port):
            // A literal address needs no look-up.
            if IPAddress(host) == nil { note(.lookUpBegan) }
            let race = AddressRace(
                host: host, port: port, over: use, on: loop, note: { [weak self] in self?.note($0) },
                completion: { [weak self] in self?.raceDidEnd($0) })
            state = .racing(race)
            race.start(resolver)
        case .unix(let path):
            note(.connecting(to: nil, port: 0))
            let address = SocketAddress.unix(path: path)
            let connect = SocketConnect(address, over: use, on: loop)
            state = .connectingUnix(connect)
            connect.start { [weak self] result in
                self?.raceDidEnd(result.map { ($0, address) }.mapError { TransportError(.connect, path, $0) })
            }
        }
    }

    private func note(_ step: ConnectStep) {
        switch step {
        case .lookUpBegan: timings.resolveStart = loop.currentTime
        case .lookUpEnded:
            // A literal address was not looked up. The answers for both families come one after the other.
            guard timings.resolveStart != nil, timings.resolveEnd == nil else { return }
            timings.resolveEnd = loop.currentTime
        case .connecting: if timings.connectStart == nil { timings.connectStart = loop.currentTime }
        case .connected: timings.connectEnd = loop.currentTime
        case .handshakeBegan: timings.tlsStart = loop.currentTime
        case .handshakeEnded: timings.tlsEnd = loop.currentTime
        case .connectFailed, .failed, .cancelled: break
        }
        observer?.connection(number, did: step)
    }

    private func raceDidEnd(_ outcome: AddressRace.Outcome) {
        switch outcome {
        case .success((let socket, let remote)):
            note(.connected(to: remote.ip))
            socketDidConnect(socket, remote)
        case .failure(let error): end(.failure(error))
        }
    }

    private func socketDidConnect(_ socket: Socket, inside carrier: TLSSession? = nil, _ remote: SocketAddress) {
        guard let tls else { return succeed(socket, carrier, remote) }
        note(.handshakeBegan)
        guard let session = TLSSession(tls, to: endpoint, socket: socket, inside: carrier) else {
            socket.close()
            end(.failure(error(.tls, .configuration("“\(tls.serverName)” cannot be a server's name"))))
            return
        }
        let handshake = TLSHandshake(session, over: socket) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success(let session):
                self.note(.handshakeEnded(version: session.info.protocolVersion))
                self.succeed(socket, session, remote)
            case .failure(let cause): self.end(.failure(self.error(.tls, cause)))
            }
        }
        handshake.awaitingDecisionDidChange = { [weak self] in self?.awaitingDecisionDidChange($0) }
        state = .securing(handshake)
        handshake.start()
    }

    // MARK: Ends

    private func succeed(_ socket: Socket, _ session: TLSSession?, _ remote: SocketAddress) {
        let info = ConnectionInfo(
            number: number, endpoint: endpoint, local: socket.localAddress ?? .unknown, remote: remote,
            tls: session?.info,
            timings: timings, isMultipath: use.isMultipath && SystemCalls.isMultipath(socket.descriptor))
        let stream = ByteStream(socket: socket, tls: session, info: info)
        if let failure = stream.start() {
            stream.close()
            end(.failure(error(.connect, .init(failure))))
        } else {
            state = .finished
            end(.success(stream))
        }
    }

    private func timeoutDidPass() {
        switch state {
        case .waiting: end(.failure(error(.connect, .timedOut)))
        case .racing(let race):
            var error = error(race.isConnecting ? .connect : .resolve, .timedOut)
            error.failedAddresses = race.addressesSoFar
            end(.failure(error))
        case .connectingUnix: end(.failure(error(.connect, .timedOut)))
        case .securing: end(.failure(error(.tls, .timedOut)))
        case .finished: break
        }
    }

    private func end(_ result: Result<ByteStream, TransportError>) {
        guard let completion else { return }
        self.completion = nil
        // When the time is over, the look-up may still be running. It is abandoned.
        if timings.resolveStart != nil, timings.resolveEnd == nil { timings.resolveEnd = loop.currentTime }
        if case .failure(let error) = result { note(.failed(error.phase.ofConnecting)) }
        stop()
        completion(result)
    }

    private func stop() {
        timer?.cancel()
        switch state {
        case .waiting, .finished: break
        case .racing(let race): race.cancel()
        case .connectingUnix(let connect): connect.cancel()
        case .securing(let handshake): handshake.cancel()
        }
        state = .finished
        keepAlive = nil
    }

    private func error(_ phase: TransportError.Phase, _ cause: TransportError.Cause) -> TransportError {
        TransportError(phase, endpoint.description, cause)
    }
}

extension TransportError.Phase {
    fileprivate var ofConnecting: ConnectPhase {
        switch self {
        case .resolve: .lookUp
        case .connect, .read, .write: .connect
        case .tls: .handshake
        }
    }
}
