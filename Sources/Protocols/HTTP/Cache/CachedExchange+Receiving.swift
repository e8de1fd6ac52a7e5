import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// What comes from the network exchange: noted, recorded, and passed on.
extension CachedExchange: LoadReceiver {
    func receive(_ response: URLResponse) -> Flow {
        guard case .loading(var attempt) = state, let receiver else { return .wait }
        guard let query, let response = response as? HTTPURLResponse else { return receiver.receive(response) }
        if let completion = attempt.completion {
            if let part = completion.part(response), session.mayAnswer(attempt.exchange, with: completion.stored) {
                return complete(completion, part, attempt, query)
            }
            if response.statusCode == 206 || response.statusCode == 416 { return loadAll(insteadOf: attempt) }
            attempt.completion = nil
        }
        let receipt = makeReceipt(response, attempt, query)
        attempt.receipt = receipt
        if let stored = attempt.stored {
            if response.statusCode == 304, !RequestConditions.areConditional(query.fields) {
                // Another credential was sent in the end, whose answer may have the same tag.
                guard session.mayAnswer(attempt.exchange, with: stored) else {
                    return loadAll(insteadOf: attempt)
                }
                return confirm(stored, attempt, receipt)
            }
            if ReuseRule.isServerError(response.statusCode), serveInstead(of: attempt) { return .wait }
        }
        settle(.open)
        session.note(receipt)
        attempt.recorder = recorder(of: receipt)
        state = .loading(attempt)
        return receiver.receive(response)
    }

    private func recorder(of receipt: SessionCache.Receipt) -> ResponseRecorder? {
        guard session.mayStore(receipt) else { return nil }
        return ResponseRecorder(
            expecting: receipt.response.expectedContentLength, limit: session.cache.largestResponse)
    }

    // MARK: Completing what is stored

    /// The rest of what is stored comes: the receiver gets both as one.
    private func complete(
        _ completion: Completion, _ part: HTTPURLResponse, _ attempt: Attempt, _ query: CacheQuery
    ) -> Flow {
        var attempt = attempt
        let receipt = makeReceipt(part, attempt, query)
        attempt.receipt = receipt
        attempt.recorder = recorder(of: receipt)
        attempt.beginning = completion.beginning
        state = .loading(attempt)
        guard let receiver, receiver.receive(completion.answer(part)) == .more else { return .wait }
        return deliverBeginning()
    }

    func deliverBeginning() -> Flow {
        guard case .loading(var attempt) = state, let receiver, let beginning = attempt.beginning.take() else {
            return .wait
        }
        state = .loading(attempt)
        return receiver.receive(beginning)
    }

    /// The server has sent a part that goes with nothing, or none, or has spoken of another's response: it is asked for what
    /// the program wants.
    private func loadAll(insteadOf attempt: Attempt) -> Flow {
        attempt.exchange.end()
        settle(.open)
        load(nil)
        return .wait
    }

    private func makeReceipt(
        _ response: HTTPURLResponse, _ attempt: Attempt, _ query: CacheQuery
    ) -> SessionCache.Receipt {
        SessionCache.Receipt(
            query: query, request: request, response: response, exchange: attempt.exchange,
            requestTime: attempt.requestTime, responseTime: session.now)
    }

    /// The stored response is current. It is delivered when the exchange has ended, and its connection is free.
    private func confirm(_ stored: StoredResponse, _ attempt: Attempt, _ receipt: SessionCache.Receipt) -> Flow {
        var attempt = attempt
        let current = session.freshen(stored, receipt)
        attempt.confirmed = current
        state = .loading(attempt)
        settle(.current(current))
        return .more
    }

    /// Answers with what is stored because the server cannot, where that is allowed (RFC 5861 §4).
    private func serveInstead(of attempt: Attempt) -> Bool {
        guard let stored = attempt.stored, let query,
            ReuseRule.mayServeOnError(
                stored.freshness(now: session.now), stored.control, request: query.control),
            session.mayAnswer(attempt.exchange, with: stored),
            let answer = StoredAnswer(stored, to: query, now: session.now, isValidated: false)
        else { return false }
        attempt.exchange.end()
        settle(.open)
        serve(answer)
        return true
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        guard case .loading(let attempt) = state, attempt.confirmed == nil, let receiver else { return .more }
        attempt.recorder?.append(bytes)
        return receiver.receive(bytes)
    }

