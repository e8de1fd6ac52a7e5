import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// One request to an FTP server: finds who the user is, gets a control connection, and moves the file's bytes between the data
/// connection and the receiver. Confined to the session's loop.
///
///     new → finding ways → waiting → connecting (→ asking → waiting …) → transferring → over
final class FTPLoad: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    /// What is asked of the server, as whom, and on which way.
    struct Plan {
        let request: FTPRequest
        var login: FTPLogin
        var ways: ProxyWays
    }

    enum State {
        case new
        case findingWays(FTPRequest)
        /// For a connection.
        case waiting(Plan)
        /// The connection is made, or the user is logged in on it.
        case connecting(Plan, FTPConnection)
        /// The program is asked who the user is. There is no connection meanwhile: it may take long to answer, and the
        /// user may be another one then.
        case asking(Plan)
        case transferring(Transfer)
        case over
    }

    let urlRequest: URLRequest
    let resources: LoadResources
    let session: FTPSession
    let number: FTPConnectionPool.LoadID
    private(set) var receiver: (any LoadReceiver)?
    var state = State.new
    /// The receiver takes no bytes now.
    private(set) var isBlocked = false
    /// What is done when the receiver is ready again: until then the connection reads no reply.
    private var held: FTPClientStateMachine.Event?
    var timings: TransactionTimings
    private var response: URLResponse?

    init(_ request: URLRequest, _ resources: LoadResources) {
        urlRequest = request
        self.resources = resources
        session = FTPSession.of(resources.core)
        number = session.makeLoadNumber()
        timings = TransactionTimings(fetchStart: resources.loop.now)
    }

    var loop: EventLoop { resources.loop }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        attempt {
            let request = try FTPRequest(urlRequest)
            guard request.server.security != .none || session.settings.allowsCleartext(to: request.server.host) else {
                throw LoadFailure(
                    .appTransportSecurityRequiresSecureConnection,
                    "cleartext ftp to \(request.server.host) is not allowed by App Transport Security: use ftps, or the "
                        + "field FTP-TLS: required, or allow it with configuration.appTransportSecurity "
                        + "(exceptionDomains or allowsArbitraryLoads)")
            }
            state = .findingWays(request)
            let target = ProxyTarget(.ftp, host: request.server.host, port: request.server.port)
            try session.proxies.findWays(to: target, for: number) { [weak self] in self?.didFindWays($0) }
        }
    }

    func end() {
        stop()
        receiver = nil
    }

    func receiverDidBlock() { isBlocked = true }

    func receiverDidBecomeReady() {
        isBlocked = false
        switch state {
        case .connecting(_, let connection): resume(connection)
        case .transferring(let transfer):
            moveData()
            resume(transfer.connection)
        case .new, .findingWays, .waiting, .asking, .over: break
        }
    }

    private func resume(_ connection: FTPConnection) {
        if let event = held.take() { perform(event) }
        connection.receive()
    }

    // MARK: From the connection

    func noteActivity(sent: Int = 0, received: Int = 0) {
        timings.requestHeaderBytesSent += Int64(sent)
        timings.responseHeaderBytesReceived += Int64(received)
        receiver?.noteActivity()
    }

    var isHolding: Bool { held != nil }

    /// What the server's replies mean to the load. While the receiver is busy no response may be given, and no end.
    func perform(_ event: FTPClientStateMachine.Event) {
        if case .fail = event { receiveRest() }
        guard !isBlocked else {
            held = event
            return
        }
        switch (event, state) {
        case (.logIn(nil), .connecting(let plan, let connection)):
            let (user, password) = (plan.login.user, plan.login.password)
            connection.run { try $0.logIn(user: Array(user.utf8), password: password.map { Array($0.utf8) }) }
        case (.logIn(let refusal), .connecting(let plan, let connection)): loginDidFail(refusal, plan, connection)
        case (.givePassword, .connecting(let plan, let connection)): loginDidFail(nil, plan, connection)
        case (.ready, .connecting(let plan, let connection)):
            session.serverDidAccept(plan.login, plan.request.server, for: resources.task)
            beginTransfer(plan, connection, isReused: false)
        case (.report(let facts), .transferring(let transfer)): fileIsKnown(facts, transfer)
        case (.begin(let beginning), .transferring(let transfer)): transferDidBegin(beginning, transfer)
        case (.finish(let facts), .transferring(let transfer)): attempt { try transferDidFinish(facts, transfer) }
        case (.fail(let refusal), .transferring(let transfer)): transferDidFail(refusal, transfer)
        case (.logIn, _), (.givePassword, _), (.ready, _), (.report, _), (.begin, _), (.finish, _), (.fail, _): break
        }
    }

    // MARK: To the receiver

    func give(_ response: URLResponse) {
        self.response = response
        timings.responseStart = loop.now
        note(receiver?.receive(response))
    }

    func give(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        timings.responseBodyBytesAfterDecoding += Int64(bytes.count)
        note(receiver?.receive(bytes))
    }

    func note(_ flow: Flow?) { if flow == .wait { isBlocked = true } }

    // MARK: The end

    /// Does what may fail the load.
    func attempt(_ work: () throws -> Void) {
        do { try work() } catch { fail(error) }
    }

    func finish() { conclude { $0.finish() } }

    func fail(_ error: any Error) { conclude { $0.fail(LoadFailure.ofConnecting(error)) } }

    private func conclude(_ tell: (any LoadReceiver) -> Void) {
        if case .over = state { return }
        stop()
        guard let receiver else { return }
        timings.responseEnd = loop.now
        receiver.collect(TransactionRecord(timings: timings, request: urlRequest, response: response))
        tell(receiver)
    }

    /// Ends what is under way, of which nothing is heard any more.
    private func stop() {
        let last = state
        (state, held) = (.over, nil)
        switch last {
        case .new, .asking, .over: break
        case .findingWays: session.proxies.withdraw(number)
        case .waiting(let plan): session.withdraw(self, from: plan.request.server)
        case .connecting(_, let connection): connection.close()
        case .transferring(let transfer):
            transfer.stop()
            if transfer.connection.isReady { session.release(transfer.connection) } else { transfer.connection.close() }
        }
    }
}
