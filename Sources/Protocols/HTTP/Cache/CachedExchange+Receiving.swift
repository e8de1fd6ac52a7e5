import Foundation
import LoadingKitCore

/// Records the network exchange's events for the cache, and passes them on.
extension CachedExchange: ForwardingReceiver {
    func receive(_ response: URLResponse) -> Flow {
        guard case .loading(var attempt) = state, let receiver else { return .wait }
        guard let query, let response = response as? HTTPURLResponse else { return receiver.receive(response) }
        if let partial = attempt.partial {
            if let part = partial.missingPart(response), session.mayAnswer(attempt.exchange, with: partial.stored) {
                return complete(partial, part, attempt, query)
            }
            if response.statusCode == 206 || response.statusCode == 416 { return loadAll(insteadOf: attempt) }
            attempt.partial = nil
        }
        let receipt = makeReceipt(response, attempt, query)
        attempt.receipt = receipt
        if let stored = attempt.stored {
            if response.statusCode == 304, !RequestConditions.isConditional(query.fields) {
                // The request was finally sent with another credential, whose response may have the same tag.
                guard session.mayAnswer(attempt.exchange, with: stored) else { return loadAll(insteadOf: attempt) }
                return confirm(stored, attempt, receipt)
            }
            if ReuseRule.isServerError(response.statusCode), serveInstead(of: attempt) { return .wait }
            resources.note(.changed)
        }
        endValidation(.inconclusive)
        session.applyEffects(of: receipt)
        attempt.recorder = recorder(of: receipt)
        state = .loading(attempt)
        return receiver.receive(response)
    }

    private func recorder(of receipt: SessionCache.Receipt) -> ResponseRecorder? {
        guard mayStore else { return nil }
        if let refusal = session.refusal(of: receipt) {
            resources.note(refusal)
            return nil
        }
        return ResponseRecorder(
            expecting: receipt.response.expectedContentLength, limit: session.cache.largestResponse)
    }

    // MARK: Completing a partial response

    /// The rest arrives. The receiver gets both parts as one response.
    private func complete(
        _ partial: PartialResponse, _ part: HTTPURLResponse, _ attempt: Attempt, _ query: CacheQuery
    ) -> Flow {
        var attempt = attempt
        let receipt = makeReceipt(part, attempt, query)
        attempt.receipt = receipt
        attempt.recorder = recorder(of: receipt)
        attempt.beginning = partial.beginning
        state = .loading(attempt)
        guard let receiver, receiver.receive(partial.completeHead(part)) == .more else { return .wait }
        return deliverBeginning()
    }

    func deliverBeginning() -> Flow {
        guard case .loading(var attempt) = state, let receiver, let beginning = attempt.beginning.take() else {
            return .wait
        }
        state = .loading(attempt)
        return receiver.receive(beginning)
    }

    /// The response is another part than the requested one, none, or another user's. Sends the program's own request.
    private func loadAll(insteadOf attempt: Attempt) -> Flow {
        if let failure = attempt.exchange.cleartextFailure {
            fail(failure)
            return .wait
        }
        attempt.exchange.end()
        endValidation(.inconclusive)
        load(nil)
        return .wait
    }

    private func makeReceipt(
        _ response: HTTPURLResponse, _ attempt: Attempt, _ query: CacheQuery
    ) -> SessionCache.Receipt {
        SessionCache.Receipt(
            query: query, request: request, response: response,
            user: CacheUser(of: attempt.exchange, answered: response.statusCode),
            isTrusted: !attempt.exchange.transaction.isServerUntrusted, requestTime: attempt.requestTime,
            responseTime: session.now, mark: attempt.mark)
    }

    /// The stored response is current. It is delivered when the exchange's connection is free.
    private func confirm(_ stored: StoredResponse, _ attempt: Attempt, _ receipt: SessionCache.Receipt) -> Flow {
        var attempt = attempt
        let (current, answersSameRequests) = session.freshen(stored, receipt)
        resources.note(.validated, current.freshnessText(now: session.now))
        attempt.confirmed = current
        state = .loading(attempt)
        // Other tasks may not trust the server.
        endValidation(answersSameRequests && receipt.isTrusted ? .current(current) : .inconclusive)
        return .more
    }

    /// Answers with the stored response because the server failed, if that is allowed (RFC 5861).
    func serveInstead(of attempt: Attempt) -> Bool {
        guard let stored = attempt.stored, session.mayAnswer(attempt.exchange, with: stored) else { return false }
        return serveStale(stored)
    }

