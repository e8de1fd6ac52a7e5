import LoadingKitPrimitives

/// Counts how often an exchange has sent its request again because of its connections.
struct ReplayCount {
    /// The limit if the connection was lost before the server reported a result.
    private static let mostUnanswered = 3
    /// The limit if the server reports that it has not processed the request. A busy HTTP/2 server that closes its
    /// connections after a number of requests reports this for all later ones.
    private static let mostUnprocessed = 100
    /// The limit if processing the request twice may do harm.
    private static let mostUnsafe = 1

    private var unanswered = 0
    private var unprocessed = 0
    /// Whether the server has begun an upload (status 104), which is continued and not repeated.
    var hasUploadBegun = false

    func allows(_ processing: StreamFailure.Processing, isIdempotent: Bool, maySendUnsafe: Bool) -> Bool {
        if hasUploadBegun { return false }
        return switch processing {
        case .notSent: unprocessed < Self.mostUnprocessed
        case .unknown where isIdempotent: unanswered < Self.mostUnanswered
        case .unknown: unanswered < Self.mostUnsafe && maySendUnsafe
        case .possible: isIdempotent && unanswered < Self.mostUnanswered
        case .begun: false
        }
    }

    mutating func count(_ processing: StreamFailure.Processing) {
        if processing == .notSent { unprocessed += 1 } else { unanswered += 1 }
    }
}

extension HTTPExchange {
    /// Whether the server may process the request twice: the method or a key for repetitions allows it.
    private var isIdempotent: Bool {
        RequestMethod.isIdempotent(method) || transaction.fields.contains(name: "Idempotency-Key")
    }

    /// Whether the request may be sent again, if its body can be (RFC 9110 §9.2.2): if it never reached the server, or
    /// if it is idempotent. Another request is sent again once if its connection had been used before: a server that
    /// closes an idle connection has most likely not read it (RFC 9112 §9.3.1 leaves this to the client).
    func mayReplay(_ failure: StreamFailure) -> Bool { !failure.isRefusal && mayReplay(failure.processing) }

    func mayReplay(_ processing: StreamFailure.Processing) -> Bool {
        guard transaction.response == nil else { return false }
        return replays.allows(
            processing, isIdempotent: isIdempotent,
            maySendUnsafe: transaction.timings.isReusedConnection && session.settings.retriesUnansweredRequests)
    }

    /// Sends the request again. If the connection had read the body's stream, the delegate has to give another one
    /// first: without it, the load fails.
    func replay(after failure: StreamFailure) {
        guard !body.isReplayable, let receiver else { return submitAgain(after: failure) }
        state = .renewingBody
        receiver.requestNewBodyStream(from: nil) { [weak self] stream in
            guard let self, case .renewingBody = state else { return }
            guard let stream else { return fail(failure.error) }
            content.abandon()
            content = content.with(stream)
            submitAgain(after: failure)
        }
    }

    private func submitAgain(after failure: StreamFailure) {
        if let failure = cleartextFailure { return fail(failure) }
        if transaction.timings.requestHeaderBytesSent > 0 {
            endTransaction()
        } else {
            transaction.connectionWillChange()
        }
        note(.retried(failure.processing == .notSent ? .notProcessed : .connectionLost), "\(failure.error)")
        replays.count(failure.processing)
        submit(needsFreshConnection: !failure.isBehind)
    }
}

/// An exchange's rules for sharing a connection before the response has arrived (RFC 9112 §9.3.2).
extension HTTPExchange {
    /// Whether the request may be sent behind requests that await their responses, and other requests behind it: the
    /// program allows it, and no harm is done if the request is lost and sent again, or if its response is late.
    ///
    /// A connection that authenticates the client carries no pipelined requests: the authentication must not depend on
    /// the order of responses.
    var allowsPipelining: Bool {
        guard session.settings.httpShouldUsePipelining || request.httpShouldUsePipelining else { return false }
        guard case .none = content, switching == .never, !authentication.bindsToConnection else { return false }
        return RequestMethod.isSafe(method)
    }

    /// The request's timeout begins when its response is the next one.
    func willBeSentAhead() {
        hasHadTurn = true
        if !isInQueue { setQueued(true) }
    }

    /// The request's former connection has other requests behind this one.
    func restartInTurn() {
        hasHadTurn = true
        submit(needsFreshConnection: false)
    }
}
