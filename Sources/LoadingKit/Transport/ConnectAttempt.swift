import Foundation
import LoadingKitPrimitives

/// One connection being made. Confined to its loop, which keeps it until it is over.
package final class ConnectAttempt: @unchecked Sendable {  // confined to `loop`
    private enum Phase {
        case connecting
        case securing(StreamSocket, TLSSession)
        case over
    }

    private let loop: EventLoop
    private let resolver: Resolver
    private let endpoint: Endpoint
    private let tls: (context: TLSContext, serverName: String)?
    private var completion: ((Result<ByteStream, TransportError>) -> Void)?
    private var phase = Phase.connecting
    private var race = HappyEyeballs()
    private var racers: [SocketAddress: Racer] = [:]
    private var raceTimer: LoopTimer?
    private var timeout: LoopTimer?
    private var lookupFailure: TransportError.Cause?
    private var timings = ConnectTimings()

    init(
        _ loop: EventLoop, _ resolver: Resolver, _ endpoint: Endpoint,
        _ tls: (context: TLSContext, serverName: String)?,
        _ completion: @escaping (Result<ByteStream, TransportError>) -> Void
    ) {
        self.loop = loop
        self.resolver = resolver
        self.endpoint = endpoint
        self.tls = tls
        self.completion = completion
    }

    /// Ends the attempt; its completion is not called.
    package func cancel() {
        completion = nil
        finish(.failure(error(.connect, .timedOut)))
    }

    func begin(_ nanoseconds: UInt64?) {
        if let nanoseconds {
            timeout = loop.schedule(at: loop.now.advanced(byNanoseconds: nanoseconds)) { [weak self] in self?.timedOut()
            }
        }
        // Not before `connect` has returned.
        loop.execute { self.start() }
    }

    private func start() {
        guard case .connecting = phase else { return }
        switch endpoint {
        case .tcp(let host, let port): resolve(host, port)
        case .unix(let path):
            guard let address = SocketAddress(path: path) else { return fail(.connect, .badPath) }
            race = HappyEyeballs()
            act(race.handle(.answer(.v6, [address])) + race.handle(.answer(.v4, [])))
        }
    }

    private func resolve(_ host: String, _ port: UInt16) {
        timings.resolveStart = loop.now
        for family in [HappyEyeballs.Family.v6, .v4] {
            resolver.resolve(host, port: port, family, now: loop.now) { [loop] answer in
                loop.execute { self.answered(family, answer) }
            }
        }
    }

    private func answered(_ family: HappyEyeballs.Family, _ answer: Resolver.Answer) {
        guard case .connecting = phase else { return }
        switch answer {
        case .addresses: break
        case .notFound(let text): lookupFailure = lookupFailure ?? .nameNotFound(text)
        case .failed(let text): lookupFailure = .resolverFailed(text)
        }
        timings.resolveEnd = loop.now
        act(race.handle(.answer(family, answer.addresses)))
    }

    // MARK: The race

    private func act(_ actions: [HappyEyeballs.Action]) {
        for action in actions {
            guard case .connecting = phase else { return }
            switch action {
            case .start(let address): startRacer(address)
            case .setTimer(let delay): setRaceTimer(delay)
            case .cancelTimer: raceTimer?.cancel()
            case .won(let address): won(address)
            case .gaveUp: gaveUp()
            }
        }
    }

    private func setRaceTimer(_ delay: UInt64) {
        raceTimer?.cancel()
        raceTimer = loop.schedule(at: loop.now.advanced(byNanoseconds: delay)) { [weak self] in
            guard let self else { return }
            act(race.handle(.timer))
        }
    }

    private func startRacer(_ address: SocketAddress) {
        if timings.connectStart == nil { timings.connectStart = loop.now }
        let racer = Racer { [weak self] code in self?.ended(address, code) }
        switch StreamSocket.connect(to: address, racer, loop) {
        case .success(let socket):
            racer.socket = socket
            racers[address] = racer
        case .failure(let error):
            act(race.handle(.failed(address, code: error.code)))
        }
    }

    private func ended(_ address: SocketAddress, _ code: Int32) {
        guard case .connecting = phase else { return }
        if code == 0 { return act(race.handle(.connected(address))) }
        racers.removeValue(forKey: address)?.socket?.close()
        act(race.handle(.failed(address, code: code)))
    }

    private func gaveUp() {
        if race.failures.isEmpty, let lookupFailure { return fail(.resolve, lookupFailure) }
        fail(.connect, .addresses(race.failures.map { ($0.0.description, code: $0.code) }))
    }

    private func won(_ address: SocketAddress) {
        guard let socket = racers.removeValue(forKey: address)?.socket else { return }
        closeRacers()
        timings.connectEnd = loop.now
        guard let tls else { return succeed(socket, nil) }
        timings.tlsStart = loop.now
        guard let session = TLSSession(tls.context, serverName: tls.serverName, port: endpoint.port, socket) else {
            socket.close()
            return fail(.tls, .handshake("there is no memory for it"))
        }
        phase = .securing(socket, session)
        loop.replace(Racer(onEvents: { [weak self] events in self?.handshake(events) }), socket.descriptor)
        handshake(0)
    }

    // MARK: TLS

    private func handshake(_ events: UInt32) {
        guard case .securing(let socket, let session) = phase else { return }
        _ = socket.note(events)
        switch session.handshake() {
        case .waits: break
        case .done:
            timings.tlsEnd = loop.now
            succeed(socket, session)
        case .failed(let cause):
            fail(.tls, cause)
        }
    }

    // MARK: The end

    private func timedOut() {
        if case .securing = phase { return fail(.tls, .timedOut) }
        fail(timings.connectStart == nil ? .resolve : .connect, .timedOut)
    }

    private func succeed(_ socket: StreamSocket, _ session: TLSSession?) {
        var info = ConnectionInfo(socket.descriptor, timings)
        info.tls = session?.info
        phase = .over
        finish(.success(ByteStream(socket, tls: session, info, loop)))
    }

    private func fail(_ phase: TransportError.Phase, _ cause: TransportError.Cause) {
        finish(.failure(error(phase, cause)))
    }

    private func error(_ phase: TransportError.Phase, _ cause: TransportError.Cause) -> TransportError {
        TransportError(phase: phase, endpoint: endpoint.description, cause: cause)
    }

    private func finish(_ result: Result<ByteStream, TransportError>) {
        if case .securing(let socket, let session) = phase {
            session.free()
            socket.close()
        }
        phase = .over
        timeout?.cancel()
        raceTimer?.cancel()
        closeRacers()
        let completion = completion
        self.completion = nil
        completion?(result)
    }

    private func closeRacers() {
        for racer in racers.values { racer.socket?.close() }
        racers = [:]
    }
}

/// A socket that is connecting: hears of its end, once, or of each event.
private final class Racer: LoopChannel {
    private var onEnd: ((Int32) -> Void)?
    private let onEvents: ((UInt32) -> Void)?
    var socket: StreamSocket?

    init(_ onEnd: @escaping (Int32) -> Void) {
        self.onEnd = onEnd
        onEvents = nil
    }

    init(onEvents: @escaping (UInt32) -> Void) { self.onEvents = onEvents }

    func isReady(_ events: UInt32) {
        if let onEvents { return onEvents(events) }
        let end = onEnd
        onEnd = nil
        if let socket { end?(socket.error) }
    }
}

extension Endpoint {
    fileprivate var port: UInt16 {
        if case .tcp(_, let port) = self { port } else { 0 }
    }
}
