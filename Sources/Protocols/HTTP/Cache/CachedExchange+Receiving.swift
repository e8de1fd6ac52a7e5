import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// What comes from the network exchange: noted, recorded, and passed on.
extension CachedExchange: LoadReceiver {
    func receive(_ response: URLResponse) -> Flow {
        guard case .loading(var attempt) = state, let receiver else { return .wait }
        guard let query, let response = response as? HTTPURLResponse else { return receiver.receive(response) }
        let receipt = makeReceipt(response, attempt, query)
        attempt.receipt = receipt
        if let stored = attempt.stored {
            if response.statusCode == 304, !RequestConditions.areConditional(query.fields) {
                return confirm(stored, attempt, receipt)
            }
            if ReuseRule.isServerError(response.statusCode), serveInstead(of: attempt) { return .wait }
        }
        settle(.open)
        session.note(receipt)
        if session.mayStore(receipt) {
            attempt.recorder = ResponseRecorder(
                expecting: response.expectedContentLength, limit: session.cache.largestResponse)
        }
        state = .loading(attempt)
        return receiver.receive(response)
    }

    private func makeReceipt(
        _ response: HTTPURLResponse, _ attempt: Attempt, _ query: CacheQuery
    ) -> SessionCache.Receipt {
        SessionCache.Receipt(
            query: query, request: request, response: response, requestFields: attempt.exchange.fields,
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

    func redirect(to request: URLRequest, response: URLResponse, decide: @escaping (Bool) -> Void) {
        settle(.open)
        guard case .loading(let attempt) = state, let receiver else { return }
        if declinesRedirect { return resources.loop.executeLater { decide(false) } }
        receiver.redirect(to: request, response: response) { [weak self] follows in
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
        if let receipt = attempt.receipt, let data = attempt.recorder?.take() {
            session.store(receipt, data, asking: receiver)
        }
        receiver.finish()
    }

    func fail(_ error: any Error) {
        guard case .loading(let attempt) = state, let receiver else { return }
        // Once the head is delivered there is no other answer to give.
        if attempt.receipt == nil, serveInstead(of: attempt) { return }
        receiver.fail(error)
    }

    // MARK: Passed on

    var answersChallenges: Bool { receiver?.answersChallenges ?? false }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        // A program that thinks about its answer keeps nobody else waiting.
        settle(.open)
        receiver?.challenge(challenge, decide: decide)
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) { receiver?.withdraw(challenge) }

    func needNewBodyStream(_ give: @escaping (InputStream?) -> Void) { receiver?.needNewBodyStream(give) }

    func willCache(_ response: CachedURLResponse, decide: @escaping (CachedURLResponse?) -> Void) {
        receiver?.willCache(response, decide: decide)
    }

    func sentBody(_ count: Int, expected: Int64) { receiver?.sentBody(count, expected: expected) }

    func noteActivity() { receiver?.noteActivity() }

    func setQueued(_ isQueued: Bool) { receiver?.setQueued(isQueued) }

    func collect(_ transaction: TransactionRecord) { receiver?.collect(transaction) }
}
