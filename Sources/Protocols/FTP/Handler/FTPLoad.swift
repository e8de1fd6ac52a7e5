import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitProxies
import LoadingKitTransport

/// One request to an FTP server. It determines the user, obtains a control connection, and moves the file's bytes
/// between the data connection and the receiver. Confined to the session's loop.
///
///     new → finding routes → waiting → connecting (→ asking → waiting …) → transferring → over
final class FTPLoad: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    /// The request, the user's login, and the routes to the server.
    struct Plan {
        let request: FTPRequest
        var login: FTPLogin
        var routes: ProxyRoutes
    }

    enum State {
        case new
        case findingRoutes(FTPRequest)
        /// The load waits for a connection.
        case waiting(Plan)
        /// The connection is being made, or the user is being logged in.
        case connecting(Plan, FTPConnection)
        /// The program is answering a challenge, which may take long: there is no connection in the meantime.
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
    /// Whether the receiver accepts no bytes at the moment.
    private(set) var isBlocked = false
    /// The event to process when the receiver is ready again. Until then the connection reads no replies.
    private(set) var held: FTPClientStateMachine.Event?
    var timings: TransactionTimings
    private var response: URLResponse?

    init(_ request: URLRequest, _ resources: LoadResources) {
        urlRequest = request
        self.resources = resources
        session = resources.core.resource(FTPSession.init)
        session.loadCount &+= 1
        number = session.loadCount
        timings = TransactionTimings(fetchStart: resources.loop.now)
    }

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
            state = .findingRoutes(request)
            let target = ProxyTarget(.ftp, host: request.server.host, port: request.server.port)
            try session.proxies.findRoutes(to: target, for: number) { [weak self] in self?.didFindRoutes($0) }
        }
    }

    func end() {
        stop()
        receiver = nil
    }

    func receiverDidBlock() { isBlocked = true }

    func receiverDidBecomeReady() {
        isBlocked = false
        moveData()
        if let event = held.take() { perform(event) }
        switch state {
        case .connecting(_, let connection): connection.receive()
        case .transferring(let transfer): transfer.connection.receive()
        case .new, .findingRoutes, .waiting, .asking, .over: break
        }
    }

    // MARK: From the connection

    func noteActivity(sent: Int = 0, received: Int = 0) {
        timings.requestHeaderBytesSent += Int64(sent)
        timings.responseHeaderBytesReceived += Int64(received)
        receiver?.noteActivity()
    }

    /// Processes an event of the state machine. While the receiver is blocked, the load must not give it a response,
    /// nor end: it holds the event back.
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
            session.serverDidAccept(plan.login, plan.request.server)
            connection.didOpen()
            beginTransfer(plan, connection, isReused: false)
        case (.report(let facts), .transferring(let transfer)): fileIsKnown(facts, transfer)
        case (.begin(let beginning), .transferring(let transfer)): transferDidBegin(beginning, transfer)
        case (.finish(let facts), .transferring(let transfer)): attempt { try transferDidFinish(facts, transfer) }
        case (.fail(let refusal), .transferring(let transfer)):
            let failure = transfer.connection.failure(of: refusal)
            if transfer.connection.mayHearMore { transfer.connection.close() }
            fail(failure)
        case (.logIn, _), (.givePassword, _), (.ready, _), (.report, _), (.begin, _), (.finish, _), (.fail, _): break
        }
    }

    /// Notes an event of the task.
    func note(_ event: SessionEvent, connection: UInt32 = 0, _ detail: @autoclosure () -> String = "") {
        session.events.note(event, task: resources.task.identifier, connection: connection, detail())
    }

    // MARK: To the receiver

    func give(_ response: URLResponse) {
        self.response = response
        timings.beginResponse(at: session.loop.now)
        note(receiver?.receive(response))
    }

    func give(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        timings.responseBodyBytesAfterDecoding += Int64(bytes.count)
        note(receiver?.receive(bytes))
    }

    func note(_ flow: Flow?) { if flow == .wait { isBlocked = true } }

    // MARK: The end

    /// Performs `work`, and fails the load if it throws.
    @discardableResult
    func attempt<Value>(_ work: () throws -> Value) -> Value? {
        do { return try work() } catch { fail(error) }
        return nil
    }

    func finish() { conclude { $0.finish() } }

    func fail(_ error: any Error) { conclude { $0.fail(LoadFailure.ofConnecting(error)) } }

    private func conclude(_ tell: (any LoadReceiver) -> Void) {
        if case .over = state { return }
        timings.endResponse(at: session.loop.now)
        stop()
        if let receiver { tell(receiver) }
    }

    /// Reports the transaction, and stops the current work, which reports nothing afterwards.
    private func stop() {
        let last = state
        if case .over = last { return }
        session.events.transactionDidEnd(timings.traffic)
        (state, held) = (.over, nil)
        timings.resourceFetchType = .networkLoad
        receiver?.collect(TransactionRecord(timings: timings, request: urlRequest, response: response))
        resources.task.loadDidLeaveQueue(self)
        switch last {
        case .new, .asking, .over: break
        case .findingRoutes: session.proxies.withdraw(number)
        case .waiting(let plan): session.withdraw(self, from: plan.request.server)
        case .connecting(_, let connection): connection.close()
        case .transferring(let transfer):
            transfer.stop()
            if transfer.connection.isReady { session.release(transfer.connection) } else { transfer.connection.close() }
        }
    }
}

