import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitTransport

/// A control connection, with the data connection of its load's transfer. It moves bytes between the sockets and the
/// state machine, performs the machine's actions, and reports its events to the load. Confined to the session's loop.
final class FTPConnection: ByteStreamHandler, @unchecked Sendable {  // confined to the session's loop
    /// The number of seconds for which an idle connection is kept. Servers usually close idle connections after one
    /// minute or more.
    private static let idleTimeout = 55.0
    /// The number of reads in a row before the loop's other connections have their turn.
    static let readsInARow = 16

    let id: FTPConnectionPool.ConnectionID
    let key: FTPConnectionKey
    let session: FTPSession
    /// The connection's number in its session; 0 until it is connected.
    private(set) var number: UInt32 = 0
    private var isOpen = false
    /// The load that uses the connection; nil while the connection is idle.
    weak var load: FTPLoad? {
        didSet {
            guard load != nil else { return }
            requestCount += 1
            membership?.connectionDidBecomeActive()
            idleTimer?.cancel()
        }
    }
    private(set) var requestCount = 0
    /// Whether no further transfer begins on the connection.
    private(set) var isRetired = false
    private(set) var control = FTPLink.none
    var data = FTPLink.none
    /// The TLS parameters, whose decisions also apply to the data connections. Nil without TLS.
    private(set) var tls: TLSDemand?
    /// The challenge that the program has not answered yet.
    var question: URLAuthenticationChallenge?
    /// The connection's metrics; nil until the connection is open.
    private(set) var metrics: ConnectionMetrics?
    private var machine: FTPClientStateMachine
    private var parser = FTPReplyParser()
    private var replies: ArraySlice<FTPReply> = []
    private var output: [UInt8] = []
    private var membership: IdleConnections.Membership?
    private var idleTimer: LoopTimer?

    init(_ id: FTPConnectionPool.ConnectionID, _ key: FTPConnectionKey, _ session: FTPSession) {
        self.id = id
        self.key = key
        self.session = session
        machine = FTPClientStateMachine(security: key.server.security, allowsPlainPassive: true)
    }

    /// Whether another transfer can begin on the connection.
    var isReady: Bool { machine.isReady }

    /// Whether an idle connection can be used: the server has not closed it, and has sent nothing without a command.
    var isUsable: Bool {
        isReady && replies.isEmpty && parser.isBetweenReplies && !isRetired && control.stream?.isDead == false
    }

    /// Whether the server may have performed a command of the transfer that it would refuse the second time.
    var mayHaveActed: Bool { machine.mayHaveActed }

    // MARK: Connecting

    func connect(in time: ConnectTime) {
        session.watchNetworks()
        attempt {
            let server = key.server
            if server.security != .none {
                let challenger = TLSChallenger(
                    TLSSite(server.host, Int(server.port)), session.settings.credentialStorage, family: TLSFamily(),
                    asking: self)
                let context = try session.tlsContexts.context(TLSOptions(session.settings, host: server.host, alpn: []))
                tls = TLSDemand(context, server.host, asking: challenger)
            }
            control = .making(
                try makeStream(to: server.port, server.security == .implicit ? tls : nil, in: time) { [weak self] in
                    self?.didConnect($0)
                })
        }
    }

    private func startTLS() {
        guard let stream = control.stream, let tls else { return }
        control = .making(secure(stream, tls) { [weak self] in self?.didConnect($0) })
    }

    private func didConnect(_ result: Result<ByteStream, any Error>) {
        switch result {
        case .success(let stream):
            session.proxies.proxyDidConnect(key.proxy)
            control = .open(stream)
            number = stream.info.number
            metrics = ConnectionMetrics(stream.info, protocolName: "ftp", isProxied: key.proxy != nil)
            stream.handler = self
            membership = IdleConnections.Membership(on: session.loop) { [weak self] in
                if let self, load == nil, membership?.isChosen == true { close(.idle) }
            }
            load?.timings.connection = metrics
            load?.noteActivity()
            // After AUTH, the state machine continues. Otherwise it waits for the server's greeting.
            run { $0.tlsDidStart() }
        case .failure(let error):
            if case .making(let pending) = control { number = pending.number }
            if case .making(let attempt as ConnectAttempt) = control,
                metrics != nil || load?.timings.connection == nil
            {
                load?.timings.connection = ConnectionMetrics(failed: attempt.timingsSoFar, after: metrics)
            }
            fail(error)
        }
    }

    // MARK: Use

    /// The user is logged in.
    func didOpen() {
        isOpen = true
        session.events.note(
            .connectionOpened(.ftp), connection: number, control.stream?.info.remote.description ?? "")
    }

