import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Loads one request through the cache. The answer is a stored response, or that of a network exchange, which is stored
/// and passed on.
final class CachedExchange: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    /// A network exchange under way, and its response.
    struct Attempt {
        let exchange: HTTPExchange
        /// The stored response to validate, which may also be the answer if the server fails.
        let stored: StoredResponse?
        let requestTime: Date
        let mark: CacheMark
        /// The stored beginning, if only the rest was requested and the server has sent no new response.
        var partial: PartialResponse?
        /// The beginning of the answer, until the receiver has room for it.
        var beginning: Data?
        /// Nil until the response's head is received.
        var receipt: SessionCache.Receipt?
        var recorder: ResponseRecorder?
        /// The stored response that the server has validated. It is delivered when the exchange has ended.
        var confirmed: StoredResponse?
        /// The receiver's buffer, into which the next bytes are read.
        var buffer: UnsafeMutableRawBufferPointer?
    }

    /// The part of an answer from the cache that has been delivered.
    enum Delivery {
        case nothing
        case redirecting
        case head
    }

    enum State {
        case new
        /// The disk is being read, or another exchange validates this stored response.
        case waiting(StoredResponse?)
        case serving(StoredAnswer, Delivery)
        case loading(Attempt)
        case over
    }

    let request: URLRequest
    let resources: LoadResources
    let session: SessionCache
    private(set) var receiver: (any LoadReceiver)?
    private(set) var query: CacheQuery?
    var state = State.new
    private let responseToValidate: StoredResponse?
    /// When the cache was asked for the stored response.
    private var lookUpMark: CacheMark?
    /// The fields that the enclosing load adds to the request.
    private let addedFields: HTTPFields
    /// Whether responses may be stored. If not, they only invalidate stored responses.
    let mayStore: Bool
    /// The stored response that this exchange validates, also for others that wait.
    private var ownValidation: StoredResponse?
    /// The waits for other exchanges' validations that were inconclusive.
    private var fruitlessWaits = 0
    /// The stale response whose validation was left to this task. While it is allowed, it is the answer where the
    /// validation fails (RFC 5861 §3).
    private(set) var takenResponse: StoredResponse?
    private var isBusy = false
    /// The delegate has declined the redirect, and gets the redirect response itself.
    private(set) var declinesRedirect = false
    private var fetchStart: MonotonicTime?

    /// - Parameter mark: when the cache was asked for the response to validate.
    init(
        _ request: URLRequest, _ resources: LoadResources, _ session: SessionCache,
        validating stored: StoredResponse? = nil, since mark: CacheMark? = nil,
        adding fields: HTTPFields = HTTPFields(), mayStore: Bool = true
    ) {
        addedFields = fields
        self.mayStore = mayStore
        self.request = request
        self.resources = resources
        self.session = session
        responseToValidate = stored
        lookUpMark = mark
    }

    /// After an inconclusive validation, one of the waiting exchanges validates, and the others wait again. After this
    /// number of waits each sends its own request, so that requests are not sent one after the other.
    private static let maximumFruitlessWaits = 2

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        fetchStart = resources.loop.now
        // A request without a URL cannot be looked up. The network exchange reports the error.
        guard let url = request.url else { return load(nil) }
        query = CacheQuery(request, url: url, policy: resources.core.cachePolicy(of: request))
        if let responseToValidate { return validate(responseToValidate) }
        lookUp()
    }

    func end() {
        let last = state
        state = .over
        if case .loading(let attempt) = last { attempt.exchange.end() }
        receiver = nil
        endValidation(.inconclusive)
        giveBackTaken()
    }

    var stall: String? { if case .loading(let attempt) = state { attempt.exchange.stall } else { nil } }

    var isRequestSent: Bool { if case .loading(let attempt) = state { attempt.exchange.isRequestSent } else { false } }

    /// A server that is silent has failed as one that cannot be reached (RFC 5861 §4).
    func answerAtDeadline() -> Bool {
        switch state {
        case .waiting(let stored?): serveStale(stored)
        case .loading(let attempt):
            serveConfirmed(by: attempt) || attempt.receipt == nil && serveInstead(of: attempt)
        case .new, .waiting(nil), .serving, .over: false
        }
    }

    func receiverDidBlock() {
        isBusy = true
        guard case .loading(let attempt) = state else { return }
        attempt.exchange.receiverDidBlock()
        // Exchanges that wait for this exchange's validation must not wait for its receiver.
        endValidation(.inconclusive)
    }

    func receiverDidBecomeReady() {
        isBusy = false
        switch state {
        case .loading(let attempt):
            if attempt.beginning == nil || deliverBeginning() == .more { attempt.exchange.receiverDidBecomeReady() }
        case .serving(let answer, .nothing): deliver(answer)
        case .serving(let answer, .head): deliverContent(of: answer)
        case .new, .waiting, .serving(_, .redirecting), .over: break
        }
    }

    // MARK: Deciding

    private func lookUp() {
        guard let query else { return }
        if let reason = query.lookUpExclusion { return decide(query, nil, reason) }
        state = .waiting(nil)
        lookUpMark = session.cache.mark
        session.find(query) { [weak self] stored in
            guard let self, case .waiting = state else { return }
            choose(from: stored, query)
        }
    }

    private func choose(from stored: [StoredResponse], _ query: CacheQuery) {
        guard let first = stored.first else { return decide(query, nil, .nothingStored) }
        let httpSession = session.httpSession(of: resources.core)
        // Another session may have stored it. The network exchange reports the error.
        guard httpSession.isAllowed(query.url) else { return load(nil) }
        if stored.count == 1, first.isForEverybody, !CacheUser.mayHaveCredentials(request, httpSession) {
            return decide(query, first)
        }
        session.choose(from: stored, for: request, resources, httpSession) { [weak self] chosen in
            guard let self, case .waiting = state else { return }
            decide(query, chosen)
        }
    }

    /// - Parameter missing: why there is no stored response.
    private func decide(_ query: CacheQuery, _ stored: StoredResponse?, _ missing: CacheDecision = .nothingForRequest) {
        let verdict = CacheVerdict(query, stored, now: session.now)
        resources.note(
            verdict.decision(query, missing: stored == nil ? missing : nil),
            stored?.freshnessText(now: session.now) ?? "")
        carryOut(verdict)
    }

    private func carryOut(_ verdict: CacheVerdict) {
        giveBackTaken()
        switch verdict {
        case .serve(_, let stale?)
        where receiver?.answersChallenges == true && !isConditional && session.takeLeft(stale):
            takenResponse = stale
            validate(stale)
        case .serve(let answer, let stale):
            if let stale, let receiver {
                session.validateInBackground(stale, request, resources, for: receiver, since: lookUpMark)
            }
            serve(answer)
        case .validate(let stored): validate(stored)
        case .complete(let partial): load(nil, completing: partial)
        case .load: load(nil)
        case .gatewayTimeout: serveGatewayTimeout()
        case .unavailable: receiver?.fail(LoadFailure.nothingStored)
        }
    }

    /// Whether the program's request has conditions, whose 304 is an answer to them and validates no stored response.
    private var isConditional: Bool { query.map { RequestConditions.isConditional($0.fields) } ?? false }

    /// Validates with the server, unless another exchange is validating the response.
    private func validate(_ stored: StoredResponse) {
        state = .waiting(stored)
        // Without a validator the server sends a complete response, which other exchanges cannot share. A background
        // validation still needs one request only.
        guard responseToValidate != nil || !RequestConditions.validators(of: stored).isEmpty,
            fruitlessWaits < Self.maximumFruitlessWaits
        else { return load(stored) }
        let leads = session.beginValidation(of: stored) { [weak self] event in
            guard let self, case .waiting = state else { return }
            switch event {
            case .queueStateDidChange(let isQueued): receiver?.queueStateDidChange(isQueued: isQueued)
            case .ended(.current(let stored)): serveConfirmed(stored)
            case .ended(.inconclusive):
                fruitlessWaits += 1
                lookUp()
            }
        }
        guard leads else { return }
        ownValidation = stored
        load(stored)
    }

    func load(_ stored: StoredResponse?, completing partial: PartialResponse? = nil) {
        var fields = query.map { $0.policy.directives(for: $0.fields) } ?? HTTPFields()
        for field in addedFields { fields.append(name: field.name, value: field.value) }
        for field in partial?.requestFields ?? stored.map(RequestConditions.validators) ?? HTTPFields() {
            fields.append(name: field.name, value: field.value)
        }
        let exchange = HTTPExchange(
            request, resources, session.httpSession(of: resources.core), cacheFields: fields)
        // A response that was removed after the look-up found it must not be stored again.
        let foundMark = stored == nil && partial == nil ? nil : lookUpMark
        state = .loading(
            Attempt(
                exchange: exchange, stored: stored, requestTime: session.now,
                mark: foundMark ?? session.cache.mark, partial: partial))
        exchange.begin(self)
        if isBusy, case .loading = state { exchange.receiverDidBlock() }
    }

    func endValidation(_ outcome: SessionCache.ValidationOutcome) {
        guard let ownValidation else { return }
        self.ownValidation = nil
        session.endValidation(of: ownValidation, outcome)
    }

    func queueStateDidChange(isQueued: Bool) {
        receiver?.queueStateDidChange(isQueued: isQueued)
        if let ownValidation { session.validation(of: ownValidation, queueStateDidChange: isQueued) }
    }

    private func giveBackTaken() { if let taken = takenResponse.take() { session.taskDidValidate(taken) } }

    // MARK: Answering from the cache

    /// Answers with the stored response that the server has validated. Returns false if it has validated none.
    func serveConfirmed(by attempt: Attempt) -> Bool {
        guard let confirmed = attempt.confirmed else { return false }
        attempt.exchange.end()
        serveConfirmed(confirmed)
        return true
    }

    func serveConfirmed(_ stored: StoredResponse) {
        guard let query,
            let answer = StoredAnswer(stored, to: query, now: session.now, isValidated: true)
        else { return load(nil) }
        serve(answer)
    }

    func serve(_ answer: StoredAnswer) {
        giveBackTaken()
        state = .serving(answer, .nothing)
        if !isBusy { deliver(answer) }
    }

    private func serveGatewayTimeout() {
        let response = HTTPURLResponse(
            url: request.url ?? URL(fileURLWithPath: "/"), statusCode: 504, httpVersion: "HTTP/1.1",
            fields: HTTPFields(),
            expectedContentLength: 0)
        collect(response)
        _ = receiver?.receive(response)
        receiver?.finish()
    }

    private func deliver(_ answer: StoredAnswer) {
        do {
            let redirect = try Redirect(
                status: answer.response.statusCode, answer.response.fields, of: request, in: resources.core.settings)
            guard let redirect, !declinesRedirect else { return deliverHead(of: answer) }
            follow(redirect, answer)
        } catch {
            receiver?.fail(error)
        }
    }

    private func follow(_ redirect: Redirect, _ answer: StoredAnswer) {
        state = .serving(answer, .redirecting)
        collect(answer.response)
        receiver?.redirect(to: redirect.request, refusal: redirect.refusal, response: answer.response) {
            [weak self] follows in
            guard let self, !follows, case .serving(let answer, .redirecting) = state else { return }
            declinesRedirect = true
            guard answer.stored.metadata.lacksContent, let query else { return deliverHead(of: answer) }
            // A redirect that was followed is stored without its content, so it cannot answer the request.
            carryOut(CacheVerdict(query, nil, now: session.now))
        }
    }

    private func deliverHead(of answer: StoredAnswer) {
        if !answer.stored.metadata.owner.isNobody { resources.task.isPersonal = true }
        state = .serving(answer, .head)
        if receiver?.receive(answer.response) == .more { deliverContent(of: answer) }
    }

    private func deliverContent(of answer: StoredAnswer) {
        guard case .serving = state else { return }
        if !answer.data.isEmpty { _ = receiver?.receive(answer.data) }
        guard case .serving = state else { return }
        if !declinesRedirect { collect(answer.response) }
        state = .over
        receiver?.finish()
    }

    private func collect(_ response: HTTPURLResponse) { receiver?.collect(record(of: response)) }

    private func record(of response: HTTPURLResponse) -> TransactionRecord {
        var timings = TransactionTimings()
        timings.fetchStart = fetchStart
        timings.responseStart = resources.loop.now
        timings.responseEnd = resources.loop.now
        timings.resourceFetchType = .localCache
        return TransactionRecord(timings: timings, request: request, response: response)
    }
}
