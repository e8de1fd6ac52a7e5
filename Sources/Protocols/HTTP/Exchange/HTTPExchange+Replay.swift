import LoadingKitHTTP1

/// How often an exchange has sent its request anew because of its connections.
struct ReplayCount {
    /// Most for a request that a connection lost, without a word of what became of it.
    private static let mostUnanswered = 3
    /// Most for one that the server states that it did not process. A busy HTTP/2 server that ends its connections after some
    /// requests states that of all that came after those.
    private static let mostUnprocessed = 100
    /// Most for one that may do harm when it is done twice.
    private static let mostUnsafe = 1

    private var unanswered = 0
    private var unprocessed = 0
    /// Whether the server has begun an upload, which goes on where it ended (104).
    private var hasBegun = false

    /// Whether the request may be sent anew.
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
    /// Whether it does no harm that the server gets the request twice: by its method, or as it has a key by which the server
    /// knows it again.
    private var isIdempotent: Bool {
        RequestMethod.isIdempotent(method) || transaction.fields.contains(name: "Idempotency-Key")
    }

    /// RFC 9110 §9.2.2: what the server never saw may be sent again. What it may have seen, too, where that does no harm; and
    /// else once, where the connection had served before, as a server that closes an idle connection has most likely not
    /// looked at the request (RFC 9112 §9.3.1 leaves that to the client).
    func mayReplay(_ failure: StreamFailure) -> Bool {
        guard !failure.isRefusal, body.isReplayable, transaction.response == nil else { return false }
        return replays.allows(
            failure.processing, isIdempotent: isIdempotent,
            maySendUnsafe: transaction.timings.isReusedConnection && session.settings.retriesUnansweredRequests)
    }
}
