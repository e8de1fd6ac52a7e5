import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// A control connection: moves bytes between its socket and the state machine, and tells its load what the machine wants done.
/// Confined to the session's loop.
final class FTPConnection: ByteStreamHandler, @unchecked Sendable {  // confined to the session's loop
    private enum State {
        case new
        case tunnelling(ProxyTunnel)
        case connecting(ConnectAttempt)
        case open(ByteStream)
        case closed
    }

    let key: FTPConnectionKey
    let session: FTPSession
    /// Who the connection is for; nil while it is idle.
    weak var load: FTPLoad?
    private(set) var machine: FTPClientStateMachine
    private(set) var metrics: ConnectionMetrics?
    private(set) var idleSince = MonotonicTime(nanoseconds: 0)
    /// What is decided about its TLS holds for its data connections.
    let family = TLSFamily()
    private var state = State.new
    private var parser = FTPReplyParser()
    private var output: [UInt8] = []
    private var membership: IdleConnections.Membership?
    /// A challenge that the program has not answered.
    var question: URLAuthenticationChallenge?

    init(_ key: FTPConnectionKey, _ session: FTPSession) {
        self.key = key
        self.session = session
        machine = FTPClientStateMachine(security: key.server.security, allowsPlainPassive: true)
    }

    var loop: EventLoop { session.loop }

    var isIdle: Bool { load == nil && machine.isReady }

    /// Whether the server has neither closed the connection nor said anything while nothing was asked.
    var isUsable: Bool {
        if case .open(let stream) = state { machine.isReady && !stream.isDead } else { false }
    }

    /// What the connection is with; nil where there is none yet.
    var info: ConnectionInfo? {
        if case .open(let stream) = state { stream.info } else { nil }
    }

    // MARK: Connecting

    func connect() {
        do {
            guard let proxy = key.proxy else {
                let tls = try key.server.security == .implicit ? secureDemand() : nil
                let attempt = session.connector.connect(
                    to: endpoint, tls: tls, over: key.use, timeout: load?.wayLimit ?? session.settings.connectTimeout
                ) { [weak self] in self?.connectDidEnd($0.mapError { $0 as any Error }) }
                state = .connecting(attempt)
                return
            }
            let tunnel = ProxyTunnel { [weak self] in self?.load?.tunnelRequester }
            state = .tunnelling(tunnel)
            try tunnel.start(
                to: key.server.host, port: key.server.port, through: proxy, NSURLProtectionSpaceFTPProxy,
                over: key.use, session.connector, session.settings, asking: self, limit: load?.wayLimit
            ) { [weak self] in self?.tunnelDidEnd($0) }
        } catch {
            loop.executeLater { [weak self] in self?.fail(error) }
        }
    }

    var endpoint: Endpoint { .tcp(host: key.server.host, port: key.server.port) }

    private func tunnelDidEnd(_ result: Result<ByteStream, any Error>) {
        guard case .tunnelling = state else { return }
        switch result {
        case .success(let stream) where key.server.security == .implicit: secure(stream)
        case .success(let stream): adopt(stream)
        case .failure(let error): fail(error)
        }
    }

    private func connectDidEnd(_ result: Result<ByteStream, any Error>) {
        guard case .connecting = state else { return }
        switch result {
        case .success(let stream): adopt(stream)
        case .failure(let error): fail(error)
        }
    }

    private func secure(_ stream: ByteStream) {
        do {
            let attempt = session.connector.secure(
                stream, endpoint: endpoint, tls: try secureDemand(), timeout: session.settings.connectTimeout
            ) { [weak self] in self?.connectDidEnd($0.mapError { $0 as any Error }) }
            state = .connecting(attempt)
        } catch {
            stream.close()
            fail(error)
        }
    }

