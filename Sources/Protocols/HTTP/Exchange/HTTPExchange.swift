import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// One request's way to its final response: prepares it, has it carried by a connection, and applies authentication, redirects
/// and content decoding to what comes back. Each time that the request is sent is a ``HTTPTransaction``.
///
/// ```
///   new ──▶ findingWay ──▶ gettingCookies ──▶ authorizing ──▶ queued ──▶ active ──▶ ended ──▶ over
///                                ▲                 ▲             │          │
///                                └─ the next way ──┼─────────────┘          ├──▶ redirecting ──▶ over
///                                                  │                        │         └──▶ active
///                                                  ├─ it is sent anew ──────┤
///                                                  │                        └──▶ challenged ──▶ active
///                                                  └──── restarting ◀─────────────────┘
///                                                           └──▶ active
/// ```
///
/// A state in which there is nothing to wait for is passed at once. From `redirecting` and `challenged` it is active again where
/// the response is delivered, from `restarting` where the connection carries the request once more. `ended`: all has come, and
/// the receiver has not taken it all. Any state but `over` ends in that.
final class HTTPExchange: LoopHandler, @unchecked Sendable {  // confined to `loop`
    enum State {
        case new
        /// The proxies to the server are being looked up.
        indirect case findingWay(OriginRecord, RequestTarget)
        /// The way is known, and the storage of cookies may take its time.
        case gettingCookies
        /// A way to authenticate makes what the request is sent with, and takes its time.
        case authorizing
        /// Among the requests that wait for a connection.
        case queued
        case active(any HTTPStream)
        /// The delegate decides whether to follow a redirect; the response waits.
        indirect case redirecting(any HTTPStream, ResponseHead)
        /// The server requires credentials; the response waits for what becomes of it.
        indirect case challenged(ChallengingResponse)
        /// The request goes out once more, when the stream's connection has read the rest of the response.
        case restarting(any HTTPStream)
        /// The response is complete, but its receiver has not taken all of it yet.
        case ended
        case over
    }

    /// Where the request goes, and what the session knows of that.
    struct Destination {
        let target: RequestTarget
        let origin: OriginRecord
        var route: RouteRecord
    }

    /// What the connection is for after the response.
    private enum Purpose {
        /// For other requests.
        case requests
        /// For the program, if it wants it.
        case program
        /// For the protocol that it switches to. The upgrade holds this object until the exchange is over.
        case upgrade(any HTTPUpgrade)
    }

    let request: URLRequest
    let method: String
    let resources: LoadResources
    let session: HTTPSession
    /// The exchange's number among the session's, in the order in which they were made.
    let number: UInt64
    private let purpose: Purpose
    /// What the cache adds to the request: conditions, another range, and directives for other caches; and an upload.
    private let cacheFields: HTTPFields
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    @exclusivity(unchecked) private(set) var receiver: (any LoadReceiver)?
    @exclusivity(unchecked) var state = State.new
    @exclusivity(unchecked) private(set) var destination: Destination?
    @exclusivity(unchecked) var transaction = HTTPTransaction()
    /// The request's body, whether or not it is sent now.
    @exclusivity(unchecked) var content: RequestBody
    var authentication = ExchangeAuthentication()
    @exclusivity(unchecked) var replays = ReplayCount()
    /// The server has answered that it does not know `Expect`.
    @exclusivity(unchecked) private var isExpectationRefused = false
    /// Whether it was reported that the request waits with no connection being made for it.
    @exclusivity(unchecked) private(set) var isInQueue = false
    /// Where there is more than one way to the server.
    @exclusivity(unchecked) var ways: ProxyWays?
    /// What its pool knows it by while it waits for a connection.
    @exclusivity(unchecked) var requestID: HTTPConnectionPool.RequestID?
    /// Whether it was sent ahead, or has given up its connection to those behind it: it goes before those that wait.
    @exclusivity(unchecked) var hasHadTurn = false

    init(
        _ request: URLRequest, _ resources: LoadResources, cacheFields: HTTPFields = HTTPFields(),
        upgrade: (any HTTPUpgrade)? = nil
    ) {
        self.request = request
        self.cacheFields = cacheFields
        purpose = upgrade.map(Purpose.upgrade) ?? (request.requestsConnection ? .program : .requests)
        self.resources = resources
        method = request.httpMethod ?? "GET"
        content = RequestBody(request)
        session = HTTPSession.of(resources.core)
        number = session.makeExchangeNumber()
    }

