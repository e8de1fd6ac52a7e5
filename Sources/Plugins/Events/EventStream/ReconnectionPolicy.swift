/// The options for the reconnection of an event stream.
public struct ReconnectionOptions: Sendable {
    /// Whether the stream reconnects at all, when it has ended or failed. Nil, the default: only where the request's
    /// method is `GET`. Any other method may have an effect on the server that must not be repeated.
    public var isEnabled: Bool?
    /// Seconds to wait before a reconnection, until the server sends another time. Default 3.
    public var reconnectionTime = 3.0
    /// The shortest wait in seconds, regardless of the server's time. Default 0.1.
    public var minimumTime = 0.1
    /// The longest wait in seconds, for the server's times and for doubled times. Default 300.
    public var maximumTime = 300.0
    /// The limit in seconds for doubling the time when consecutive connections fail. Default 60. It does not reduce a
    /// longer time from the server.
    public var maximumBackoff = 60.0
    /// The largest random extension of a time, as a fraction: 0.25, the default, for up to a quarter more.
    public var jitter = 0.25
    /// The number of consecutive failed connections after which the stream fails with the last one's error. Nil, the
    /// default: no limit. 1: the stream fails with the first failure.
    public var maximumAttempts: Int?
    /// Statuses after which the stream reconnects, as after a failure: such as 429, 502, 503. Their `Retry-After` is
    /// respected. Default none, as in the standard.
    public var retriedStatuses: Set<Int> = []
    /// Returns numbers from 0 up to 1 for the jitter.
    public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// Waits for a number of seconds. Throws when the task is cancelled.
    public var sleep: @Sendable (_ seconds: Double) async throws -> Void = { seconds in
        // A `Duration` whose seconds overflow would end the process.
        try await Task.sleep(for: .seconds(seconds > 0 ? min(seconds, 1e9) : 0))
    }

    /// Makes the default options.
    public init() {}
}

/// Decides about the end of a connection. Pure: the caller supplies time and random numbers.
struct ReconnectionPolicy: Sendable {
    /// The way in which a connection has ended.
    enum Outcome: Sendable, Hashable {
        /// The server has ended the stream.
        case streamEnded
        /// The server has sent 204: no more events follow.
        case noContent
        /// The connection was lost after it had been open.
        case connectionLost
        /// There was no response, or one with a retried status, and the seconds of its `Retry-After`.
        case attemptFailed(retryAfter: Double?)
    }

    enum Decision: Sendable, Hashable {
        /// Reconnect after this number of seconds.
        case reconnect(after: Double)
        /// The sequence ends.
        case finish
        /// The sequence fails with the connection's error.
        case fail
    }

    private let options: ReconnectionOptions
    private let isEnabled: Bool
    /// In seconds.
    private var reconnectionTime: Double
    private var failures = 0

    init(_ options: ReconnectionOptions, method: String) {
        self.options = options
        isEnabled = options.isEnabled ?? (method == "GET")
        reconnectionTime = options.reconnectionTime
    }

    mutating func connectionDidOpen() { failures = 0 }

    /// The server has sent another time.
    mutating func setReconnectionTime(milliseconds: Int) { reconnectionTime = Double(milliseconds) / 1000 }

    /// - Parameter random: a number from 0 up to 1.
    mutating func decide(after outcome: Outcome, random: Double) -> Decision {
        switch outcome {
        case .noContent: return .finish
        case .streamEnded: return isEnabled ? .reconnect(after: time(0, random)) : .finish
        case .connectionLost: return countFailure(retryAfter: nil, random)
        case .attemptFailed(let retryAfter): return countFailure(retryAfter: retryAfter, random)
        }
    }

    private mutating func countFailure(retryAfter: Double?, _ random: Double) -> Decision {
        guard isEnabled else { return .fail }
        failures += 1
        if let most = options.maximumAttempts, failures >= most { return .fail }
        let time = time(failures - 1, random)
        return .reconnect(after: max(time, min(retryAfter ?? 0, bound)))
    }

    private var bound: Double { max(0, options.maximumTime) }

    private func time(_ doublings: Int, _ random: Double) -> Double {
        let base = min(max(reconnectionTime, options.minimumTime, 0), bound)
        var grown = base
        for _ in 0..<min(doublings, 64) where grown < options.maximumBackoff { grown *= 2 }
        let bounded = max(base, min(grown, options.maximumBackoff))
        return min(bounded * (1 + max(0, options.jitter) * random), bound)
    }
}
