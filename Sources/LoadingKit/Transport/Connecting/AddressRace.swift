import Glibc
import LoadingKitPrimitives

/// Connects to the first of a name's addresses that answers, as decided by ``HappyEyeballs``.
final class AddressRace {
    typealias Outcome = Result<(socket: Socket, remote: SocketAddress), TransportError>

    private let loop: EventLoop
    private let host: String
    private let port: UInt16
    private let use: NetworkUse
    private let completion: (Outcome) -> Void
    private let note: (ConnectStep) -> Void

    private var machine = HappyEyeballs()
    private var request: Resolver.Request?
    private var attempts: [(address: IPAddress, connect: SocketConnect)] = []
    private var winner: (address: IPAddress, socket: Socket)?
    private var resolutionTimer: LoopTimer?
    private var attemptTimer: LoopTimer?
    private var resolverFailures: [ResolverFailure] = []
    private var failedAddresses: [TransportError.FailedAddress] = []
    private var unanswered = IPAddress.Family.allCases
    /// The lookups that had no descriptor. They are repeated when all others have ended.
    private var withoutDescriptors: [IPAddress.Family: ResolverFailure] = [:]
    private var descriptorAttempts = 0
    private var isOver = false

    init(
        host: String, port: UInt16, over use: NetworkUse, on loop: EventLoop, note: @escaping (ConnectStep) -> Void,
        completion: @escaping (Outcome) -> Void
    ) {
        self.host = host
        self.port = port
        self.use = use
        self.loop = loop
        self.note = note
        self.completion = completion
    }

    func start(_ resolver: Resolver) {
        let request = resolver.resolve(host, mustBeValid: use.requiresDNSSEC, on: loop) { [weak self] family, answer in
            self?.lookupDidEnd(family, answer, resolver)
        }
        if isOver { request.cancel() } else { self.request = request }
    }

    func cancel() {
        isOver = true
        request?.cancel()
        resolutionTimer?.cancel()
        attemptTimer?.cancel()
        for attempt in attempts { attempt.connect.cancel() }
        attempts = []
    }

    /// Whether addresses are known. A timeout is attributed to the current step.
    var isConnecting: Bool { !attempts.isEmpty || !failedAddresses.isEmpty }

    /// The results of the failed attempts and of those that are still running.
    var addressesSoFar: [TransportError.FailedAddress] {
        failedAddresses + attempts.map { .init(address: .ip($0.address, port: port), cause: .timedOut) }
    }

    // MARK: Inputs

    private func lookupDidEnd(_ family: IPAddress.Family, _ answer: Resolver.Answer, _ resolver: Resolver) {
        // Names are looked up again for both families, of which one may have been answered.
        guard !isOver, unanswered.contains(family) else { return }
        if case .failure(let failure) = answer, case .noDescriptors = failure,
            descriptorAttempts < SocketConnect.maximumDescriptorAttempts
        {
            withoutDescriptors[family] = failure
        } else {
            take(family, answer)
        }
        guard !isOver, !withoutDescriptors.isEmpty, withoutDescriptors.count == unanswered.count else { return }
        closeIdleConnections(resolver)
    }

    /// Closes idle connections and looks the name up again. Gives up if there are none.
    private func closeIdleConnections(_ resolver: Resolver) {
        descriptorAttempts += 1
        loop.closeIdleConnections { [self] hasClosed in idleConnectionsDidClose(hasClosed, resolver) }
    }

    private func idleConnectionsDidClose(_ hasClosed: Bool, _ resolver: Resolver) {
        guard !isOver else { return }
        let failures = withoutDescriptors
        withoutDescriptors = [:]
        if hasClosed { return start(resolver) }
        for (family, failure) in failures { take(family, .failure(failure)) }
    }

    private func take(_ family: IPAddress.Family, _ answer: Resolver.Answer) {
        guard !isOver else { return }
        unanswered.removeAll { $0 == family }
        switch answer {
        case .success(let addresses):
            note(.lookUpEnded(addressCount: Int32(clamping: addresses.count)))
            receive(.answered(family, addresses))
        case .failure(let failure):
            if unanswered.isEmpty { note(.lookUpEnded(addressCount: 0)) }
            resolverFailures.append(failure)
            receive(.answered(family, []))
        }
    }

