import Foundation
import LoadingKitContentCoding
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// One request and its response: prepares the request, has it carried by a connection, applies authentication, redirects
/// and content decoding to what comes back, and tells its receiver.
final class HTTPExchange: LoopHandler, @unchecked Sendable {  // confined to `loop`
    /// How often a request is sent anew because the connection that it was given turned out to be dead.
    private static let maximumReplays = 3

    /// How often a request is sent anew that the server has said it did not look at. A busy HTTP/2 server that ends
    /// its connections after some requests says so of all that came after those.
    private static let maximumUnsentReplays = 100
    /// A request that may do harm when it is done twice is sent anew once.
    private static let maximumUnsafeReplays = 1
    private static let idempotentMethods: [String] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    enum State {
        case new
        /// In the pool's queue.
        case queued
        case active(any HTTPStream)
        /// The delegate is asked whether to follow a redirect; the response waits.
        indirect case redirecting(any HTTPStream, ResponseHead)
        /// The server asks for credentials; the response waits for what becomes of it.
        indirect case challenged(ChallengingResponse)
        /// The request goes out once more, when the stream's connection has read the rest of the response.
        case restarting(any HTTPStream)
        case over
    }

    let request: URLRequest
    let method: String
    let resources: LoadResources
    let pool: ConnectionPool
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    @exclusivity(unchecked) private(set) var receiver: (any LoadReceiver)?
    @exclusivity(unchecked) var state = State.new
    private var replays = 0
    private var unsentReplays = 0

    @exclusivity(unchecked) private(set) var target: RequestTarget?
    @exclusivity(unchecked) private(set) var route: Route?
    var fields = HTTPFields()
    /// Whether the cookies among them are the storage's, and not the program's own.
    var sendsStoredCookies = false
    /// Whether the server's certificate was accepted though it failed: what comes is not for those who would not accept it.
    @exclusivity(unchecked) private(set) var isServerUntrusted = false
    /// The request's body, whether or not it is sent now.
    @exclusivity(unchecked) var content: RequestBody
    var logins = ExchangeLogins()
    @exclusivity(unchecked) private(set) var expectsContinue = false
    @exclusivity(unchecked) private(set) var isInQueue = false
    /// The exchange's number among the session's, in the order in which they were made.
    let number: UInt64
    /// Where the exchange stands in its origin's queue; negative when it is not there.
    @exclusivity(unchecked) var queueIndex = -1
    /// Whether it was sent ahead, or has given up its connection to those behind it: it goes before those that wait.
    @exclusivity(unchecked) var hasHadTurn = false
    /// The server has said that it does not know `Expect`.
    private var isExpectationRefused = false
    @exclusivity(unchecked) private(set) var response: HTTPURLResponse?
    private var decoding: BodyDecoding?
    /// Looks at the response's body as it came, to see that the server has proved itself.
    var bodyCheck: DigestBodyCheck?
    /// The response has ended, but its receiver has not taken all of it yet.
    @exclusivity(unchecked) private var hasEnded = false
    @exclusivity(unchecked) var timings = TransactionTimings()
    /// Whether the receiver has the transaction's record.
    @exclusivity(unchecked) private var isCollected = false

    /// What the cache adds to the request: conditions, another range, and what it says to other caches.
    private let cacheFields: HTTPFields
    /// The protocol that the connection is to switch to. It holds this object until the exchange is over.
    let upgrade: (any HTTPUpgrade)?
    /// The program may want the connection for itself.
    private let asksForConnection: Bool

    init(
        _ request: URLRequest, _ resources: LoadResources, cacheFields: HTTPFields = HTTPFields(),
        upgrade: (any HTTPUpgrade)? = nil
    ) {
        self.request = request
        self.cacheFields = cacheFields
        self.upgrade = upgrade
        asksForConnection = upgrade == nil && request.asksForConnection
        self.resources = resources
        method = request.httpMethod ?? "GET"
        content = RequestBody(request)
        pool = ConnectionPool.of(resources.core)
        number = pool.nextExchangeNumber()
    }

