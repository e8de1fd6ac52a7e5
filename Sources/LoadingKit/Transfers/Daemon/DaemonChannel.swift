import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A channel to the daemon, for a session or for the tool. If the daemon dies, the channel starts it again, attaches the
/// session, and sends the commands that were not performed yet. The session gets another ``TransferEvent/attached(_:)``.
final class DaemonChannel: TransferChannel, SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    /// The answer to a request: the sessions, where the tool has requested them.
    typealias Answer = Result<[SessionOverview], any Error>

    private enum State {
        case idle
        /// A connection is being made. Failed tries are repeated after pauses.
        case dialing
        /// The connection is made. The daemon has not sent its greeting.
        case greeting
        /// The session's description was sent to the daemon.
        case linked
        case ended(any Error)
    }

    private struct Unanswered: Sendable {
        let message: TransferMessage
        let descriptors: [OwnedDescriptor]
        let completion: @Sendable (Answer) -> Void
    }

    /// The number of consecutive connections that may end before the daemon has performed anything.
    private static let maximumLosses = 20
    /// The time limit for the daemon's greeting, in seconds.
    private static let timeToGreet = 10.0

    /// Nil for the tool, which accesses all sessions.
    private let session: SessionDescription?
    private let access: DaemonAccess
    private let receive: @Sendable (TransferEvent) -> Void
    private var state = State.idle
    private var link: SocketLink?
    /// The commands whose answer has not been received, by number. They are sent again to the next daemon.
    private var unanswered: [UInt64: Unanswered] = [:]
    private var lastNumber: UInt64 = 0
    /// The transfers of the ``TransferEvent/attached(_:)`` that follows.
    private var transfers: [TransferRecord] = []
    /// The sessions of the answer that follows.
    private var sessions: [SessionOverview] = []
    private var losses = 0
    /// The pause after a lost connection, except the first one.
    private var pauseAfterLoss = DoublingPause(from: 0.04, to: 2)
    /// The pause after a failed try to connect. The first pause is short: usually the daemon listens already.
    private var pause = DoublingPause(from: 0.005, to: 0.5)
    /// The timer of the next try, or of the daemon's greeting.
    private var timer: LoopTimer?
    /// The reason that the daemon gave before the last connection ended.
    private var farewell: String?
    private var lastProblem = "it does not answer"
    private var hasReplacedDaemon = false
    /// The time at which the channel gives up, unless the session is attached, or the tool has an answer, by then.
    /// While the daemon sends the session's transfers, the time moves on.
    private var deadline: MonotonicTime?
    private var deadlineTimer: LoopTimer?

    init(
        _ session: SessionDescription?, _ access: DaemonAccess,
        receive: @escaping @Sendable (TransferEvent) -> Void = { _ in }
    ) {
        (self.session, self.access, self.receive) = (session, access, receive)
    }

    private var loop: EventLoop { access.loop }

    // MARK: From any thread

    func attach() { loop.execute { self.open() } }

    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        ask({ .command(number: $0, command) }, descriptors) { answer in
            guard case .failure(let error) = answer else { return completion(nil) }
            completion((error as? DaemonError)?.transferError.error ?? error)
        }
    }

    /// - Parameter message: Makes the message with the given number.
    func ask(
        _ message: @escaping @Sendable (UInt64) -> TransferMessage, _ descriptors: [OwnedDescriptor] = [],
        completion: @escaping @Sendable (Answer) -> Void
    ) {
        loop.execute { [self] in
            if case .ended(let error) = state { return completion(.failure(error)) }
            lastNumber += 1
            let entry = Unanswered(message: message(lastNumber), descriptors: descriptors, completion: completion)
            unanswered[lastNumber] = entry
            if case .linked = state { transmit(lastNumber, entry) }
        }
    }

    func detach() {
        loop.execute { self.end(TransferError(.cancelled, "The session is no longer attached.").error) }
    }

    // MARK: Connecting, on the loop

    private func open() {
        guard case .idle = state else { return }
        state = .dialing
        pause.reset()
        hasReplacedDaemon = false
        if deadline == nil { extendDeadline() }
        watchDeadline()
        dial()
    }

    private func extendDeadline() { deadline = loop.now.advanced(bySeconds: access.patience) }

    private func watchDeadline() {
        deadlineTimer?.cancel()
        deadlineTimer = loop.schedule(at: deadline ?? loop.now) { [self] in
            // It may have moved on.
            if let deadline, deadline > loop.now { return watchDeadline() }
            disconnect(DaemonError("the daemon cannot be used: \(lastProblem)"))
        }
    }

    private func daemonDidAnswer() {
        deadlineTimer?.cancel()
        (deadline, deadlineTimer) = (nil, nil)
    }

    private func dial() {
        block { [access] in
            let place = try access.place()
            try place.prepare()
            return place
        } next: { [self] place in
            connect(place)
        }
    }

    /// Performs work that may block, and continues when it has succeeded, unless the channel has ended by then.
    private func block<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, next: @escaping (Value) -> Void
    ) {
        loop.offload(work) { [self] result in
            guard case .dialing = state else { return }
            switch result {
            case .success(let value): next(value)
            case .failure(let error): disconnect(DaemonError(error))
            }
        }
    }

    private func connect(_ place: DaemonPlace) {
        switch LocalSocket.connect(to: place.socket, on: loop) {
        case .success(let socket):
            guard socket.peerUser == geteuid() else {
                socket.close()
                return disconnect(DaemonError("the process that listens at \(place.socket) is another user's"))
            }
            greet(socket)
        case .failure(let failure):
            switch failure.code {
            case ENOENT, ECONNREFUSED:
                block(access.start) { [self] in
                    dialLater("it was started, and does not listen; loadkit background log may say why")
                }
            case EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM, EINTR: dialLater("\(failure)")
            default: disconnect(DaemonError("\(place.socket): \(failure)"))
            }
        }
    }

    private func dialLater(_ problem: String? = nil) {
        state = .dialing
        lastProblem = problem ?? lastProblem
        timer = loop.schedule(at: loop.now.advanced(bySeconds: pause.next())) { [self] in dial() }
    }

    private func greet(_ socket: LocalSocket) {
        // A command may be longer than the limit for a program's messages, and is kept until it is answered.
        let link = SocketLink(socket, waitingLimit: .max)
        self.link = link
        state = .greeting
        link.owner = self
        try? link.send(.hello(access.hello))
        limitGreeting("it does not greet")
        link.start()
    }

    private func limitGreeting(_ problem: String) {
        timer?.cancel()
        timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.timeToGreet)) { [self] in
            link?.close()
            link = nil
            dialLater(problem)
        }
    }

    private func daemonDidGreet(_ hello: TransferMessage.Hello, _ link: SocketLink) {
        let isOlder = WireVersion.isLibrary(access.hello.library, newerThan: hello.library)
        let problem = stateFolderProblem(with: hello)
        if isOlder || problem != nil, hello.isIdle == true, !hasReplacedDaemon {
            // The idle daemon ends, and a daemon of this version and environment is started. The end closes the link.
            hasReplacedDaemon = true
            try? link.send(.goodbye(TransferMessage.Goodbye(endsDaemon: .ifIdle)))
            return limitGreeting("a daemon of an older version or of another environment does not end")
        }
        timer?.cancel()
        if let problem { return disconnect(DaemonError(problem)) }
        guard access.hello.versions.common(with: hello.versions) != nil else {
            return disconnect(DaemonError("\(WireError.noCommonVersion(hello.versions))"))
        }
        (transfers, sessions, farewell) = ([], [], nil)
        state = .linked
        lastProblem = "it has greeted, and does not answer"
        do throws(WireError) {
            if let session { try link.send(.attach(session)) }
        } catch {
            return disconnect(DaemonError("the session cannot be described: \(error)"))
        }
        for (number, entry) in allUnanswered { transmit(number, entry) }
    }

    /// The error text if a daemon that this program starts would use another journal: such a daemon would not find the
    /// session's transfers. Nil if both use the same journal, and for the tool, which has no session.
    private func stateFolderProblem(with hello: TransferMessage.Hello) -> String? {
        guard session != nil, let own = access.hello.stateFolder, let other = hello.stateFolder, own != other else {
            return nil
        }
        // They may be names of the same folder.
        let paths = [own, other].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        guard paths[0] != paths[1] else { return nil }
        return
            "the daemon that runs has its journal in \(other), and this program's would be in \(own). XDG_STATE_HOME and "
            + "HOME have to be the same for both"
    }

    // MARK: Commands, on the loop

    private func transmit(_ number: UInt64, _ entry: Unanswered) {
        do throws(WireError) {
            try link?.send(entry.message, entry.descriptors)
        } catch {
            let text = "It cannot be sent to the daemon: \(error)"
            answer(number, .failure(TransferError(.dataLengthExceedsMaximum, text).error))
        }
    }

    private func answer(_ number: UInt64, _ answer: Answer) {
        unanswered.removeValue(forKey: number)?.completion(answer)
    }

    /// The unanswered commands, in the order in which they were given.
    private var allUnanswered: [(key: UInt64, value: Unanswered)] { unanswered.sorted { $0.key < $1.key } }

    private func disconnect(_ error: DaemonError) { if end(error) { receive(.detached(error.transferError)) } }

    /// False where the channel has ended before.
    @discardableResult
    private func end(_ error: any Error) -> Bool {
        if case .ended = state { return false }
        if case .linked = state { link?.finish() } else { link?.close() }
        link = nil
        timer?.cancel()
        deadlineTimer?.cancel()
        state = .ended(error)
        for (number, _) in allUnanswered { answer(number, .failure(error)) }
        return true
    }

    // MARK: The daemon's side

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        guard self.link === link, case .message(let message) = message else { return }
        switch message {
        case .hello(let hello): if case .greeting = state { daemonDidGreet(hello, link) }
        case .performed(let number, let error):
            if session == nil { daemonDidAnswer() }
            losses = 0
            pauseAfterLoss.reset()
            answer(number, error.map { .failure($0.error) } ?? .success(sessions))
        case .transfer(let transfer):
            if deadline != nil { extendDeadline() }
            transfers.append(transfer)
        case .overview(_, let part):
            daemonDidAnswer()
            take(part)
        case .event(.attached(var attached)):
            daemonDidAnswer()
            (attached.transfers, transfers) = (transfers, [])
            receive(.attached(attached))
        case .event(.detached(let error)): if end(error.error) { receive(.detached(error)) }
        case .event(let event): receive(event)
        case .goodbye(let goodbye):
            farewell = goodbye.error?.text
            if case .greeting = state { lastProblem = farewell ?? "it is about to end" }
        case .attach, .command, .overviewRequest, .control: break
        }
    }

    /// Adds a part of a session. The parts of one session follow each other.
    private func take(_ part: SessionOverview) {
        if let last = sessions.last, (last.identifier, last.program) == (part.identifier, part.program) {
            sessions[sessions.count - 1].transfers += part.transfers
        } else {
            sessions.append(part)
        }
    }

    func link(_ link: SocketLink, didClose end: WireError) {
        guard self.link === link else { return }
        self.link = nil
        if case .greeting = state {
            timer?.cancel()
            return dialLater(end == .closedByPeer ? nil : "\(end)")
        }
        state = .idle
        // A daemon that was asked to end has ended, which is its answer.
        for (number, entry) in unanswered { if case .goodbye = entry.message { return answer(number, .success([])) } }
        losses += 1
        guard losses <= Self.maximumLosses else {
            let reason = farewell ?? "\(end)"
            return disconnect(DaemonError("the connection to the daemon was lost repeatedly: \(reason)"))
        }
        let seconds = losses == 1 ? 0 : pauseAfterLoss.next()
        _ = loop.schedule(at: loop.now.advanced(bySeconds: seconds)) { [self] in open() }
    }
}
