import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitPrimitives
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
    var control = FTPLink.none
    var data = FTPLink.none
    /// What is decided about the connection's TLS holds for its data connections. Nil without TLS.
    var tls: TLSDemand?
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

    var loop: EventLoop { session.loop }

    /// Whether another transfer can begin on it.
    var isReady: Bool { machine.isReady }

    /// Whether the server has neither closed the connection nor said anything while nothing was asked.
    var isUsable: Bool {
        guard isReady, parser.isBetweenReplies, let stream = control.stream else { return false }
        return !stream.isDead
    }

    /// The control connection is made, or TLS is on it.
    func didOpen(_ stream: ByteStream) {
        control = .open(stream)
        metrics = ConnectionMetrics(stream.info, protocolName: "ftp", isProxied: key.proxy != nil)
        stream.handler = self
        membership = IdleConnections.Membership(on: loop) { [weak self] in
            guard let self, load == nil, isReady, membership?.isChosen == true else { return }
            close()
        }
        load?.noteActivity()
        // After AUTH the machine goes on; else it waits for the server's greeting.
        run { $0.tlsDidStart() }
    }

    /// Its load needs it no more. Another one may.
    func becomeIdle() {
        (load, data) = (nil, .none)
        membership?.connectionDidBecomeIdle()
        let time = loop.now.advanced(bySeconds: Self.idleTimeout)
        idleTimer = loop.schedule(at: time) { [weak self] in self?.close() }
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
            let bytes = command.bytes
            output += bytes
            write()
            load?.noteActivity(sent: bytes.count)
            if machine.isTransferBeginning { secureData() }
        case .startTLS: if let stream = control.stream, let tls { startTLS(stream, tls) }
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
            while load?.isHolding != true, let stream = control.stream {
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
