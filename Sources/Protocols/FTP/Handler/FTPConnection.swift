import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitTransport

/// A control connection, with the data connection of its load's transfer: moves bytes between the socket and the state
/// machine, does what the machine wants of a connection, and tells its load the rest. Confined to the session's loop.
final class FTPConnection: ByteStreamHandler, @unchecked Sendable {  // confined to the session's loop
    private enum State {
        /// Or TLS is put on it. Nil before that has begun.
        case connecting((any PendingConnection)?)
        case open(ByteStream)
        case closed
    }

    let id: FTPConnectionPool.ConnectionID
    let key: FTPConnectionKey
    let session: FTPSession
    /// Who the connection is for; nil while it is idle.
    weak var load: FTPLoad? { didSet { if load != nil { membership?.connectionDidBecomeActive() } } }
    /// Nil until it is open.
    private(set) var metrics: ConnectionMetrics?
    var data = DataState.none
    /// What is decided about its TLS holds for its data connections.
    let family = TLSFamily()
    /// A challenge that the program has not answered.
    var question: URLAuthenticationChallenge?
    private var machine: FTPClientStateMachine
    private var state = State.connecting(nil)
    private var parser = FTPReplyParser()
    private var replies: ArraySlice<FTPReply> = []
    /// What the load has not taken, as its receiver is busy. No reply is looked at meanwhile.
    private var held: FTPClientStateMachine.Event?
    private var output: [UInt8] = []
    private var membership: IdleConnections.Membership?

    init(_ id: FTPConnectionPool.ConnectionID, _ key: FTPConnectionKey, _ session: FTPSession) {
        self.id = id
        self.key = key
        self.session = session
        machine = FTPClientStateMachine(security: key.server.security, allowsPlainPassive: true)
    }

    var loop: EventLoop { session.loop }

    /// Whether another transfer can begin on it.
    var isReady: Bool { machine.isReady }

    /// Whether the server has neither closed the connection nor said anything while nothing was asked.
    var isUsable: Bool {
        guard case .open(let stream) = state else { return false }
        return isReady && replies.isEmpty && parser.isBetweenReplies && !stream.isDead
    }

    // MARK: Connecting

    /// - Parameter limit: nanoseconds, where there is another way to the server; else the settings' own.
    func connect(limit: UInt64?) {
        let needsTLS = key.server.security == .implicit
        state = .connecting(
            makeStream(to: key.server.port, limit: limit) { [weak self] in self?.connectDidEnd($0, needsTLS: needsTLS) }
        )
    }

    /// Makes a connection to a port of the server, through the proxy where there is one.
    func makeStream(
        to port: UInt16, limit: UInt64?, _ completion: @escaping (Result<ByteStream, any Error>) -> Void
    ) -> any PendingConnection {
        if let proxy = key.proxy {
            let tunnel = ProxyTunnel { [weak self] in self?.load?.tunnelRequester }
            do {
                try tunnel.start(
                    to: key.server.host, port: port, through: proxy, NSURLProtectionSpaceFTPProxy, over: key.use,
                    session.connector, session.settings, asking: self, limit: limit, completion: completion)
            } catch {
                loop.executeLater { completion(.failure(error)) }
            }
            return tunnel
        }
        // The machine that the control connection goes to, once there is one.
        let host = if case .open(let stream) = state { stream.info.remote.address } else { key.server.host }
        return session.connector.connect(
            to: .tcp(host: host, port: port), over: key.use, timeout: limit ?? session.settings.connectTimeout
        ) { completion($0.mapError { $0 as any Error }) }
    }

    private func startTLS(_ stream: ByteStream) {
        state = .connecting(secure(stream) { [weak self] in self?.connectDidEnd($0, needsTLS: false) })
    }

