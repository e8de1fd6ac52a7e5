import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// Carries one request to its final response. The exchange prepares the request, has a connection carry it, and
/// applies authentication, redirects and content decoding to the response. Each sending of the request is a
/// ``HTTPTransaction``.
///
/// ```
///   new ──▶ findingRoute ──▶ gettingCookies ──▶ authorizing ──▶ queued ──▶ active ──▶ ended ──▶ over
///                ▲                                   ▲             │          │
///                └────────── the next route ─────────┼─────────────┘          ├──▶ redirecting ──▶ over
///                                                    │                        │         └──▶ active
///                                                    ├─ it is sent anew ──────┤
///                                                    │                        └──▶ challenged ──▶ active
///                                                    └──── restarting ◀─────────────────┘
///                                                             └──▶ active
/// ```
///
/// A state in which there is nothing to wait for is left at once. The exchange returns to `active` from `redirecting`
/// and `challenged` when the response is delivered, and from `restarting` when the connection carries the request
/// again. `renewingBody` comes between `active` and the next sending if a lost connection had read the body's stream.
/// `suspended` comes before `authorizing` while the task of a request with a body is suspended. `ended`: the response is
/// complete, and the receiver has not taken all of it. Every state can change to `over`.
final class HTTPExchange: LoopHandler, QueuedLoad, @unchecked Sendable {  // confined to `loop`
    enum State {
        case new
        /// The proxies to the server are being looked up.
        indirect case findingRoute(OriginRecord, RequestTarget)
        /// The route is known. The cookie storage may need time.
        case gettingCookies
        /// The task is suspended, and its request, which has a body, has no connection. It is queued when the task is
        /// resumed.
        case suspended(needsFreshConnection: Bool)
        /// An authentication scheme makes the value for the request, and may need time.
        case authorizing
        /// The request waits for a connection in the pool's queue.
        case queued
        case active(any HTTPStream)
        /// The delegate decides whether to follow a redirect. The response waits.
        indirect case redirecting(any HTTPStream, ResponseHead)
        /// The server requires credentials. The response waits for the decision about it.
        indirect case challenged(ChallengingResponse)
        /// The request is sent again when the stream's connection has read the rest of the response.
        case restarting(any HTTPStream)
        /// The connection was lost. The request is sent again when the delegate has given another stream for its body.
        case renewingBody
        /// The response is complete, but its receiver has not taken all of it yet.
        case ended
        case over
    }

    struct Destination {
        let target: RequestTarget
        let origin: OriginRecord
        var route: RouteRecord
    }

    /// The use of the connection after the response.
    private enum Purpose {
        /// The connection carries other requests.
        case requests
        /// The program gets the connection if it requests it.
        case program
        /// The connection switches to the upgrade's protocol. The upgrade retains this object.
        case upgrade(any HTTPUpgrade)
    }

    let request: URLRequest
    let method: String
    let resources: LoadResources
    let session: HTTPSession
    let number: ExchangeNumber
    private let purpose: Purpose
    /// Conditions, ranges and directives that the cache or an upload adds to the request.
    private let cacheFields: HTTPFields
    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private(set) var receiver: (any LoadReceiver)?
    @exclusivity(unchecked) var state = State.new
    @exclusivity(unchecked) private(set) var destination: Destination?
    @exclusivity(unchecked) var transaction = HTTPTransaction()
    @exclusivity(unchecked) var content: RequestBody
    /// Most requests have none, and then `content` need not be copied.
    private let hasContent: Bool
    @exclusivity(unchecked) var authentication = ExchangeAuthentication()  // consistent whenever it calls out
    @exclusivity(unchecked) var replays = ReplayCount()
    /// Whether the request is sent over HTTP/1.1 alone, as its credentials are bound to a connection.
    @exclusivity(unchecked) var needsHTTP1 = false
    /// Whether the server has answered that it does not support `Expect`.
    @exclusivity(unchecked) private var isExpectationRefused = false
    /// Whether the receiver knows that the request waits and no connection is being opened for it.
    @exclusivity(unchecked) private(set) var isInQueue = false
    /// The routes to the server, if there is more than one.
    @exclusivity(unchecked) var routes: ProxyRoutes?
    /// The request's identifier in its pool while it waits there.
    @exclusivity(unchecked) var requestID: HTTPConnectionPool.RequestID?
    /// Whether ``taskDidResume()`` is called when the task is resumed.
    @exclusivity(unchecked) private var awaitsResumption = false
    /// Whether the request was sent ahead, or gave its connection to the requests behind it. It goes first then.
    @exclusivity(unchecked) var hasHadTurn = false

