import LoadingKitCore
import LoadingKitFTP
import LoadingKitTransport

/// A control connection, with the data connection of its load's transfer: moves bytes between the socket and the state
/// machine, does what the machine wants of a connection, and tells its load the rest. Confined to the session's loop.
final class FTPConnection: ByteStreamHandler, @unchecked Sendable {  // confined to the session's loop
    /// How long a connection that nothing uses is kept, in seconds: servers commonly close them after one minute or more.
    private static let idleTimeout = 55.0

    let id: FTPConnectionPool.ConnectionID
    let key: FTPConnectionKey
    let session: FTPSession
    /// Who the connection is for; nil while it is idle.
    weak var load: FTPLoad? {
        didSet {
            guard load != nil else { return }
            membership?.connectionDidBecomeActive()
            idleTimer?.cancel()
        }
    }
    private(set) var control = FTPLink.none
    var data = FTPLink.none
    /// What is decided about the connection's TLS holds for its data connections. Nil without TLS.
    private(set) var tls: TLSDemand?
    /// A challenge that the program has not answered.
    var question: URLAuthenticationChallenge?
    /// Nil until it is open.
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

    /// Whether another transfer can begin on it.
    var isReady: Bool { machine.isReady }

    /// Whether the server has neither closed the connection nor said anything while nothing was asked.
    var isUsable: Bool { isReady && parser.isBetweenReplies && control.stream?.isDead == false }

    // MARK: Connecting

    /// - Parameter limit: nanoseconds, where there is another way to the server; else the settings' own.
    func connect(limit: UInt64?) {
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
                try makeStream(to: server.port, server.security == .implicit ? tls : nil, limit: limit) { [weak self] in
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
            metrics = ConnectionMetrics(stream.info, protocolName: "ftp", isProxied: key.proxy != nil)
            stream.handler = self
            membership = IdleConnections.Membership(on: session.loop) { [weak self] in
                if let self, load == nil, membership?.isChosen == true { close() }
            }
            load?.noteActivity()
            // After AUTH the machine goes on; else it waits for the server's greeting.
            run { $0.tlsDidStart() }
        case .failure(let error):
            if case .making(let attempt as ConnectAttempt) = control, load?.timings.connection == nil {
                load?.timings.connection = ConnectionMetrics(failed: attempt.timingsSoFar)
            }
            fail(error)
        }
    }

    // MARK: Use

    /// Its load needs it no more. Another one may.
    func becomeIdle() {
        (load, data) = (nil, .none)
        membership?.connectionDidBecomeIdle()
        let time = session.loop.now.advanced(bySeconds: Self.idleTimeout)
        idleTimer = session.loop.schedule(at: time) { [weak self] in self?.close() }
    }

    // MARK: The machine

    /// Gives the machine an input, and does what it wants.
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
        // What was received behind the event may have ended the load.
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
        // Where that fails, what the server said before it closed the connection is read first.
        if case .bytes(let count) = output.withUnsafeBytes({ stream.write($0) }) { output.removeFirst(count) }
    }

    /// Reads what the server says, and does what it leads to, until the load holds back.
    func receive() {
        attempt {
            while load?.held == nil, let stream = control.stream {
                if let reply = replies.popFirst() {
                    let action = try machine.receive(reply)
                    // What came before TLS was not protected by it.
                    if case .startTLS = action, !replies.isEmpty || !parser.isBetweenReplies {
                        throw LoadFailure(
                            .secureConnectionFailed, "the server sent more than its answer to AUTH TLS before TLS")
                    }
                    perform(action)
                    continue
                }
                if let failure = parser.failure { throw failure }
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

    /// Does what may fail the connection.
    func attempt(_ work: () throws -> Void) {
        do { try work() } catch { fail(error) }
    }

    func fail(_ error: any Error) {
        // What the load does next needs no connection.
        let load = load
        close()
        load?.connectionDidFail(error)
    }

    /// Ends the connection. Its load is not told.
    func close() {
        if case .closed = control { return }
        // A courtesy to the server (RFC 959 §4.1.1), whose answer is not waited for.
        if isReady, let stream = control.stream { _ = Array("QUIT\r\n".utf8).withUnsafeBytes { stream.write($0) } }
        control.close()
        data.close()
        machine.connectionDidClose()
        idleTimer?.cancel()
        if let question { load?.receiver?.withdraw(question) }
        (control, question, load, membership) = (.closed(nil), nil, nil, nil)
        session.connectionDidClose(self)
    }
}