    var loop: EventLoop { session.loop }
    var target: RequestTarget? { destination?.target }
    var route: Route? { destination?.route.route }
    var upgrade: (any HTTPUpgrade)? { if case .upgrade(let upgrade) = purpose { upgrade } else { nil } }
    var requestTarget: String {
        // Where the proxy is to connect to (RFC 9112 §3.2.3).
        if method == "CONNECT" { return request.fields[.host] ?? target?.origin.hostAndPort ?? "" }
        let path = target?.pathAndQuery ?? "/"
        guard let prefix = route?.targetPrefix, !prefix.isEmpty else { return path }
        return prefix + path
    }
    var priority: Float { resources.task.priority }
    /// What is sent as body now: nothing as long as the server will require another step of authentication.
    var body: RequestBody { authentication.isLastStep ? content : .none }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        transaction.timings.fetchStart = loop.now
        do {
            guard let url = request.url else { throw LoadFailure(.unsupportedURL, "the request has no URL") }
            let (origin, target) = try session.find(url)
            try checkTransportSecurity(of: origin)
            try findWay(to: origin, target)
        } catch {
            fail(error)
        }
    }

    /// The way is known: makes the request, and has it carried.
    func prepare(_ target: RequestTarget, _ origin: OriginRecord, through proxy: Proxy?) throws {
        guard let receiver else { return }
        let destination = Destination(
            target: target, origin: origin, route: try route(to: origin, through: proxy, receiver))
        self.destination = destination
        transaction.fields = makeFields(for: destination)
        recallCredentials(target)
        if case .stream(let reader, _) = body { try reader.claim() }
        state = .gettingCookies
        addCookies()
    }

    private func route(
        to origin: OriginRecord, through proxy: Proxy?, _ receiver: any LoadReceiver
    ) throws(LoadFailure) -> RouteRecord {
        let delegate = session.mayAskDelegates(about: origin.origin) ? receiver.challengeDelegate : nil
        let record = session.route(
            to: origin, through: proxy, for: request, switching: switching, decidedBy: delegate)
        if proxy != nil { try DNSSECRule.checkProxied(origin.origin.host, over: record.route.use) }
        return record
    }

    /// The request goes to the same server through another proxy, or through none.
    func changeWay(to proxy: Proxy?) {
        guard var destination, let receiver else { return }
        do {
            destination.route = try route(to: destination.origin, through: proxy, receiver)
        } catch {
            return fail(error)
        }
        self.destination = destination
        transaction.fields = makeFields(for: destination)
        if isExpectationRefused { transaction.fields.remove(.expect) }
        authentication.proxyWillChange()
        recallProxyCredentials(destination.target)
        addCookies()
    }

    /// The request has its cookies, and goes where it was about to.
    func cookiesDidCome() {
        switch state {
        case .gettingCookies: submit(needsFreshConnection: false)
        case .challenged: restart()
        case .new, .findingWay, .authorizing, .queued, .active, .redirecting, .restarting, .ended, .over: break
        }
    }

    func end() {
        let last = state
        if case .redirecting = last { transaction.timings.responseEnd = loop.now }
        if !transaction.isReported, transaction.timings.fetchStart != nil { reportTransaction() }
        state = .over
        receiver = nil
        if case .stream(let reader, _) = content { reader.abandon() }
        authentication.end()
        switch last {
        case .queued: session.withdraw(self)
        case .active(let stream), .redirecting(let stream, _), .restarting(let stream): stream.abandon(self)
        case .challenged(let waiting): waiting.stream?.abandon(self)
        case .findingWay: session.withdrawLookup(of: self)
        case .new, .gettingCookies, .authorizing, .ended, .over: break
        }
    }

    func receiverDidBlock() {
        if case .active(let stream) = state { stream.exchangeDidBecomeBusy(self) }
    }

    func receiverDidBecomeReady() {
        if transaction.hasDecodedPending, decodePending() == .wait { return }
        switch state {
        case .ended: finish()
        case .active(let stream): stream.exchangeDidBecomeReady(self)
        case .new, .findingWay, .gettingCookies, .authorizing, .queued, .redirecting, .challenged, .restarting, .over:
            break
        }
    }

    var switching: Route.Switching {
        switch purpose {
        case .requests: .never
        case .program: .inHTTP1
        case .upgrade: .inAnyVersion
        }
    }

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

    private func checkTransportSecurity(of record: OriginRecord) throws(LoadFailure) {
        guard record.isAllowed else {
            throw LoadFailure(
                .appTransportSecurityRequiresSecureConnection,
                "cleartext http to \(record.origin.host) is not allowed by App Transport Security: use https, or allow it with "
                    + "configuration.appTransportSecurity (exceptionDomains or allowsArbitraryLoads)")
        }
    }

    /// Makes the fields that a request has in both versions, for each request that is sent: the usual ones
    /// (``RequestFields``), the cache's, and those of an upgrade. A field whose value differs between tasks belongs
    /// here.
    ///
    /// `Proxy-Authorization` is left out unless the proxy forwards the request: a proxy that opens tunnels gets the
    /// field when it opens one.
    private func makeFields(for destination: Destination) -> HTTPFields {
        var fields = destination.origin.fields(of: request, for: resources.task, by: session.requestFields)
        for field in cacheFields {
            fields.remove(name: field.name)
            fields.append(name: field.name, value: field.value)
        }
        upgrade?.addFields(to: &fields)
        if !destination.route.route.isForwarded, fields.contains(.proxyAuthorization) {
            fields.remove(.proxyAuthorization)
        }
        return fields
    }

    /// Decides whether the body waits until the server wants it: see ``HTTPTransaction/decideContinue(_:isRefused:asksForLongBodies:)``.
    func decideContinue(asksForLongBodies: Bool) -> Bool {
        transaction.decideContinue(body, isRefused: isExpectationRefused, asksForLongBodies: asksForLongBodies)
    }

    func submit(needsFreshConnection: Bool) {
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

    /// Goes another way than it was submitted for.
    func reroute(_ record: RouteRecord) { destination?.route = record }

    /// No connection is free, and none may be opened: the exchange waits its turn.
    func setQueued(_ isQueued: Bool) {
        isInQueue = isQueued
        receiver?.queueStateDidChange(isQueued: isQueued)
    }

    /// - Parameter connection: how far it has come.
    func failedToConnect(_ error: any Error, _ connection: ConnectTimings?) {
        if takeAnotherWay(after: error) { return }
        if let connection { transaction.didFailToConnect(connection) }
        fail(ways?.failure(error) ?? LoadFailure.ofConnecting(error))
    }

    func assigned(to stream: any HTTPStream) { state = .active(stream) }

    // MARK: From the stream

    /// What is known of the connection that the request is about to be sent on. Completes what is sent.
    func use(_ connection: ConnectionInfo, _ metrics: ConnectionMetrics, isReused: Bool) {
        transaction.requestWillBegin(
            on: metrics, isReused: isReused, isServerUntrusted: connection.tls?.certificateFailure != nil, at: loop.now)
        authentication.authorize(&transaction.fields, on: connection)
    }

    func didSendHead(_ count: Int) {
        transaction.timings.requestHeaderBytesSent += Int64(count)
        receiver?.noteActivity()
    }

    /// - Parameter framing: bytes that frame them, such as a chunk's size.
    func didSendBody(_ count: Int, framing: Int) {
        transaction.didSendBody(count, framing: framing)
        if count > 0 { receiver?.didSendBody(count, expected: body.expectedCount) }
    }

    func didSendRequest() { transaction.timings.requestEnd = loop.now }

    var isRequestSent: Bool { transaction.timings.requestEnd != nil }

    // MARK: Transactions

    /// Makes the request anew: it is sent once more, in a transaction of its own.
    func beginAgain(after response: HTTPURLResponse?) {
        guard let destination else { return }
        endTransaction(after: response)
        transaction.fields = makeFields(for: destination)
        if isExpectationRefused { transaction.fields.remove(.expect) }
    }

    /// What is sent from now on, with the same fields, is a transaction of its own.
    func endTransaction(after response: HTTPURLResponse? = nil) {
        if let response {
            transaction.timings.responseEnd = loop.now
            transaction.didReceive(response)
        }
        reportTransaction()
        let sent = transaction.timings.requestBodyBytesBeforeEncoding
        if sent > 0 { receiver?.bodyWillBeSentAgain(sent) }
        transaction = HTTPTransaction(
            fields: transaction.fields, sendsStoredCookies: transaction.sendsStoredCookies, fetchStart: loop.now)
    }

    func refuseExpectation() {
        isExpectationRefused = true
        transaction.fields.remove(.expect)
    }

    /// What the stream carried after its switch is over.
    func upgradeDidEnd() {
        if transaction.timings.responseEnd == nil { transaction.timings.responseEnd = loop.now }
        reportTransaction()
    }

    func reportTransaction() {
        transaction.willReport()
        receiver?.collect(transaction.record(of: request))
    }
}