    func receive(_ data: Data) -> Flow {
        guard case .loading(let attempt) = state, attempt.confirmed == nil, let receiver else { return .more }
        attempt.recorder?.append(data)
        return receiver.receive(data)
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        guard case .loading(var attempt) = state, attempt.confirmed == nil else { return nil }
        let buffer = receiver?.bodyBuffer(atMost: count)
        if attempt.recorder != nil {
            attempt.buffer = buffer
            state = .loading(attempt)
        }
        return buffer
    }

    func bodyBufferFilled(_ count: Int) -> Flow {
        if case .loading(let attempt) = state, let recorder = attempt.recorder, let buffer = attempt.buffer {
            recorder.append(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        }
        return receiver?.bodyBufferFilled(count) ?? .wait
    }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        settle(.open)
        guard case .loading(let attempt) = state, let receiver else { return }
        if declinesRedirect { return resources.loop.executeLater { decide(false) } }
        receiver.redirect(to: request, refusal: refusal, response: response) { [weak self] follows in
            if follows { self?.storeRedirect(response, attempt) }
            decide(follows)
        }
    }

    /// A redirect that is followed is stored without its content, which is not waited for.
    private func storeRedirect(_ response: URLResponse, _ attempt: Attempt) {
        guard let query, let response = response as? HTTPURLResponse, let receiver else { return }
        let receipt = makeReceipt(response, attempt, query)
        session.note(receipt)
        if session.mayStore(receipt) { session.store(receipt, Data(), lacksContent: true, asking: receiver) }
    }

    func finish() {
        guard case .loading(let attempt) = state, let receiver else { return }
        if let confirmed = attempt.confirmed {
            attempt.exchange.end()
            return serveConfirmed(confirmed)
        }
        guard let receipt = attempt.receipt, let data = attempt.recorder?.take() else { return receiver.finish() }
        guard session.lacksHash(for: receipt) else { return store(receipt, data, attempt, receiver) }
        session.withHash { [weak self] _ in
            guard let self, case .loading = state, let receiver = self.receiver else { return }
            store(receipt, data, attempt, receiver)
        }
    }

    private func store(
        _ receipt: SessionCache.Receipt, _ data: Data, _ attempt: Attempt, _ receiver: any LoadReceiver
    ) {
        session.store(receipt, data, joining: attempt.completion?.stored, asking: receiver)
        receiver.finish()
    }

    func fail(_ error: any Error) {
        guard case .loading(let attempt) = state, let receiver else { return }
        // Once the head is delivered there is no other answer to give.
        if attempt.receipt == nil, serveInstead(of: attempt) { return }
        storeBeginning(of: attempt, error)
        receiver.fail(error)
    }

    /// What came before the connection was lost is kept: the next request asks for the rest (RFC 9111 §3.3).
    private func storeBeginning(of attempt: Attempt, _ error: any Error) {
        guard let receipt = attempt.receipt, let receiver, URLError(error, url: nil).code == .networkConnectionLost,
            let data = attempt.recorder?.take(), !data.isEmpty
        else { return }
        session.store(receipt, data, isCutOff: true, joining: attempt.completion?.stored, asking: receiver)
    }

    // MARK: Passed on

    var answersChallenges: Bool { receiver?.answersChallenges ?? false }

    var challengeDelegate: AnyObject? { receiver?.challengeDelegate }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        // A program that thinks about its answer keeps nobody else waiting.
        settle(.open)
        receiver?.challenge(challenge, decide: decide)
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) { receiver?.withdraw(challenge) }

    func needNewBodyStream(_ give: @escaping (InputStream?) -> Void) { receiver?.needNewBodyStream(give) }

    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        receiver?.willCache(response, decide: decide)
    }

    func sentBody(_ count: Int, expected: Int64) { receiver?.sentBody(count, expected: expected) }

    func noteActivity() { receiver?.noteActivity() }

    func receive(informational response: HTTPURLResponse) { receiver?.receive(informational: response) }

    func setQueued(_ isQueued: Bool) { receiver?.setQueued(isQueued) }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) { receiver?.collect(transaction()) }
}