    /// Releases the connection from its load. Another load may use it.
    func becomeIdle() {
        (load, data) = (nil, .none)
        membership?.connectionDidBecomeIdle()
        let time = session.loop.now.advanced(bySeconds: Self.idleTimeout)
        idleTimer = session.loop.schedule(at: time) { [weak self] in self?.close(.idle) }
        // Replies after a transfer's last one have not been read yet. They close the connection.
        session.loop.executeLater { [weak self] in self?.receive() }
    }

    func networkDidChange(afterSleep: Bool) {
        if afterSleep, load == nil { return close(.idle) }
        guard key.use.isSelectedBySystem, control.stream?.hasLostRoute == true else { return }
        retire(.lost)
    }

    /// Closes the connection, now or after its load's transfer.
    func retire(_ end: ConnectionEnd) {
        isRetired = true
        if load == nil { close(end) }
    }

    // MARK: The machine

    /// Passes an input to the state machine, and performs the resulting action.
    func run(_ input: (inout FTPClientStateMachine) throws -> FTPClientStateMachine.Action) {
        attempt { perform(try input(&machine)) }
    }

    private func perform(_ action: FTPClientStateMachine.Action) {
        switch action {
        case .wait: break
        case .send(let command):
            output += command.bytes
            write()
            load?.noteActivity(sent: command.bytes.count)
            if machine.isTransferBeginning { secureData() }
        case .startTLS: startTLS()
        case .openData(let port): openData(port)
        // Bytes that were received after the event may have ended the load.
        case .tell(let event): if let load { load.perform(event) } else { close() }
        case .close(let refusal): fail(failure(of: refusal))
        }
    }

    // MARK: Bytes

    func streamDidBecomeWritable(_ stream: ByteStream) {
        if stream === data.stream { load?.moveData() } else { write() }
    }

    func streamDidBecomeReadable(_ stream: ByteStream) {
        if stream === data.stream { load?.moveData() } else { receive() }
    }

    private func write() {
        guard !output.isEmpty, let stream = control.stream else { return }
        // If the write fails, the replies that the server sent before it closed the connection are read first.
        if case .bytes(let count) = output.withUnsafeBytes({ stream.write($0) }) { output.removeFirst(count) }
    }

    /// Reads the server's replies and performs the resulting actions, until the load holds an event back, or only
    /// bytes of the data connection are missing.
    func receive() {
        var reads = 0
        attempt {
            while load?.held == nil, !machine.hasLastReply, let stream = control.stream {
                if let reply = replies.popFirst() {
                    let action = try machine.receive(reply)
                    // TLS did not protect bytes that arrived before it.
                    if case .startTLS = action, !replies.isEmpty || !parser.isBetweenReplies {
                        throw LoadFailure(
                            .secureConnectionFailed, "the server sent more than its answer to AUTH TLS before TLS")
                    }
                    perform(action)
                    continue
                }
                if let failure = parser.failure { throw failure }
                guard reads < Self.readsInARow else { return stream.notifyInNextTurn() }
                reads += 1
                let space = session.loop.scratch
                switch stream.read(into: space) {
                case .bytes(let count):
                    load?.noteActivity(received: count)
                    replies += try parser.receive(UnsafeRawBufferPointer(rebasing: space[..<count]))
                case .wouldBlock: return
                case .end:
                    throw LoadFailure(
                        .networkConnectionLost,
                        "the server closed the control connection before the transfer was over")
                case .failed(let error): throw error
                }
            }
        }
    }

    // MARK: The end

    /// Performs `work`, and fails the connection if it throws.
    func attempt(_ work: () throws -> Void) {
        do { try work() } catch { fail(error) }
    }

    func fail(_ error: any Error) {
        // Close the connection first: the load's next steps do not need it.
        let load = load
        close(.lost)
        load?.connectionDidFail(error)
    }

    /// Closes the connection without a report to its load.
    func close(_ end: ConnectionEnd = .unusable) {
        if case .closed = control { return }
        if isOpen { session.events.note(.connectionClosed(end), connection: number) }
        // QUIT is a courtesy to the server (RFC 959 §4.1.1). The client does not wait for the reply.
        if isReady, let stream = control.stream { _ = Array("QUIT\r\n".utf8).withUnsafeBytes { stream.write($0) } }
        data.close(resets: load?.endsDataWithReset ?? false)
        control.close()
        machine.connectionDidClose()
        idleTimer?.cancel()
        if let question { load?.receiver?.withdraw(question) }
        (control, question, load, membership) = (.closed(nil), nil, nil, nil)
        session.connectionDidClose(self)
    }
}