    /// - Parameter stored: a stored response that may answer this request's user.
    func serveStale(_ stored: StoredResponse) -> Bool {
        guard let query else { return false }
        let (freshness, control) = (stored.freshness(now: session.now), stored.control)
        // The time for a stale response may have passed since the decision.
        let isStillAllowed =
            takenResponse != nil && ReuseRule.verdict(freshness, control, request: query.control) != .validate
        guard isStillAllowed || ReuseRule.mayServeOnError(freshness, control, request: query.control),
            let answer = StoredAnswer(stored, to: query, now: session.now, isValidated: false)
        else { return false }
        if case .loading(let attempt) = state { attempt.exchange.end() }
        endValidation(.inconclusive)
        // The other decision was noted when it was made.
        if !isStillAllowed { resources.note(.staleIfError, stored.freshnessText(now: session.now)) }
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
        endValidation(.inconclusive)
        guard case .loading(let attempt) = state, let receiver else { return }
        if declinesRedirect { return resources.loop.executeLater { decide(false) } }
        var receipt: SessionCache.Receipt?
        if let query, let response = response as? HTTPURLResponse {
            let made = makeReceipt(response, attempt, query)
            // Also where the redirect is refused, or the task ends with it (RFC 9111 §4.4).
            session.applyEffects(of: made)
            receipt = made
        }
        receiver.redirect(to: request, refusal: refusal, response: response) { [weak self, receipt] follows in
            if follows, let receipt { self?.storeRedirect(receipt) }
            decide(follows)
        }
    }

    /// Stores a redirect that is followed, without its content, for which the exchange does not wait.
    private func storeRedirect(_ receipt: SessionCache.Receipt) {
        guard let receiver else { return }
        if let refusal = session.refusal(of: receipt) { return resources.note(refusal) }
        session.store(receipt, Data(), lacksContent: true, of: resources, proposingTo: receiver)
    }

    func finish() {
        guard case .loading(let attempt) = state, let receiver else { return }
        if serveConfirmed(by: attempt) { return }
        let count = attempt.exchange.transaction.timings.responseBodyBytesAfterDecoding
        if let failure = attempt.partial?.failure(receiving: count) { return fail(failure) }
        guard let receipt = attempt.receipt, let data = attempt.recorder?.take() else {
            if attempt.recorder != nil { resources.note(.notStoredSize) }
            return receiver.finish()
        }
        guard session.needsHash(for: receipt) else { return store(receipt, data, attempt, receiver) }
        session.withHash { [weak self] _ in
            guard let self, case .loading = state, let receiver = self.receiver else { return }
            store(receipt, data, attempt, receiver)
        }
    }

    private func store(
        _ receipt: SessionCache.Receipt, _ data: Data, _ attempt: Attempt, _ receiver: any LoadReceiver
    ) {
        session.store(receipt, data, joining: attempt.partial?.stored, of: resources, proposingTo: receiver)
        receiver.finish()
    }

    func fail(_ error: any Error) {
        guard case .loading(let attempt) = state, let receiver else { return }
        // A 304 has no content, whose end could be missing.
        if serveConfirmed(by: attempt) { return }
        // After the head is delivered, no other response can be delivered. A refusal by the program, or of the server's
        // certificate, is not an error of the server. A connection that breaks in the handshake is.
        let code = URLError(error, url: nil).code
        let isOfServer = URLError.Code.ofConnection.contains(code) || code == .secureConnectionFailed
        if attempt.receipt == nil, isOfServer, serveInstead(of: attempt) { return }
        storeBeginning(of: attempt, code)
        receiver.fail(error)
    }

    /// Stores the part that was received before the connection was lost, for a request for the rest (RFC 9111 §3.3).
    private func storeBeginning(of attempt: Attempt, _ code: URLError.Code) {
        guard let receipt = attempt.receipt, let receiver, code == .networkConnectionLost,
            let data = attempt.recorder?.take(), !data.isEmpty
        else { return }
        session.store(
            receipt, data, isCutOff: true, joining: attempt.partial?.stored, of: resources, proposingTo: receiver)
    }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        // Other exchanges do not wait for the program's answer.
        endValidation(.inconclusive)
        receiver?.challenge(challenge, decide: decide)
    }
}
