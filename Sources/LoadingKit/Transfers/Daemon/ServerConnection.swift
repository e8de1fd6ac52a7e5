import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A program's connection, as the daemon has it. Confined to the server's loop.
final class ServerConnection: SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    private enum State {
        case greeting
        case open
        case attached(String, any TransferChannel)
        case ended
    }

    private unowned let server: DaemonServer
    private let link: SocketLink
    private var state = State.greeting
    private var timer: LoopTimer?
    /// How many commands are not yet performed.
    private var commandCount = 0 {
        didSet { link.isPaused = commandCount >= server.limits.maximumCommands }
    }
    /// Whether the ends come that a session has had when it was attached. They are sent as lists: there may be more of them than
    /// may wait for a program.
    private var tellsEarlierEnds = false

    init(_ socket: LocalSocket, _ server: DaemonServer) {
        link = SocketLink(socket, waitingLimit: server.limits.maximumWaiting)
        self.server = server
    }

    /// The identifier of the session that is attached.
    var session: String? {
        if case .attached(let identifier, _) = state { identifier } else { nil }
    }

    func start() {
        setTimer(server.limits.timeToGreet)
        link.owner = self
        link.start()
    }

    /// The daemon ends.
    func end() { if leave() { link.close() } }

    /// False where the connection has ended before.
    private func leave() -> Bool {
        switch state {
        case .greeting, .open: break
        case .attached(_, let channel): channel.detach()
        case .ended: return false
        }
        state = .ended
        timer?.cancel()
        return true
    }

    /// Notices that the program has closed the connection, if it has.
    func noticeEnd() { link.read() }

    private func close(_ error: DaemonError? = nil) {
        if let error { try? link.send(.goodbye(.init(error: error.transferError))) }
        link.finish()
        didClose()
    }

    private func didClose() { if leave() { server.connectionDidEnd(self) } }

    private func setTimer(_ seconds: Double) {
        timer?.cancel()
        timer = server.loop.schedule(at: server.loop.now.advanced(bySeconds: seconds)) { [weak self] in
            self?.close(DaemonError("the program says nothing"))
        }
    }

    // MARK: What the program says

    func link(_ link: SocketLink, didClose end: LinkEnd) {
        switch end {
        case .closedByPeer: break
        case .failed, .misunderstood, .peerReadsNothing: server.log.write("closes a connection: \(end)")
        }
        didClose()
    }

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        switch (state, message) {
        case (.ended, _): break
        case (_, .message(.goodbye(let goodbye))):
            close()
            if let ending = goodbye.endsDaemon { server.programAsksForEnd(ending) }
        case (.greeting, .message(.hello(let hello))): greet(hello)
        case (.greeting, _): close(DaemonError("the first message is no greeting"))
        case (.open, .message(.attach(let session))): attach(session)
        case (.attached(_, let channel), .message(.command(let number, let command))):
            channel.send(command, descriptors: descriptors, completion: answering(number))
        case (_, .message(.overviewRequest(let number))): showAll(number)
        case (_, .message(.control(let number, let session, let command))):
            performer(for: number)?.control(session: session, command, completion: answering(number))
        case (_, .unknown(let number?)):
            answer(number, TransferError(.unsupportedURL, "The daemon is of an older version, and does not know that."))
        case (_, .unknown(nil)): break
        case (.open, .message), (.attached, .message): close(DaemonError("a message comes that is not expected"))
        }
        if case .open = state { setTimer(server.limits.quietTime) }
    }

    private func greet(_ hello: TransferMessage.Hello) {
        var own = server.hello
        own.isIdle = server.isIdle
        try? link.send(.hello(own))
        // A newer program may still have the daemon end.
        state = .open
    }

    private func attach(_ session: SessionDescription) {
        // The program's former process, which has ended, may hold the session still.
        server.noticeEnds(ofSession: session.identifier, but: self)
        do {
            let performer = try server.performerOrError()
            timer?.cancel()
            let loop = server.loop
            let channel = performer.makeChannel(for: session) { [weak self] event in
                guard let self else { return }
                loop.execute { self.deliver(event) }
            }
            state = .attached(session.identifier, channel)
            channel.attach()
        } catch {
            try? link.send(.event(.detached(DaemonError("\(error)").transferError)))
            close()
        }
    }

    private func deliver(_ event: TransferEvent) {
        guard case .attached = state else { return }
        switch event {
        case .attached(let attached):
            let state = SessionState(nextIdentifier: attached.nextIdentifier, transfers: [])
            link.send(list: attached.transfers.lazy.map { .transfer($0) })
            send(.event(.attached(state)))
        case .ended where tellsEarlierEnds: return link.send(list: [.event(event)])
        case .detached:
            send(.event(event))
            close()
        case .progress, .didResume, .response, .redirected, .willBegin, .challenge, .ended, .deliveredEarlierEvents:
            send(.event(event))
        }
        tellsEarlierEnds = if case .attached = event { true } else { false }
    }

    private func showAll(_ number: UInt64) {
        guard let performer = performer(for: number) else { return }
        let answer = answering(number)
        performer.overview { [weak self, loop = server.loop] sessions in
            guard let self else { return }
            loop.execute {
                self.link.send(list: sessions.lazy.flatMap(\.parts).map { .overview(number: number, $0) })
            }
            answer(nil)
        }
    }

    /// Gives what is called when a command was performed.
    private func answering(_ number: UInt64) -> @Sendable ((any Error)?) -> Void {
        commandCount += 1
        return { [weak self, loop = server.loop] error in
            guard let self else { return }
            loop.execute {
                self.commandCount -= 1
                self.answer(number, error.map { TransferError($0) })
            }
        }
    }

    private func performer(for number: UInt64) -> (any TransferPerformer)? {
        do {
            return try server.performerOrError()
        } catch {
            answer(number, DaemonError("\(error)").transferError)
            return nil
        }
    }

    private func answer(_ number: UInt64, _ error: TransferError?) { send(.performed(number: number, error: error)) }

    private func send(_ message: TransferMessage) {
        do throws(WireError) {
            try link.send(message)
        } catch {
            server.log.write("cannot send a message: \(error)")
        }
    }
}

extension SessionOverview {
    /// The session once for each of its transfers.
    fileprivate var parts: [SessionOverview] {
        transfers.map { transfer in
            var part = self
            part.transfers = [transfer]
            return part
        }
    }
}