/// Obtains a control connection on which the load's user is logged in.
extension FTPLoad: QueuedLoad {
    var priority: Float { resources.task.priority }

    func priorityDidChange() {
        if case .waiting(let plan) = state { session.priorityDidChange(self, plan.request.server) }
    }

    /// Whether the load waits because no connection is free and none may be made.
    func setQueued(_ isQueued: Bool) {
        if isQueued {
            note(.queued)
            resources.task.loadIsQueued(self)
        }
        receiver?.queueStateDidChange(isQueued: isQueued)
    }

    func didFindRoutes(_ found: Result<[Proxy?], any Error>) {
        guard case .findingRoutes(let request) = state else { return }
        attempt {
            submit(Plan(request: request, login: FTPLogin(request, session), routes: ProxyRoutes(try found.get())))
        }
    }

    var tunnelRequester: TunnelRequester? { receiver.map { TunnelRequester(urlRequest, resources, $0) } }

    /// - Parameters:
    ///   - needsFresh: whether a new connection is required, rather than one that was used before.
    ///   - goesFirst: whether the load had a connection, and gets a place before the loads that wait.
    private func submit(_ plan: Plan, needsFresh: Bool = false, goesFirst: Bool = false) {
        state = .waiting(plan)
        // The task's own delegate decides about TLS, and answers the proxy's challenges.
        let isDecided = plan.request.server.security != .none || plan.routes.current != nil
        let key = FTPConnectionKey(
            server: plan.request.server, user: plan.login.user, password: plan.login.password,
            proxy: plan.routes.current, use: session.use.narrowed(by: urlRequest),
            decider: isDecided ? receiver?.challengeDelegate.map { ConnectionDecider($0) } : nil)
        session.submit(self, key, needsFresh: needsFresh, goesFirst: goesFirst)
    }

    /// Uses the connection that the pool assigned: a connection on which the user is logged in, or a new one.
    func use(_ connection: FTPConnection) {
        guard case .waiting(let plan) = state else { return connection.close() }
        connection.load = self
        if connection.isReady { return beginTransfer(plan, connection, isReused: true) }
        state = .connecting(plan, connection)
        connection.connect(in: ConnectTime(session.settings.connectTimeout(of: urlRequest), along: plan.routes))
    }

    /// Handles the end of the connection, whether the server or the client caused it.
    func connectionDidFail(_ error: any Error) {
        if case .connecting(_, let connection) = state { note(.connectionFailed, connection: connection.number) }
        switch state {
        case .connecting(var plan, let connection) where connection.metrics == nil:
            session.proxies.proxyDidFail(plan.routes.current, error)
            if plan.routes.takeNext(after: error) {
                note(.retried(.anotherRoute), "\(error)")
                return submit(plan, goesFirst: true)
            }
            fail(plan.routes.failure(error))
        // The server has closed a connection that was idle for a while (RFC 959 §4.2.2, 421).
        case .transferring(let transfer)
        where timings.isReusedConnection && timings.requestEnd == nil && !transfer.connection.mayHaveActed:
            transfer.stop()
            timings = TransactionTimings(fetchStart: timings.fetchStart)
            note(.retried(.connectionLost), "\(error)")
            submit(transfer.plan, needsFresh: true, goesFirst: true)
        case .connecting, .transferring: fail(error)
        case .new, .findingRoutes, .waiting, .asking, .over: break
        }
    }

    // MARK: Logging in

    func loginDidFail(_ refusal: FTPRefusal?, _ plan: Plan, _ connection: FTPConnection) {
        guard let receiver else { return }
        note(.connectionFailed, connection: connection.number)
        connection.close()
        var plan = plan
        session.serverDidRefuse(plan.login, plan.request.server)
        let challenge = plan.login.challenge(after: refusal, plan.request.server)
        state = .asking(plan)
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, case .asking(var plan) = state else { return }
            attempt {
                try plan.login.settle(disposition, credential, after: refusal)
                note(.retried(.authentication))
                timings.connection = nil
                submit(plan, goesFirst: true)
            }
        }
    }
}
