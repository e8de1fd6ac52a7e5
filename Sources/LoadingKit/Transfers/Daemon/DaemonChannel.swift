import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A session's way to the daemon. Where the daemon dies, the channel has it started, attaches the session again, and sends
/// what was not yet performed once more: the session sees another ``TransferEvent/attached(_:)``.
final class DaemonChannel: TransferChannel, SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    private enum State {
        case idle
        case dialing(DaemonDialer)
        /// The daemon was told of the session.
        case linked(SocketLink)
        case ended(TransferError)
    }

    private struct Unanswered: Sendable {
        let command: TransferCommand
        let descriptors: [OwnedDescriptor]
        let completion: @Sendable ((any Error)?) -> Void
    }

    /// So often in a row a connection may end before the daemon has performed anything.
    private static let maximumLosses = 20
    private static let longestPause = 2.0

    private let session: SessionDescription
    private let access: DaemonAccess
    private let receive: @Sendable (TransferEvent) -> Void
    private var state = State.idle
    /// The commands that were not yet performed, as far as it is known, by number: they are sent again to the next daemon.
    private var unanswered: [UInt64: Unanswered] = [:]
    private var lastNumber: UInt64 = 0
    /// Of the ``TransferEvent/attached(_:)`` to come.
    private var transfers: [TransferRecord] = []
    private var losses = 0
    /// What the daemon has said before the last connection ended.
    private var farewell: String?
    /// When to give up, unless the session is attached by then.
    private var deadline: MonotonicTime?

    init(
        _ session: SessionDescription, _ access: DaemonAccess, receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.session = session
        self.access = access
        self.receive = receive
    }

    private var loop: EventLoop { access.loop }

    // MARK: The session's side, on any thread

    func attach() { loop.execute { self.open() } }

    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let entry = Unanswered(command: command, descriptors: descriptors, completion: completion)
        loop.execute { self.submit(entry) }
    }

    func detach() {
        loop.execute {
            self.end(TransferError(.cancelled, "The session is no longer attached."))
        }
    }

    // MARK: On the loop

    private func open() {
        guard case .idle = state else { return }
        dial()
    }

    private func submit(_ entry: Unanswered) {
        if case .ended(let error) = state { return entry.completion(error.error) }
        lastNumber += 1
        unanswered[lastNumber] = entry
        if case .linked(let link) = state { transmit(lastNumber, entry, link) }
    }

    private func transmit(_ number: UInt64, _ entry: Unanswered, _ link: SocketLink) {
        do throws(WireError) {
            try link.send(.command(number: number, entry.command), entry.descriptors)
        } catch {
            guard unanswered.removeValue(forKey: number) != nil else { return }
            let text = "It cannot be sent to the daemon: \(error)"
            entry.completion(TransferError(.dataLengthExceedsMaximum, text).error)
        }
    }

    /// In the order in which they were given.
    private var allUnanswered: [(number: UInt64, entry: Unanswered)] {
        unanswered.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func dial() {
        let end = deadline ?? loop.now.advanced(bySeconds: access.patience)
        deadline = end
        let dialer = DaemonDialer(access) { [self] result in
            switch result {
            case .success(let link): attach(link)
            case .failure(let error): disconnect(error.transferError)
            }
        }
        state = .dialing(dialer)
        dialer.dial(until: end)
    }

    private func attach(_ link: SocketLink) {
        transfers = []
        farewell = nil
        state = .linked(link)
        link.owner = self
        do throws(WireError) {
            try link.send(.attach(session))
        } catch {
            link.close()
            return disconnect(DaemonError("the session cannot be described: \(error)").transferError)
        }
        for (number, entry) in allUnanswered { transmit(number, entry, link) }
    }

    /// The session is not attached any more, and is told.
    private func disconnect(_ error: TransferError) {
        if case .ended = state { return }
        end(error)
        receive(.detached(error))
    }

    private func end(_ error: TransferError) {
        let before = state
        state = .ended(error)
        switch before {
        case .idle, .ended: break
        case .dialing(let dialer): dialer.cancel()
        case .linked(let link): link.finish()
        }
        let entries = allUnanswered
        unanswered = [:]
        for (_, entry) in entries { entry.completion(error.error) }
    }

    // MARK: The daemon's side

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        guard case .linked(let current) = state, current === link, case .message(let message) = message else { return }
        switch message {
        case .performed(let number, let error):
            losses = 0
            unanswered.removeValue(forKey: number)?.completion(error?.error)
        case .transfer(let transfer): transfers.append(transfer)
        case .event(.attached(var attached)):
            deadline = nil
            (attached.transfers, transfers) = (transfers, [])
            receive(.attached(attached))
        case .event(.detached(let error)): disconnect(error)
        case .event(let event): receive(event)
        case .goodbye(let goodbye): farewell = goodbye.error?.text
        case .hello, .attach, .command, .overviewRequest, .control, .overview: break
        }
    }

    func link(_ link: SocketLink, didClose end: LinkEnd) {
        guard case .linked(let current) = state, current === link else { return }
        losses += 1
        guard losses <= Self.maximumLosses else {
            let reason = farewell ?? "\(end)"
            return disconnect(DaemonError("the connection to the daemon ends again and again: \(reason)").transferError)
        }
        state = .idle
        // At once after a first loss.
        let pause = losses == 1 ? 0 : min(0.01 * Double(1 << min(losses, 10)), Self.longestPause)
        _ = loop.schedule(at: loop.now.advanced(bySeconds: pause)) { self.open() }
    }
}
