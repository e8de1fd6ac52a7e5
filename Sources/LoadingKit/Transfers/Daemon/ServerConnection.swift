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
    private var commandCount = 0
    /// The ends that a session has had when it was attached, while they come. They are sent as a list: there may be more of them
    /// than may wait for a program.
    private var earlierEnds: [TransferEvent]?

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
    func end() {
        switch state {
        case .greeting, .open: break
        case .attached(_, let channel): channel.detach()
        case .ended: return
        }
        state = .ended
        timer?.cancel()
        link.close()
    }

    /// Notices that the program has closed the connection, if it has.
    func noticeEnd() { link.readNow() }

    private func close(_ error: DaemonError? = nil) {
        if let error { try? link.send(.goodbye(.init(error: error.transferError))) }
        link.finish()
        didClose()
    }

    private func didClose() {
        switch state {
        case .greeting, .open: break
        case .attached(_, let channel): channel.detach()
        case .ended: return
        }
        state = .ended
        timer?.cancel()
        server.connectionDidEnd(self)
    }

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
            perform(number, command, descriptors, channel)
        case (.open, .message(.overviewRequest(let number))), (.attached, .message(.overviewRequest(let number))):
            showAll(number)
        case (.open, .message(.control(let number, let session, let command))),
            (.attached, .message(.control(let number, let session, let command))):
            control(number, session, command)
        case (_, .unknown(_, let number?)):
            answer(number, TransferError(.unsupportedURL, "The daemon is of an older version, and does not know that."))
        case (_, .unknown(_, nil)): break
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
        if case .ended = event, earlierEnds != nil {
            earlierEnds?.append(event)
            return
        }
        sendEarlierEnds()
        switch event {
        case .attached(let attached):
            var parts = SnapshotParts(attached.transfers)
            link.send(parts: { parts.next() })
            send(.event(.attached(SessionState(nextIdentifier: attached.nextIdentifier, transfers: []))))
            earlierEnds = []
        case .detached:
            send(.event(event))
            close()
        case .progress, .didResume, .response, .redirected, .willBegin, .challenge, .ended,
            .deliveredEarlierEvents:
            send(.event(event))
        }
    }

    private func sendEarlierEnds() {
        guard let ends = earlierEnds else { return }
        earlierEnds = nil
        var parts = EventParts(ends)
        link.send(parts: { parts.next() })
    }

    private func perform(
        _ number: UInt64, _ command: TransferCommand, _ descriptors: [OwnedDescriptor], _ channel: any TransferChannel
    ) {
        commandDidBegin()
        let loop = server.loop
        channel.send(command, descriptors: descriptors.map(\.number)) { [weak self] error in
            // The descriptors are open until here.
            withExtendedLifetime(descriptors) {}
            guard let self else { return }
            let error = error.map { TransferError($0) }
            loop.execute { self.commandDidEnd(number, error) }
        }
    }

    private func control(_ number: UInt64, _ session: String, _ command: TransferCommand) {
        guard let performer = performer(for: number) else { return }
        commandDidBegin()
        let loop = server.loop
        performer.control(session: session, command) { [weak self] error in
            guard let self else { return }
            let error = error.map { TransferError($0) }
            loop.execute { self.commandDidEnd(number, error) }
        }
    }

    private func showAll(_ number: UInt64) {
        guard let performer = performer(for: number) else { return }
        commandDidBegin()
        let loop = server.loop
        performer.overview { [weak self] sessions in
            guard let self else { return }
            loop.execute {
                var parts = OverviewParts(number: number, sessions)
                self.link.send(parts: { parts.next() })
                self.commandDidEnd()
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

    private func commandDidBegin() {
        commandCount += 1
        link.isPaused = commandCount >= server.limits.maximumCommands
    }

    private func commandDidEnd() {
        commandCount -= 1
        link.isPaused = commandCount >= server.limits.maximumCommands
    }

    private func commandDidEnd(_ number: UInt64, _ error: TransferError?) {
        commandDidEnd()
        answer(number, error)
    }

    private func answer(_ number: UInt64, _ error: TransferError?) {
        do throws(WireError) {
            try link.send(.performed(number: number, error: error))
        } catch {
            // The error has resume data that is too long, for one.
            let plain = TransferError(.unknown, "It could not be performed; why cannot be sent.")
            try? link.send(.performed(number: number, error: plain))
        }
    }

    private func send(_ message: TransferMessage) {
        do throws(WireError) {
            try link.send(message)
        } catch {
            server.log.write("cannot send an event: \(error)")
        }
    }
}
