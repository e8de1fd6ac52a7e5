import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// The way of one request to its final response. The exchange prepares the request, has a connection carry it, and
/// applies authentication, redirects and content decoding to the response. Each sending of the request is a
/// ``HTTPTransaction``.
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
/// A state in which there is nothing to wait for is left at once. The exchange returns to `active` from `redirecting`
/// and `challenged` when the response is delivered, and from `restarting` when the connection carries the request
/// again. `ended`: the response is complete, and the receiver has not taken all of it. Every state can change to
/// `over`.
final class HTTPExchange: LoopHandler, @unchecked Sendable {  // confined to `loop`
    enum State {
        case new
        /// The proxies to the server are being looked up.
        indirect case findingWay(OriginRecord, RequestTarget)
        /// The way is known. The cookie storage may need time.
        case gettingCookies
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
        /// The response is complete, but its receiver has not taken all of it yet.
        case ended
        case over
    }

    /// The request's destination, and the session's records of it.
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
        /// The connection switches to the upgrade's protocol. The upgrade retains this object until the exchange is
        /// over.
        case upgrade(any HTTPUpgrade)
    }

    let request: URLRequest
    let method: String
    let resources: LoadResources
    let session: HTTPSession
    /// The exchange's number in the session. Numbers are in the order of creation.
    let number: UInt64
    private let purpose: Purpose
    /// The fields that the cache or an upload adds to the request: conditions, another range, and directives for other
    /// caches.
    private let cacheFields: HTTPFields
    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private(set) var receiver: (any LoadReceiver)?
    @exclusivity(unchecked) var state = State.new
    @exclusivity(unchecked) private(set) var destination: Destination?
    @exclusivity(unchecked) var transaction = HTTPTransaction()
    /// The request's body, whether or not this transaction sends it.
    @exclusivity(unchecked) var content: RequestBody
    /// Whether the request has content. For most requests it has none, and then `content` need not be copied.
    private let hasContent: Bool
    @exclusivity(unchecked) var authentication = ExchangeAuthentication()  // consistent whenever it calls out
    @exclusivity(unchecked) var replays = ReplayCount()
    /// Whether the server has answered that it does not support `Expect`.
    @exclusivity(unchecked) private var isExpectationRefused = false
    /// Whether the receiver was notified that the request waits without a connection being opened for it.
    @exclusivity(unchecked) private(set) var isInQueue = false
    /// The ways to the server, if there is more than one.
    @exclusivity(unchecked) var ways: ProxyWays?
    /// The identifier of the request in its pool while it waits for a connection.
    @exclusivity(unchecked) var requestID: HTTPConnectionPool.RequestID?
    /// Whether the request was sent ahead, or has given its connection to the requests behind it. It has precedence
    /// over the waiting requests.
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
        hasContent = request.hasBody
        session = HTTPSession.of(resources.core)
        number = session.makeExchangeNumber()
    }

    var loop: EventLoop { session.loop }
    var target: RequestTarget? { destination?.target }
    var route: Route? { destination?.route.route }
    var upgrade: (any HTTPUpgrade)? { if case .upgrade(let upgrade) = purpose { upgrade } else { nil } }
    var requestTarget: String {
        // The server to which the proxy is to connect (RFC 9112 §3.2.3).
        if method == "CONNECT" { return request.fields[.host] ?? target?.origin.hostAndPort ?? "" }
        let path = target?.pathAndQuery ?? "/"
        guard let prefix = route?.targetPrefix, !prefix.isEmpty else { return path }
        return prefix + path
    }
    var priority: Float { resources.task.priority }
    /// The body to send now: none while the server will require another step of authentication.
    var body: RequestBody { hasContent && authentication.isLastStep ? content : .none }

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

    /// The way is known. Makes the request's fields and submits the request.
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

    /// The request goes to the same server through another proxy, or without a proxy.
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

    /// The cookies are added to the request. The exchange continues.
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

    /// Makes the fields that a request has in both versions, for each sending: the usual fields (``RequestFields``),
    /// the cache's, and the upgrade's. Fields whose values differ between tasks are added here.
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

    /// Decides whether the body waits for the server's consent: see
    /// ``HTTPTransaction/decideContinue(_:isRefused:asksForLongBodies:)``.
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

    /// Changes the route for which the exchange was submitted.
    func reroute(_ record: RouteRecord) { destination?.route = record }

    /// Sets whether the exchange waits because no connection is free and none may be opened.
    func setQueued(_ isQueued: Bool) {
        isInQueue = isQueued
        receiver?.queueStateDidChange(isQueued: isQueued)
    }

    /// - Parameter connection: the times of the steps that the connection attempt has completed.
    func failedToConnect(_ error: any Error, _ connection: ConnectTimings?) {
        if takeAnotherWay(after: error) { return }
        if let connection { transaction.didFailToConnect(connection) }
        fail(ways?.failure(error) ?? LoadFailure.ofConnecting(error))
    }

    func assigned(to stream: any HTTPStream) { state = .active(stream) }

    // MARK: From the stream

    /// Records the connection on which the request is about to be sent, and adds the fields that depend on it.
    func use(_ connection: ConnectionInfo, _ metrics: ConnectionMetrics, isReused: Bool) {
        transaction.requestWillBegin(
            on: metrics, isReused: isReused, isServerUntrusted: connection.tls?.certificateFailure != nil, at: loop.now)
        authentication.authorize(&transaction.fields, on: connection)
    }

    func didSendHead(_ count: Int) {
        transaction.timings.requestHeaderBytesSent += Int64(count)
        receiver?.noteActivity()
    }

    /// - Parameter framing: the number of bytes that frame the body, such as a chunk's size.
    func didSendBody(_ count: Int, framing: Int) {
        transaction.didSendBody(count, framing: framing)
        if count > 0 { receiver?.didSendBody(count, expected: body.expectedCount) }
    }

    func didSendRequest() { transaction.timings.requestEnd = loop.now }

    var isRequestSent: Bool { transaction.timings.requestEnd != nil }

    // MARK: Transactions

    /// Prepares the request for another sending, in a transaction of its own.
    func beginAgain(after response: HTTPURLResponse?) {
        guard let destination else { return }
        endTransaction(after: response)
        transaction.fields = makeFields(for: destination)
        if isExpectationRefused { transaction.fields.remove(.expect) }
    }

    /// Ends the transaction. The next sending, with the same fields, is a new transaction.
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

    /// The upgrade's use of the stream has ended.
    func upgradeDidEnd() {
        if transaction.timings.responseEnd == nil { transaction.timings.responseEnd = loop.now }
        reportTransaction()
    }

    func reportTransaction() {
        transaction.willReport()
        receiver?.collect(transaction.record(of: request))
    }
}