    private func connectDidEnd(_ address: IPAddress, _ result: Result<Socket, TransportError.Cause>) {
        guard !isOver else {
            if case .success(let socket) = result { socket.close() }
            return
        }
        attempts.removeAll { $0.address == address }
        switch result {
        case .success(let socket):
            winner = (address, socket)
            receive(.attemptSucceeded(address))
        case .failure(let cause):
            note(.connectFailed(to: address, errno: cause.errno))
            failedAddresses.append(.init(address: .ip(address, port: port), cause: cause))
            receive(.attemptFailed(address))
        }
    }

    // MARK: Actions

    private func receive(_ input: HappyEyeballs.Input) {
        // An action may call back here before the following actions are done. Those would then change timers that the
        // nested call has just set. Attempts are therefore started last. Calls are nested no deeper than a name has
        // addresses, whose number is limited.
        var starts: [IPAddress] = []
        for action in machine.receive(input) {
            switch action {
            case .startAttempt(let address): starts.append(address)
            case .setResolutionTimer(let delay): resolutionTimer = timer(after: delay, .resolutionDelayPassed)
            case .cancelResolutionTimer: resolutionTimer?.cancel()
            case .setAttemptTimer(let delay):
                attemptTimer?.cancel()
                attemptTimer = timer(after: delay, .attemptDelayPassed)
            case .cancelAttemptTimer: attemptTimer?.cancel()
            case .finish(let address):
                guard let winner, winner.address == address else { break }
                end(.success((winner.socket, .ip(address, port: port))))
            case .giveUp: end(.failure(error))
            }
        }
        for address in starts where !isOver { startAttempt(address) }
    }

    private func timer(after delay: UInt64, _ input: HappyEyeballs.Input) -> LoopTimer {
        loop.schedule(at: loop.now.advanced(byNanoseconds: delay)) { [weak self] in self?.receive(input) }
    }

    private func startAttempt(_ address: IPAddress) {
        note(.connecting(to: address, port: port))
        let attempt = SocketConnect(.ip(address, port: port), over: use, on: loop)
        attempts.append((address, attempt))
        attempt.start { [weak self] result in
            guard let self else {
                if case .success(let socket) = result { socket.close() }
                return
            }
            self.connectDidEnd(address, result)
        }
    }

    private func end(_ outcome: Outcome) {
        guard !isOver else { return }
        cancel()
        completion(outcome)
    }

    private var error: TransportError {
        let endpoint = Endpoint.tcp(host: host, port: port).description
        // An address without a route says less about the host than an address that was tried.
        let tried = failedAddresses.last { !$0.cause.isLackOfRoute }
        guard let failed = tried ?? failedAddresses.last else {
            return TransportError(.resolve, endpoint, resolverCause, isOffline: mayBeOffline)
        }
        return TransportError(
            .connect, endpoint, failed.cause, failedAddresses: failedAddresses,
            isOffline: tried == nil
                && failedAddresses.allSatisfy { NetworkInterface.isUnreachable($0.address, by: use.interface) })
    }

    /// Whether the lookups may have failed because there is no network. If a name server has answered that there is no
    /// address, a missing default route proves nothing.
    private var mayBeOffline: Bool {
        switch resolverCause {
        case .resolverFailed: Networks.haveNoAddress || Networks.haveNoDefaultRoute
        case .nameNotFound, .noAddresses: Networks.haveNoAddress
        case _: false
        }
    }

    /// The cause is "not found" only if both lookups report this; a failed lookup might have found an address.
    private var resolverCause: TransportError.Cause {
        for failure in resolverFailures {
            switch failure {
            case .failed(let text): return .resolverFailed(text)
            case .notValidated(let text): return .nameNotValidated(text)
            case .noDescriptors(let code): return .systemCall(.socket, errno: code)
            case .refused(let refusal): return .lookupRefused(refusal)
            case .notFound: break
            }
        }
        guard case .notFound(let text) = resolverFailures.first else { return .noAddresses }
        return .nameNotFound(text)
    }
}