    init(
        _ request: URLRequest, _ resources: LoadResources, _ session: HTTPSession,
        cacheFields: HTTPFields = HTTPFields(), upgrade: (any HTTPUpgrade)? = nil
    ) {
        self.request = request
        self.cacheFields = cacheFields
        purpose = upgrade.map(Purpose.upgrade) ?? (request.requestsConnection ? .program : .requests)
        self.resources = resources
        self.session = session
        method = request.httpMethod ?? "GET"
        content = RequestBody(request)
        hasContent = request.hasBody
        number = session.makeExchangeNumber()
    }

    var loop: EventLoop { session.loop }
    var target: RequestTarget? { destination?.target }
    var route: Route? { destination?.route.route }
    var upgrade: (any HTTPUpgrade)? { if case .upgrade(let upgrade) = purpose { upgrade } else { nil } }
    /// Whether the stream carries the upgrade's protocol, or the request for it, whose response waits for no decision.
    var isTunnel: Bool { if case .active = state { upgrade != nil } else { false } }
    var requestTarget: String {
        // The server to which the proxy is to connect (RFC 9112 §3.2.3).
        if method == "CONNECT" { return request.fields[.host] ?? target?.origin.hostAndPort ?? "" }
        let path = target?.pathAndQuery ?? "/"
        guard let prefix = route?.targetPrefix, !prefix.isEmpty else { return path }
        return prefix + path
    }
    var priority: Float { resources.task.priority }
    var taskIdentifier: Int { resources.task.identifier }
    /// The body to send now: none while the server will require another step of authentication.
    var body: RequestBody { hasContent && authentication.isLastStep ? content : .none }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        transaction.timings.fetchStart = loop.now
        do {
            guard let url = request.url else { throw LoadFailure(.unsupportedURL, "the request has no URL") }
            let (origin, target) = try session.find(url)
            guard origin.isAllowed else { throw LoadFailure.cleartext(to: origin.origin.host) }
            if http1Version == .http1_0, content.framing(method: method) == .chunked {
                throw LoadFailure(.badURL, "a body of unknown length cannot be sent over HTTP/1.0")
            }
            try findRoute(to: origin, target)
        } catch {
            fail(error)
        }
    }

    func prepare(_ target: RequestTarget, _ origin: OriginRecord, through proxy: Proxy?) throws {
        guard let receiver else { return }
        let record = try route(to: origin, through: proxy, receiver)
        transaction.fields = makeFields(for: origin, record.route)
        destination = Destination(target: target, origin: origin, route: record)
        recallCredentials(target)
        if case .stream(let reader, _) = body { try reader.claim() }
        state = .gettingCookies
        addCookies()
    }

    private func route(
        to origin: OriginRecord, through proxy: Proxy?, _ receiver: any LoadReceiver
    ) throws(LoadFailure) -> RouteRecord {
        // A delegate may decide whether the server is trusted, and about the client's identity at the server and a proxy.
        let mayDecide = origin.origin.isSecure || session.proxies.mayUseProxies
        let delegate = mayDecide ? receiver.challengeDelegate : nil
        let record = origin.route(
            over: session.use.narrowed(by: request), switching: switching, decidedBy: delegate, through: proxy)
        if proxy != nil { try DNSSECRule.checkProxied(origin.origin.host, over: record.route.use) }
        return record
    }

    /// The request takes another route to the same server.
    func changeRoute(to proxy: Proxy?) {
        guard var destination, let receiver else { return }
        do {
            destination.route = try route(to: destination.origin, through: proxy, receiver)
        } catch {
            return fail(error)
        }
        self.destination = destination
        transaction.fields = makeFields(for: destination.origin, destination.route.route)
        if isExpectationRefused { transaction.fields.remove(.expect) }
        authentication.proxyWillChange()
        recallProxyCredentials(destination.target)
        addCookies()
    }

    func cookiesDidCome() {
        switch state {
        case .gettingCookies: submit(needsFreshConnection: false)
        case .challenged: restart()
        case .new, .findingRoute, .suspended, .authorizing, .queued, .active, .redirecting, .restarting, .renewingBody,
            .ended, .over:
            break
        }
    }

    func end() {
        let last = state
        if case .redirecting = last { transaction.timings.endResponse(at: loop.now) }
        if !transaction.isReported, transaction.timings.fetchStart != nil { reportTransaction() }
        state = .over
        receiver = nil
        if case .stream(let reader, _) = content { reader.abandon() }
        authentication.end()
        resources.task.loadDidLeaveQueue(self)
        switch last {
        case .queued: session.withdraw(self)
        case .active(let stream), .redirecting(let stream, _), .restarting(let stream): stream.abandon(number)
        case .challenged(let waiting): waiting.stream?.abandon(number)
        case .findingRoute: session.proxies.withdraw(number)
        case .new, .gettingCookies, .suspended, .authorizing, .renewingBody, .ended, .over: break
        }
    }

    func receiverDidBlock() { if case .active(let stream) = state { stream.exchangeDidBecomeBusy(number) } }

    func receiverDidBecomeReady() {
        if transaction.hasDecodedPending, decodePending() == .wait { return }
        switch state {
        case .ended: finish()
        case .active(let stream): stream.exchangeDidBecomeReady(number)
        case .new, .findingRoute, .gettingCookies, .suspended, .authorizing, .queued, .redirecting, .challenged,
            .restarting, .renewingBody, .over:
            break
        }
    }

    func priorityDidChange() { if case .queued = state { session.priorityDidChange(self) } }

    var switching: Route.Switching {
        switch purpose {
        case .requests: .never
        case .program: .inHTTP1
        case .upgrade: .inAnyVersion
        }
    }

    /// The version of a request that is not sent over HTTP/2.
    var http1Version: HTTPVersion { session.settings.sendsHTTP1_0 ? .http1_0 : .http1_1 }

    /// The fields that the request has in HTTP/1.1 alone, which go before the others (RFC 9112 §3.2).
    var http1Fields: HTTPFields {
        guard var fields = destination?.origin.http1Fields else { return HTTPFields() }
        if transaction.fields.contains(.host) { fields.remove(.host) }
        switch purpose {
        case .requests:
            break
        case .program:
            fields.remove(.connection)
            guard let protocols = request.upgradeProtocols else { break }
            fields.append(.upgrade, protocols)
            fields.append(.connection, request.upgradeConnection)
        case .upgrade(let upgrade):
            upgrade.addUpgradeFields(to: &fields)
        }
        return fields
    }

    /// Makes the fields that the request has in both versions, for each sending: the usual ones (``RequestFields``),
    /// the cache's, the upgrade's, and those that differ between tasks. `Proxy-Authorization` is left out unless the
    /// proxy forwards the request: a proxy that opens tunnels gets it with `CONNECT`.
    private func makeFields(for origin: OriginRecord, _ route: Route) -> HTTPFields {
        var fields = origin.fields(of: request, for: resources.task, by: session.requestFields)
        for field in cacheFields {
            fields.remove(name: field.name)
            fields.append(name: field.name, value: field.value)
        }
        upgrade?.addFields(to: &fields)
        if !route.isForwarded, fields.contains(.proxyAuthorization) {
            fields.remove(.proxyAuthorization)
        }
        return fields
    }

    /// Whether the body waits for the server's consent.
    func decideContinue(asksForLongBodies: Bool) -> Bool {
        transaction.decideContinue(body, isRefused: isExpectationRefused, asksForLongBodies: asksForLongBodies)
    }

    func submit(needsFreshConnection: Bool) {
        if holdRequest() {
            state = .suspended(needsFreshConnection: needsFreshConnection)
            return
        }
        authentication.connectionWillChange()
        guard authentication.needsPreparation else { return enqueue(needsFreshConnection: needsFreshConnection) }
        state = .authorizing
        authentication.prepare { [weak self] in
            guard let self, case .authorizing = state else { return }
            enqueue(needsFreshConnection: needsFreshConnection)
        }
    }

    private func enqueue(needsFreshConnection: Bool) {
        state = .queued
        session.submit(self, needsFreshConnection: needsFreshConnection)
    }

    // MARK: From the session

    func reroute(_ record: RouteRecord) { destination?.route = record }

    /// Whether the exchange waits because no connection is free and none may be opened.
    func setQueued(_ isQueued: Bool) {
        if isQueued, !isInQueue { note(.queued) }
        if isQueued { resources.task.loadIsQueued(self) }
        isInQueue = isQueued
        receiver?.queueStateDidChange(isQueued: isQueued)
    }

    /// - Parameters:
    ///   - connection: the times of the steps that the connection attempt has completed.
    ///   - number: the connection's number.
    func failedToConnect(_ error: any Error, _ connection: ConnectTimings?, _ number: UInt32?) {
        if let number { note(.connectionFailed, connection: number) }
        if takeAnotherRoute(after: error) { return }
        if let connection { transaction.didFailToConnect(connection) }
        fail(routes?.failure(error) ?? LoadFailure.ofConnecting(error))
    }

    func assigned(to stream: any HTTPStream) { state = .active(stream) }

    /// Notes an event of the task.
    @inline(__always)
    func note(_ event: SessionEvent, connection: UInt32 = 0, _ detail: @autoclosure () -> String = "") {
        session.events.note(event, task: resources.task.identifier, connection: connection, detail())
    }

    // MARK: From the stream

    /// Records the connection on which the request is about to be sent, and adds the fields that depend on it.
    func use(_ connection: ConnectionInfo, _ metrics: ConnectionMetrics, isReused: Bool) {
        // The former connection sends more of the body while the cookies or the authentication take their time.
        let lost = transaction.timings.requestBodyBytesBeforeEncoding
        if lost > 0 { receiver?.bodyWillBeSentAgain(lost) }
        transaction.requestWillBegin(
            on: metrics, isReused: isReused, isServerUntrusted: connection.tls?.certificateFailure != nil, at: loop.now)
        note(.requestBegan(isReusedConnection: isReused), connection: connection.number)
        authentication.authorize(&transaction.fields, on: connection)
    }

    /// Returns whether the request has to wait because its task is suspended. It goes on when the task is resumed. Only
    /// requests with a body wait. A receiver that is busy for another reason does not delay the body: the program may be
    /// waiting for the server to use it.
    func holdRequest() -> Bool {
        guard hasContent, resources.isSuspended else { return false }
        if awaitsResumption { return true }
        awaitsResumption = true
        resources.whenResumed { [weak self] in self?.taskDidResume() }
        return true
    }

    private func taskDidResume() {
        awaitsResumption = false
        switch state {
        case .active(let stream), .redirecting(let stream, _): stream.outputDidBecomeReady()
        case .challenged(let waiting): waiting.stream?.outputDidBecomeReady()
        case .suspended(let needsFreshConnection):
            if let failure = cleartextFailure { return fail(failure) }
            submit(needsFreshConnection: needsFreshConnection)
        case .new, .findingRoute, .gettingCookies, .authorizing, .queued, .restarting, .renewingBody, .ended, .over:
            break
        }
    }

    func didSendHead(_ count: Int) {
        transaction.timings.requestHeaderBytesSent += Int64(count)
        receiver?.noteActivity()
    }

    func didSendBody(_ count: Int, framing: Int) {
        transaction.didSendBody(count, framing: framing)
        if count > 0 { receiver?.didSendBody(count, expected: body.expectedCount) }
    }

    func didSendRequest() { transaction.timings.endRequest(at: loop.now) }

    var isRequestSent: Bool { transaction.timings.requestEnd != nil }

    // MARK: Transactions

    /// Begins a new transaction, with new fields.
    func beginAgain(after response: HTTPURLResponse?) {
        guard let destination else { return }
        endTransaction(after: response)
        transaction.fields = makeFields(for: destination.origin, destination.route.route)
        if isExpectationRefused { transaction.fields.remove(.expect) }
    }

    /// Ends the transaction. The next one begins with the same fields.
    func endTransaction(after response: HTTPURLResponse? = nil) {
        if let response {
            transaction.timings.endResponse(at: loop.now)
            transaction.didReceive(response)
        }
        reportTransaction()
        let sent = transaction.timings.requestBodyBytesBeforeEncoding
        if sent > 0 { receiver?.bodyWillBeSentAgain(sent) }
        transaction = HTTPTransaction(
            fields: transaction.fieldsToSendAgain, sendsStoredCookies: transaction.sendsStoredCookies,
            fetchStart: loop.now)
    }

    func refuseExpectation() {
        isExpectationRefused = true
        transaction.fields.remove(.expect)
    }

    func upgradeDidEnd() {
        if transaction.timings.responseEnd == nil { transaction.timings.endResponse(at: loop.now) }
        reportTransaction()
    }

    func reportTransaction() {
        // The exchange and the connection of a WebSocket may both report it.
        if !transaction.isReported { session.events.transactionDidEnd(transaction.timings.traffic) }
        transaction.willReport()
        receiver?.collect(transaction.record(of: request))
    }
}

extension LoadFailure {
    fileprivate static func cleartext(to host: String) -> LoadFailure {
        LoadFailure(
            .appTransportSecurityRequiresSecureConnection,
            "cleartext http to \(host) is not allowed by App Transport Security: use https, or allow it with "
                + "configuration.appTransportSecurity (exceptionDomains or allowsArbitraryLoads)")
    }
}
