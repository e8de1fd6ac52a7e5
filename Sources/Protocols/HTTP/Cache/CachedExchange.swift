import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// One request as the cache has it: answered from what is stored, or by a network exchange whose response is validated
/// against it, stored, and passed on. It stands between the exchange and the task.
final class CachedExchange: LoopHandler, @unchecked Sendable {  // confined to `resources.loop`
    /// What a network exchange under way is for.
    struct Attempt {
        let exchange: HTTPExchange
        /// The stored response that is validated, or that may answer when the server cannot.
        let stored: StoredResponse?
        let requestTime: Date
        /// What is stored, when the server is asked for the rest alone, and has not said that it is all new.
        var completion: Completion?
        /// The beginning of the answer, which the receiver has not had room for yet.
        var beginning: Data?
        /// What is known of the response, once its head is there.
        var receipt: SessionCache.Receipt?
        var recorder: ResponseRecorder?
        /// The server said that what is stored is current: it is delivered when the exchange has ended.
        var confirmed: StoredResponse?
        /// Where the receiver has the next bytes written to.
        var buffer: UnsafeMutableRawBufferPointer?
    }

    /// How much of an answer from the cache is delivered.
    enum Delivery {
        case nothing
        case redirecting
        case head
    }

    enum State {
        case new
        /// The disk is read, or another exchange validates what is stored.
        case waiting
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
    /// What is to be validated without being looked for.
    private let validated: StoredResponse?
    /// The stored response about which this exchange is the one to ask the server.
    private var inquiry: StoredResponse?
    /// How often it has waited for another exchange's validation that came to nothing.
    private var vainWaits = 0
    private var isBusy = false
    /// The delegate has declined to follow the redirect, and wants the response that asked for it.
    private(set) var declinesRedirect = false
    private var fetchStart: MonotonicTime?

    init(
        _ request: URLRequest, _ resources: LoadResources, _ session: SessionCache,
        validating stored: StoredResponse? = nil
    ) {
        self.request = request
        self.resources = resources
        self.session = session
        validated = stored
    }

    /// Of many that wait for one validation which comes to nothing one is the next to ask, and has often been answered by the
    /// time the others would be. After so many times they ask all at once: else they would one after the other.
    private static let mostVainWaits = 2

    // MARK: LoopHandler

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        fetchStart = resources.loop.now
        // Without a URL there is nothing to look for; the exchange says what is wrong.
        guard let url = request.url else { return load(nil) }
        query = CacheQuery(request, url: url, policy: resources.core.settings.cachePolicy(of: request))
        if let validated { return validate(validated) }
        look()
    }

    func end() {
        let last = state
        state = .over
        if case .loading(let attempt) = last { attempt.exchange.end() }
        receiver = nil
        settle(.open)
    }

    func receiverIsBusy() {
        isBusy = true
        guard case .loading(let attempt) = state else { return }
        attempt.exchange.receiverIsBusy()
        // Who waits for this exchange must not wait for its receiver.
        settle(.open)
    }

    func receiverIsReady() {
        isBusy = false
        switch state {
        case .loading(let attempt):
            if attempt.beginning == nil || deliverBeginning() == .more { attempt.exchange.receiverIsReady() }
        case .serving(let answer, .nothing): deliver(answer)
        case .serving(let answer, .head): deliverContent(of: answer)
        case .new, .waiting, .serving(_, .redirecting), .over: break
        }
    }

    // MARK: Deciding

    private func look() {
        guard let query else { return }
        guard query.isLookedUp else { return act(on: CacheVerdict(query, nil, now: session.now)) }
        state = .waiting
        session.find(query) { [weak self] stored in
            guard let self, case .waiting = state else { return }
            choose(from: stored, query)
        }
    }

    private func choose(from stored: [StoredResponse], _ query: CacheQuery) {
        guard let first = stored.first else { return act(on: CacheVerdict(query, nil, now: session.now)) }
        let pool = session.pool(of: resources.core)
        if stored.count == 1, first.isForEverybody, !Requester.mayHaveCredentials(request, pool) {
            return act(on: CacheVerdict(query, first, now: session.now))
        }
        session.choose(from: stored, for: request, resources, pool) { [weak self] chosen in
            guard let self, case .waiting = state else { return }
            act(on: CacheVerdict(query, chosen, now: session.now))
        }
    }

    private func act(on verdict: CacheVerdict) {
        switch verdict {
        case .serve(let answer, let stale):
            if let stale { session.validateInBackground(stale, request, resources) }
            serve(answer)
        case .validate(let stored): validate(stored)
        case .complete(let completion): load(nil, completing: completion)
        case .load: load(nil)
        case .gatewayTimeout: serveGatewayTimeout()
        case .unavailable:
            receiver?.fail(
                LoadFailure(
                    .resourceUnavailable,
                    "nothing is stored, and returnCacheDataDontLoad does not let the server be asked"))
        }
    }

    /// Asks the server about a stored response, unless another exchange is doing so.
    private func validate(_ stored: StoredResponse) {
        state = .waiting
        // Without a validator there is no answer that others could use as well; behind their backs one is enough.
        guard validated != nil || !RequestConditions.validators(of: stored).isEmpty,
            vainWaits < Self.mostVainWaits
        else { return load(stored) }
        let leads = session.lead(stored) { [weak self] validation in
            guard let self, case .waiting = state else { return }
            switch validation {
            case .current(let stored): serveConfirmed(stored)
            case .open:
                vainWaits += 1
                look()
            }
        }
        guard leads else { return }
        inquiry = stored
        load(stored)
    }

    func load(_ stored: StoredResponse?, completing completion: Completion? = nil) {
        var fields = query?.directives(validating: stored != nil) ?? HTTPFields()
        for field in completion?.requestFields ?? stored.map(RequestConditions.validators) ?? HTTPFields() {
            fields.append(name: field.name, value: field.value)
        }
        let exchange = HTTPExchange(request, resources, cacheFields: fields)
        state = .loading(
            Attempt(exchange: exchange, stored: stored, requestTime: session.now, completion: completion))
        exchange.begin(self)
        if isBusy, case .loading = state { exchange.receiverIsBusy() }
    }

    /// Those who wait for this exchange's validation wait no longer.
    func settle(_ validation: SessionCache.Validation) {
        guard let inquiry else { return }
        self.inquiry = nil
        session.settle(inquiry, validation)
    }

    // MARK: Answering from the cache

    func serveConfirmed(_ stored: StoredResponse) {
        guard let query,
            let answer = StoredAnswer(stored, to: query, now: session.now, isValidated: true)
        else { return load(nil) }
        serve(answer)
    }

    func serve(_ answer: StoredAnswer) {
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
            let redirect = try Redirect(status: answer.response.statusCode, answer.response.fields, of: request)
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
            if answer.stored.metadata.lacksContent { load(nil) } else { deliverHead(of: answer) }
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

    private func collect(_ response: HTTPURLResponse) {
        var timings = TransactionTimings()
        timings.fetchStart = fetchStart
        timings.responseStart = resources.loop.now
        timings.responseEnd = resources.loop.now
        timings.resourceFetchType = .localCache
        receiver?.collect(TransactionRecord(timings: timings, request: request, response: response))
    }
}