    var loop: EventLoop { pool.loop }
    var requestTarget: String {
        // Where the proxy that is asked is to connect to (RFC 9112 §3.2.3).
        if method == "CONNECT" { return request.fields[.host] ?? target?.origin.hostAndPort ?? "" }
        let path = target?.pathAndQuery ?? "/"
        guard let prefix = route?.targetPrefix, !prefix.isEmpty else { return path }
        return prefix + path
    }
    var priority: Float { resources.task.priority }
    /// What is sent as body now: nothing as long as the server will ask for another step of authentication.
    var body: RequestBody { logins.isLastStep ? content : .none }

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        timings.fetchStart = loop.now
        do {
            guard let url = request.url else { throw LoadFailure(.unsupportedURL, "the request has no URL") }
            let target = try pool.target(of: url)
            try allow(target.origin)
            self.target = target
            let delegate = pool.mayAskDelegates(about: target.origin) ? receiver.challengeDelegate : nil
            route = pool.route(to: target.origin, for: request, switching: switching, decidedBy: delegate)
            makeFields(for: target)
            recallLogins(target)
            if case .stream(let reader, _) = body { try reader.claim() }
            addCookies(then: .submit)
        } catch {
            fail(error)
        }
    }

    func submitIfNew() { if case .new = state { submit(needsFreshConnection: false) } }

    func end() {
        let last = state
        if case .redirecting = last { timings.responseEnd = loop.now }
        if !isCollected, timings.fetchStart != nil { collect() }
        state = .over
        receiver = nil
        decoding = nil
        if case .stream(let reader, _) = content { reader.abandon() }
        logins.end()
        switch last {
        case .queued: pool.withdraw(self)
        case .active(let stream), .redirecting(let stream, _), .restarting(let stream): stream.abandon(self)
        case .challenged(let waiting): waiting.stream?.abandon(self)
        case .new, .over: break
        }
    }

    func receiverIsBusy() {
        if case .active(let stream) = state { stream.exchangeIsBusy(self) }
    }

    func receiverIsReady() {
        if decoding?.hasPending == true, decodePending() == .wait { return }
        if hasEnded { return finish() }
        if case .active(let stream) = state { stream.exchangeIsReady(self) }
    }

    var switching: Route.Switching {
        if upgrade != nil { return .inAnyVersion }
        return asksForConnection ? .inHTTP1 : .never
    }

    /// The fields that the request has in HTTP/1.1 alone.
    func addHTTP1Fields(to fields: inout HTTPFields) {
        if upgrade != nil || asksForConnection { fields.remove(.connection) }
        if let upgrade { return upgrade.addUpgradeFields(to: &fields) }
        guard asksForConnection, let protocols = request.upgradeProtocols else { return }
        fields.append(.upgrade, protocols)
        fields.append(.connection, request.upgradeConnection)
    }

    private func allow(_ origin: Origin) throws(LoadFailure) {
        guard origin.isSecure || pool.allowsCleartext(to: origin.host) else {
            throw LoadFailure(
                .appTransportSecurityRequiresSecureConnection,
                "cleartext http to \(origin.host) is not allowed by App Transport Security: use https, or allow it with "
                    + "configuration.appTransportSecurity (exceptionDomains or allowsArbitraryLoads)")
        }
    }

    /// What is for the proxy alone goes to it alone; to one that opens tunnels it is said when it opens one.
    private func makeFields(for target: RequestTarget) {
        fields = pool.fields(of: request, to: target.origin, for: resources.task)
        for field in cacheFields {
            fields.remove(name: field.name)
            fields.append(name: field.name, value: field.value)
        }
        upgrade?.addFields(to: &fields)
        if route?.isForwarded != true, fields.contains(.proxyAuthorization) { fields.remove(.proxyAuthorization) }
    }

    /// Whether the body waits until the server wants it. A caller's own `Expect: 100-continue` is kept; over HTTP/1.1 a
    /// long body gets one. Over HTTP/2 a server that does not want a body resets its stream.
    func decideContinue(asksForLongBodies: Bool) -> Bool {
        expectsContinue = false
        if isExpectationRefused { return false }
        if let asked = fields[.expect] {
            expectsContinue = asked.lowercased() == "100-continue" && body.expectedCount != 0
        } else if asksForLongBodies, body.waitsForContinue {
            fields.append(.expect, "100-continue")
            expectsContinue = true
        }
        return expectsContinue
    }

    func submit(needsFreshConnection: Bool) {
        logins.changesConnection()
        state = .queued
        pool.submit(self, needsFreshConnection: needsFreshConnection)
    }

    // MARK: From the pool

    /// Goes another way than it was submitted for.
    func reroute(_ route: Route) { self.route = route }

    /// No connection is free, and none may be opened: the exchange waits its turn.
    func isQueued(_ isQueued: Bool) {
        isInQueue = isQueued
        receiver?.setQueued(isQueued)
    }

    /// - Parameter connection: how far it has come.
    func failedToConnect(_ error: any Error, _ connection: ConnectTimings?) {
        if let connection {
            timings.connection = ConnectionMetrics(failed: connection)
            timings.isReusedConnection = false
        }
        fail(error)
    }

    func assigned(to stream: any HTTPStream) { state = .active(stream) }

    // MARK: From the stream

    /// What is known of the connection that the request is about to be sent on. Says last what is sent.
    func use(_ connection: ConnectionInfo, _ metrics: ConnectionMetrics, isReused: Bool) {
        timings.beginRequest(on: metrics, isReused: isReused, at: loop.now)
        isServerUntrusted = connection.tls?.certificateFailure != nil
        logins.authorize(&fields, on: connection)
    }

    func didSendHead(_ count: Int) {
        timings.requestHeaderBytesSent += Int64(count)
        receiver?.noteActivity()
    }

    /// - Parameter framing: bytes that frame them, such as a chunk's size.
    func didSendBody(_ count: Int, framing: Int) {
        timings.requestBodyBytesSent += Int64(count &+ framing)
        guard count > 0 else { return }
        timings.requestBodyBytesBeforeEncoding += Int64(count)
        receiver?.sentBody(count, expected: body.expectedCount)
    }

    func didReceiveHead(_ count: Int) { timings.responseHeaderBytesReceived += Int64(count) }

    /// Bytes that frame the body, and are none of it.
    func didReceiveFraming(_ count: Int) { timings.responseBodyBytesReceived += Int64(count) }

    func receive(interim head: ResponseHead) { receiver?.receive(informational: HTTPURLResponse(head, to: request)) }

    func receive(_ head: ResponseHead, hasBody: Bool) -> Flow {
        guard case .active(let stream) = state else { return .wait }
        timings.responseStart = loop.now
        storeCookies(of: head)
        if resources.task.hasProgramsHandler, isPersonal(head) { resources.task.isPersonal = true }
        if let target, !isServerUntrusted { StrictTransport.note(head, from: target.origin, in: pool) }
        if head.status == 417 && expectsContinue && body.isReplayable { return sendWithoutExpectation(stream, head) }
        do {
            if head.status == 101, switching == .never { throw LoadFailure.switchedUnasked }
            if try isUndecided(head, stream, hasBody: hasBody) { return .wait }
            if let upgrade, stream.grantsUpgrade(head) {
                try upgrade.granted(head)
                return deliver(head, hasBody: hasBody)
            }
            guard let redirect = try Redirect(head, of: request, mayUpgrade: upgrade != nil) else {
                return deliver(head, hasBody: hasBody)
            }
            state = .redirecting(stream, head)
            follow(redirect, response: HTTPURLResponse(head, to: request), hasBody: hasBody)
        } catch {
            fail(error)
        }
        return .wait
    }

    /// Whether the response may be one person's: the request, or the connection, says whose it is, or it sets a cookie.
    private func isPersonal(_ head: ResponseHead) -> Bool {
        fields.contains(.authorization) || fields.contains(.cookie) || head.fields.contains(.setCookie)
            || !pool.logins.isEmpty
    }

    /// Makes the request anew: it is sent once more, in a transaction of its own.
    func beginAgain(_ target: RequestTarget, after response: HTTPURLResponse?) {
        endTransaction(response)
        makeFields(for: target)
        if isExpectationRefused { fields.remove(.expect) }
    }

    /// What is sent from now on is a transaction of its own.
    private func endTransaction(_ response: HTTPURLResponse? = nil) {
        if response != nil { timings.responseEnd = loop.now }
        collect(response)
        timings = TransactionTimings()
        timings.fetchStart = loop.now
        isCollected = false
    }

    /// 417: the server does not know `Expect`; it is asked again without (RFC 9110 §15.5.18).
    private func sendWithoutExpectation(_ stream: any HTTPStream, _ head: ResponseHead) -> Flow {
        endTransaction(HTTPURLResponse(head, to: request))
        isExpectationRefused = true
        fields.remove(.expect)
        stream.abandon(self)
        submit(needsFreshConnection: true)
        return .wait
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        timings.responseBodyBytesReceived += Int64(bytes.count)
        guard let receiver else { return .wait }
        bodyCheck?.update(bytes)
        guard decoding == nil else { return decode(bytes) }
        timings.responseBodyBytesAfterDecoding += Int64(bytes.count)
        return receiver.receive(bytes)
    }

    /// Memory to read the body into, past this exchange; nil where it must pass through the decoder or the check.
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        decoding == nil && bodyCheck == nil ? receiver?.bodyBuffer(atMost: count) : nil
    }

    func bodyBufferFilled(_ count: Int) -> Flow {
        timings.responseBodyBytesReceived += Int64(count)
        timings.responseBodyBytesAfterDecoding += Int64(count)
        return receiver?.bodyBufferFilled(count) ?? .wait
    }

    func receive(trailers: HTTPFields) {
        guard let bodyCheck, let parameters = logins.server.handshake?.information(trailers) else { return }
        bodyCheck.note(parameters)
    }

    /// The response is complete; the stream has let go of this exchange.
    func ended() {
        timings.responseEnd = loop.now
        if decoding?.hasPending == true { hasEnded = true } else { finish() }
    }

    /// The stream has failed, and has let go of this exchange.
    func failed(_ failure: StreamFailure) {
        guard receiver != nil else { return }
        if case .challenged(var waiting) = state {
            // It may still be sent again, when the program has found a credential.
            waiting.lose(failure.error)
            state = .challenged(waiting)
            return
        }
        if !failure.isRefusal, canReplay(failure.processing) {
            if timings.requestHeaderBytesSent > 0 { endTransaction() }
            if failure.processing == .notSent { unsentReplays += 1 } else { replays += 1 }
            submit(needsFreshConnection: !failure.isBehind)
        } else {
            fail(failure.error)
        }
    }

    /// Whether it does no harm that the server gets the request twice: by its method, or as it has a key by which the server
    /// knows it again.
    private var isIdempotent: Bool {
        Self.idempotentMethods.contains(method) || fields.contains(name: "Idempotency-Key")
    }

    /// RFC 9110 §9.2.2: what the server never saw may be sent again. What it may have seen, too, where that does no harm; and
    /// else once, where the connection had served before, as a server that closes an idle connection has most likely not
    /// looked at the request (RFC 9112 §9.3.1 leaves that to the client).
    private func canReplay(_ processing: StreamFailure.Processing) -> Bool {
        guard body.isReplayable, response == nil else { return false }
        switch processing {
        case .notSent: return unsentReplays < Self.maximumUnsentReplays
        case .unknown:
            if isIdempotent { return replays < Self.maximumReplays }
            return replays < Self.maximumUnsafeReplays && timings.isReusedConnection
                && pool.settings.retriesUnansweredRequests
        case .begun: return false
        }
    }

    // MARK: The response

    func deliver(_ head: ResponseHead, hasBody: Bool) -> Flow {
        guard let receiver else { return .wait }
        if upgrade == nil, hasBody || method == "HEAD" {
            do throws(LoadFailure) {
                decoding = try BodyDecoding.make(
                    for: head, hasBody: hasBody, ratio: pool.settings.maximumDecompressionRatio,
                    buffer: pool.decodeBuffer)
            } catch {
                fail(error)
                return .wait
            }
        }
        let response = HTTPURLResponse(head, to: request, isCoded: decoding != nil)
        self.response = response
        return receiver.receive(response)
    }

    private func follow(_ redirect: Redirect, response: HTTPURLResponse, hasBody: Bool) {
        self.response = response
        receiver?.redirect(to: redirect.request, refusal: redirect.refusal, response: response) { [weak self] follows in
            guard let self, !follows, case .redirecting(let stream, let head) = state else { return }
            state = .active(stream)
            if deliver(head, hasBody: hasBody) == .more { stream.exchangeIsReady(self) }
        }
    }

    // MARK: Decoding

    private func decode(_ bytes: UnsafeRawBufferPointer) -> Flow {
        do {
            return try decoding?.decode(bytes) { deliver(decoded: $0) } ?? .wait
        } catch {
            fail(error)
            return .wait
        }
    }

    private func decodePending() -> Flow {
        do {
            return try decoding?.decodePending { deliver(decoded: $0) } ?? .wait
        } catch {
            fail(error)
            return .wait
        }
    }

    private func deliver(decoded bytes: UnsafeRawBufferPointer) -> Flow {
        timings.responseBodyBytesAfterDecoding += Int64(bytes.count)
        return receiver?.receive(bytes) ?? .wait
    }

    // MARK: The end

    private func finish() {
        guard let receiver else { return }
        do {
            try decoding?.finish()
            try bodyCheck?.finish()
            state = .over
            collect()
            receiver.finish()
        } catch {
            fail(error)
        }
    }

    /// Tells the receiver, which ends this exchange: its stream is let go of then.
    func fail(_ error: any Error) {
        guard let receiver else { return }
        collect()
        receiver.fail(error)
    }

    /// The connection is the program's: what it carries from now on is no part of the response.
    func takeConnection() throws -> TakenConnection? {
        guard asksForConnection, case .active(let stream) = state else { return nil }
        let tunnel = method == "CONNECT" ? try tunnelEnd() : nil
        guard var connection = try stream.takeConnection(from: self) else { return nil }
        connection.tunnel = tunnel
        timings.responseEnd = loop.now
        state = .over
        collect()
        return connection
    }

    /// Where a tunnel that the proxy was asked for leads.
    private func tunnelEnd() throws(LoadFailure) -> TakenConnection.Tunnel {
        guard let url = URL(string: "https://\(requestTarget)") else {
            throw LoadFailure(.badURL, "\(requestTarget) is no host and port to connect to")
        }
        let origin = try RequestTarget(url).origin
        return TakenConnection.Tunnel(host: origin.host, port: Int(origin.port))
    }

    /// The upgrade has something to send.
    func hasOutput() {
        if case .active(let stream) = state { stream.hasOutput() }
    }

    func collect(_ received: HTTPURLResponse? = nil) {
        isCollected = true
        timings.resourceFetchType = .networkLoad
        receiver?.collect(TransactionRecord(timings: timings, request: request, response: received ?? response))
    }
}

extension LoadFailure {
    /// RFC 9110 §15.2.2.
    fileprivate static var switchedUnasked: LoadFailure {
        LoadFailure(
            .badServerResponse, "the server switched to another protocol (101), which the request did not ask for")
    }
}