    private func adopt(_ stream: ByteStream) {
        state = .open(stream)
        metrics = ConnectionMetrics(stream.info, protocolName: "ftp", isProxied: key.proxy != nil)
        stream.handler = self
        membership = IdleConnections.Membership(on: loop) { [weak self] in
            guard let self, isIdle, membership?.isChosen == true else { return }
            close()
        }
        load?.connectionDidOpen()
        // After AUTH the machine goes on; else it waits for the server's greeting.
        perform(machine.tlsDidStart())
    }

    // MARK: Sending

    /// Does what the machine wants, or has the load do it.
    func perform(_ action: FTPClientStateMachine.Action) {
        switch action {
        case .wait: break
        case .send(let command):
            output += command.bytes
            write()
            load?.connectionDidSend(command)
        case .startTLS: startTLS()
        case .close(let refusal):
            // What the load does next needs no connection.
            let load = load
            close()
            load?.connectionDidRefuse(refusal)
        case .logIn, .givePassword, .ready, .report, .openData, .begin, .finish, .fail:
            guard let load else { return close() }
            load.perform(action, on: self)
        }
    }

    func logIn(_ user: String, _ password: String?) {
        do {
            perform(try machine.logIn(user: Array(user.utf8), password: password.map { Array($0.utf8) }))
        } catch {
            fail(error)
        }
    }

    func begin(_ transfer: FTPTransfer) { perform(machine.begin(transfer)) }
    func proceed(from offset: Int64) { perform(machine.proceed(from: offset)) }
    func dataDidOpen() { perform(machine.dataDidOpen()) }
    func dataDidFail() { perform(machine.dataDidFail()) }
    func dataDidEnd() { perform(machine.dataDidEnd()) }

    private func startTLS() {
        guard case .open(let stream) = state else { return }
        // What came before TLS was not protected by it.
        guard parser.isBetweenReplies else {
            return fail(
                LoadFailure(.secureConnectionFailed, "the server sent more than its answer to AUTH TLS before TLS"))
        }
        secure(stream)
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

    func streamDidBecomeWritable(_ stream: ByteStream) { write() }

    // MARK: Receiving

    func streamDidBecomeReadable(_ stream: ByteStream) {
        while case .open(let current) = state, current === stream {
            switch stream.read(into: loop.scratch) {
            case .bytes(let count):
                load?.noteActivity(received: count)
                guard take(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count])) else { return }
            case .wouldBlock: return
            case .end: return fail(LoadFailure.controlConnectionLost)
            case .failed(let error): return fail(error)
            }
        }
    }

    /// False when the connection is not to be read further.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(FTPError) {
            let replies = try parser.receive(bytes)
            for (index, reply) in replies.enumerated() {
                guard case .open = state else { return false }
                let action = try machine.receive(reply)
                if case .startTLS = action, index < replies.count - 1 {
                    fail(
                        LoadFailure(
                            .secureConnectionFailed, "the server sent more than its answer to AUTH TLS before TLS"))
                    return false
                }
                perform(action)
            }
            if let failure = parser.failure { throw failure }
            return true
        } catch {
            fail(error)
            return false
        }
    }

    // MARK: Idle

    func didBecomeIdle() {
        idleSince = loop.now
        membership?.connectionDidBecomeIdle()
    }

    func didBecomeActive() { membership?.connectionDidBecomeActive() }

    // MARK: The end

    private func fail(_ error: any Error) {
        let load = load
        close()
        load?.connectionDidFail(error)
    }

    /// Ends the connection. Its load is not told.
    func close() {
        let last = state
        if case .closed = last { return }
        let wasReady = machine.isReady
        state = .closed
        machine.connectionDidClose()
        if let question { load?.receiver?.withdraw(question) }
        (question, load, membership) = (nil, nil, nil)
        switch last {
        case .new, .closed: break
        case .tunnelling(let tunnel): tunnel.cancel()
        case .connecting(let attempt): attempt.cancel()
        case .open(let stream):
            // A courtesy to the server (RFC 959 §4.1.1), whose answer is not waited for.
            if wasReady { _ = Array("QUIT\r\n".utf8).withUnsafeBytes { stream.write($0) } }
            stream.close()
        }
        session.connectionDidClose(self)
    }
}
