import LoadingKitHTTP1

/// The number of times that an exchange has sent its request again because of its connections.
struct ReplayCount {
    /// The limit for a request whose connection was lost before the server reported its result.
    private static let mostUnanswered = 3
    /// The limit for a request that the server reports as not processed. A busy HTTP/2 server that closes its
    /// connections after a number of requests reports this for all later requests.
    private static let mostUnprocessed = 100
    /// The limit for a request that may do harm when it is processed twice.
    private static let mostUnsafe = 1

    private var unanswered = 0
    private var unprocessed = 0
    /// Whether the server has begun an upload (status 104), which continues where it ended.
    private var hasBegun = false

    /// Whether the request may be sent again.
    func allows(_ processing: StreamFailure.Processing, isIdempotent: Bool, maySendUnsafe: Bool) -> Bool {
        if hasBegun { return false }
        return switch processing {
        case .notSent: unprocessed < Self.mostUnprocessed
        case .unknown where isIdempotent: unanswered < Self.mostUnanswered
        case .unknown: unanswered < Self.mostUnsafe && maySendUnsafe
        case .possible: isIdempotent && unanswered < Self.mostUnanswered
        case .begun: false
        }
    }

    mutating func uploadDidBegin() { hasBegun = true }

    mutating func count(_ processing: StreamFailure.Processing) {
        if processing == .notSent { unprocessed += 1 } else { unanswered += 1 }
    }
}

extension HTTPExchange {
    /// Whether the server may safely process the request twice: because of its method, or because its key lets the
    /// server recognise the repetition.
    private var isIdempotent: Bool {
        RequestMethod.isIdempotent(method) || transaction.fields.contains(name: "Idempotency-Key")
    }

    /// Whether the request may be sent again (RFC 9110 §9.2.2). A request that never reached the server may be sent
    /// again. A request that may have reached it is sent again if it is idempotent. Any other request is sent again
    /// once if its connection had been used before: a server that closes an idle connection has most likely not read
    /// the request (RFC 9112 §9.3.1 leaves this to the client).
    func mayReplay(_ failure: StreamFailure) -> Bool {
        guard !failure.isRefusal, body.isReplayable, transaction.response == nil else { return false }
        return replays.allows(
            failure.processing, isIdempotent: isIdempotent,
            maySendUnsafe: transaction.timings.isReusedConnection && session.settings.retriesUnansweredRequests)
    }
}
