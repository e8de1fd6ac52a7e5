import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A program's connection, on the daemon's side. Confined to the server's event loop.
final class ServerConnection: SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    private enum State {
        case greeting
        case open
        case attached(String, any TransferChannel)
        case ended
    }

    private unowned let server: DaemonServer
    let link: SocketLink
    private var state = State.greeting
    private var timer: LoopTimer?
    /// The number of commands that are not yet performed.
    private var commandCount = 0 { didSet { link.isPaused = commandCount >= server.limits.maximumCommands } }
    /// Whether the ends that a session had when it was attached are being sent. They are sent as lists: there may be
    /// more of them than may wait for a program.
    private var tellsEarlierEnds = false

    init(_ socket: LocalSocket, _ server: DaemonServer) {
        link = SocketLink(socket, waitingLimit: server.limits.maximumWaiting)
        self.server = server
    }

    var session: String? { if case .attached(let identifier, _) = state { identifier } else { nil } }

    func start() {
        setTimer(server.limits.timeToGreet)
        link.owner = self
        link.start()
    }

    /// Closes the connection because the daemon ends. A session stays attached: the next daemon waits for its program.
    func end() { if leave() { link.close() } }

    /// False where the connection has ended before.
    private func leave() -> Bool {
        if case .ended = state { return false }
        state = .ended
        timer?.cancel()
        return true
    }

    private func close(_ error: DaemonError? = nil) {
        if let error { try? link.send(.goodbye(.init(error: error.transferError))) }
        link.finish()
        didClose()
    }

    private func didClose() {
        if case .attached(_, let channel) = state { channel.detach() }
        if leave() { server.connectionDidEnd(self) }
    }

    private func setTimer(_ seconds: Double) {
        timer?.cancel()
        timer = server.loop.schedule(at: server.loop.now.advanced(bySeconds: seconds)) { [weak self] in
            self?.close(DaemonError("the program says nothing"))
        }
    }

    // MARK: The program's messages

    func link(_ link: SocketLink, didClose end: WireError) {
        if end != .closedByPeer { server.log.write("closes a connection: \(end)") }
        didClose()
    }

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        switch (state, message) {
        case (.ended, _): break
        case (_, .message(.goodbye(let goodbye))):
            close()
            if let ending = goodbye.endsDaemon { server.programAsksForEnd(ending) }
        case (.greeting, .message(.hello)):
            let hello = TransferMessage.Hello(
                process: getpid(), isIdle: server.isIdle, stateFolder: server.stateFolder)
            try? link.send(.hello(hello))
            // A newer program may still request the daemon's end.
            state = .open
        case (.greeting, _): close(DaemonError("the first message is no greeting"))
        case (.open, .message(.attach(let session))): attach(session)
        case (.attached(_, let channel), .message(.command(let number, let command))):
            channel.send(command, descriptors: descriptors, completion: answering(number))
        case (_, .message(.overviewRequest(let number))):
            perform(number) { performer, answer in
                performer.overview(
                    onLoop { connection, sessions in
                        connection.showAll(sessions, number)
                        answer(nil)
                    })
            }
        case (_, .message(.control(let number, let session, let command))):
            perform(number) { $0.control(session: session, command, completion: $1) }
        case (_, .unknown(let number?)):
            answer(number, TransferError(.unsupportedURL, "The daemon is of an older version, and does not know that."))
        case (_, .unknown(nil)): break
        case (.open, .message), (.attached, .message): close(DaemonError("an unexpected message was received"))
        }
        if case .open = state { setTimer(server.limits.quietTime) }
    }

    private func attach(_ session: SessionDescription) {
        // An ended process of the program may still hold the session.
        server.noticeEnds(ofSession: session.identifier, but: self)
        do {
            let channel = try server.performerOrError().makeChannel(for: session, receive: onLoop { $0.deliver($1) })
            timer?.cancel()
            state = .attached(session.identifier, channel)
            channel.attach()
        } catch {
            try? link.send(.event(.detached(DaemonError(error).transferError)))
            close()
        }
    }

    private func deliver(_ event: TransferEvent) {
        guard case .attached = state else { return }
        if case .ended = event, tellsEarlierEnds { return link.send(list: [.event(event)]) }
        tellsEarlierEnds = false
        guard case .attached(var attached) = event else {
            send(.event(event))
            if case .detached = event { close() }
            return
        }
        link.send(list: attached.transfers.lazy.map { .transfer($0) })
        attached.transfers = []
        send(.event(.attached(attached)))
        tellsEarlierEnds = true
    }

    private func showAll(_ sessions: [SessionOverview], _ number: UInt64) {
        let parts = sessions.lazy.flatMap { session in
            session.transfers.lazy.map { transfer in
                var part = session
                part.transfers = [transfer]
                return TransferMessage.overview(number: number, part)
            }
        }
        link.send(list: parts)
    }

    /// - Parameter body: Receives the closure to call when the command was performed.
    private func perform(
        _ number: UInt64, _ body: (any TransferPerformer, @escaping @Sendable ((any Error)?) -> Void) -> Void
    ) {
        do { body(try server.performerOrError(), answering(number)) } catch {
            answer(number, DaemonError(error).transferError)
        }
    }

    /// Returns the closure to call when a command was performed.
    private func answering(_ number: UInt64) -> @Sendable ((any Error)?) -> Void {
        commandCount += 1
        return onLoop { connection, error in
            connection.commandCount -= 1
            connection.answer(number, error.map { TransferError($0) })
        }
    }

    /// Returns a closure that may be called on any thread, and continues on the loop.
    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (ServerConnection, Value) -> Void
    ) -> @Sendable (Value) -> Void {
        { [weak self, loop = server.loop] value in
            loop.execute { [weak self] in if let self { body(self, value) } }
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