    private func connectDidEnd(_ result: Result<ByteStream, any Error>, needsTLS: Bool) {
        guard case .connecting(let attempt) = state else { return }
        switch result {
        case .failure(let error):
            if let timings = (attempt as? ConnectAttempt)?.timingsSoFar { load?.connectDidFail(timings) }
            fail(error)
        case .success(let stream) where needsTLS: startTLS(stream)
        case .success(let stream):
            state = .open(stream)
            metrics = ConnectionMetrics(stream.info, protocolName: "ftp", isProxied: key.proxy != nil)
            stream.handler = self
            membership = IdleConnections.Membership(on: loop) { [weak self] in
                guard let self, load == nil, isReady, membership?.isChosen == true else { return }
                close()
            }
            load?.connectionDidOpen()
            // After AUTH the machine goes on; else it waits for the server's greeting.
            run { $0.tlsDidStart() }
        }
    }

    // MARK: Use

    /// Its load needs it no more. Another one may.
    func becomeIdle() {
        (load, held, data) = (nil, nil, .none)
        membership?.connectionDidBecomeIdle()
    }

    /// Gives the machine an input, and does what it wants.
    func run(_ input: (inout FTPClientStateMachine) throws -> FTPClientStateMachine.Action) {
        do {
            perform(try input(&machine))
        } catch {
            fail(error)
        }
    }

    private func perform(_ action: FTPClientStateMachine.Action) {
        switch action {
        case .wait: break
        case .send(let command):
            let bytes = command.bytes
            output += bytes
            write()
            load?.noteActivity(sent: bytes.count)
            if machine.isTransferBeginning { secureData() }
        case .startTLS: if case .open(let stream) = state { startTLS(stream) }
        case .openData(let port): openData(port)
        case .tell(let event): tell(event)
        case .close(let refusal): fail(failure(of: refusal))
        }
    }

    private func tell(_ event: FTPClientStateMachine.Event) {
        guard let load else { return close() }
        // What was received behind the event may have ended the load.
        if !load.perform(event), self.load === load { held = event }
    }

    /// The load's receiver is ready again.
    func resume() {
        if let event = held.take() { tell(event) }
        receive()
    }

    // MARK: Bytes

    func streamDidBecomeWritable(_ stream: ByteStream) {
        if stream === dataStream { load?.moveData() } else { write() }
    }

    func streamDidBecomeReadable(_ stream: ByteStream) {
        if stream === dataStream { load?.moveData() } else { receive() }
    }

    private func write() {
        while !output.isEmpty, case .open(let stream) = state {
            switch output.withUnsafeBytes({ stream.write($0) }) {
            case .bytes(let count): output.removeFirst(count)
            case .wouldBlock: return
            // What the server said before it closed the connection is read first.
            case .failed: return output.removeAll()
            }
        }
    }

    private func receive() {
        do {
            while held == nil, case .open(let stream) = state {
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
                switch stream.read(into: loop.scratch) {
                case .bytes(let count):
                    load?.noteActivity(received: count)
                    replies += try parser.receive(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
                case .wouldBlock: return
                case .end:
                    throw LoadFailure(
                        .networkConnectionLost,
                        "the server closed the control connection before the transfer was over")
                case .failed(let error): throw error
                }
            }
        } catch {
            fail(error)
        }
    }

    // MARK: The end

    private func fail(_ error: any Error) {
        // What the load does next needs no connection.
        let load = load
        close()
        load?.connectionDidFail(error)
    }

    /// Ends the connection. Its load is not told.
    func close() {
        let last = state
        if case .closed = last { return }
        let wasReady = isReady
        state = .closed
        machine.connectionDidClose()
        closeData()
        if let question { load?.receiver?.withdraw(question) }
        (question, load, membership) = (nil, nil, nil)
        switch last {
        case .closed: break
        case .connecting(let pending): pending?.cancel()
        case .open(let stream):
            // A courtesy to the server (RFC 959 §4.1.1), whose answer is not waited for.
            if wasReady { _ = Array("QUIT\r\n".utf8).withUnsafeBytes { stream.write($0) } }
            stream.close()
        }
        session.connectionDidClose(self)
    }
}
