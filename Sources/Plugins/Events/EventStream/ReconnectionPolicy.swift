/// When an event stream is connected to again.
public struct ReconnectionOptions: Sendable {
    /// Whether the stream is connected to again at all, when it has ended or failed. Nil, the default: where the request's
    /// method is `GET`. Another may do something on the server that is not to be done twice.
    public var isEnabled: Bool?
    /// Seconds to wait before a connection, until the server gives another time. Default 3.
    public var reconnectionTime = 3.0
    /// Seconds that are waited at least, whatever the server gives. Default 0.1.
    public var minimumTime = 0.1
    /// Seconds to which the time grows that a server or the doubling gives. Default 300.
    public var maximumTime = 300.0
    /// Seconds to which the time doubles when connections fail one after the other. Default 60. A longer time that the
    /// server gives stays.
    public var maximumBackoff = 60.0
    /// By how much a time is made longer at random, as a share of it: 0.25, the default, for up to a quarter more.
    public var jitter = 0.25
    /// Connections that may fail one after the other before the stream fails with the last one's error; the first counts.
    /// Nil, the default: any number. 1: the stream fails with the first failure.
    public var maximumAttempts: Int?
    /// Statuses after which the stream is connected to again, as after a failure: such as 429, 502, 503. A `Retry-After`
    /// of theirs in seconds is respected. Default none, as the standard has it.
    public var retriedStatuses: Set<Int> = []
    /// Gives numbers from 0 up to 1 for the jitter.
    public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    /// Waits for some seconds. Throws when the task is cancelled.
    public var sleep: @Sendable (_ seconds: Double) async throws -> Void = { seconds in
        // A duration of seconds that do not fit into it would end the process.
        try await Task.sleep(for: .seconds(seconds > 0 ? min(seconds, 1e9) : 0))
    }

    /// The default options.
    public init() {}
}

/// Decides what follows the end of a connection. Pure: time and chance are the caller's.
struct ReconnectionPolicy: Sendable {
    /// How a connection has ended.
    enum Outcome: Sendable, Hashable {
        /// The server has ended the stream.
        case streamEnded
        /// The server has answered 204: there is no more to come.
        case noContent
        /// The connection was lost after it had been open.
        case connectionLost
        /// There was no response, or one with a status that is tried again, and the seconds of its `Retry-After`.
        case attemptFailed(retryAfter: Double?)
        /// Another response than one of an event stream, or an error that does not pass.
        case refused
    }

    enum Decision: Sendable, Hashable {
        /// Connect again after so many seconds.
        case reconnect(after: Double)
        /// The sequence ends.
        case finish
        /// The sequence fails with the connection's error.
        case fail
    }

    private let options: ReconnectionOptions
    private let isEnabled: Bool
    /// Seconds.
    private var reconnectionTime: Double
    private var failures = 0

    init(_ options: ReconnectionOptions, method: String) {
        self.options = options
        isEnabled = options.isEnabled ?? (method == "GET")
        reconnectionTime = options.reconnectionTime
    }

    mutating func connectionDidOpen() { failures = 0 }

    /// The server gives another time.
    mutating func setReconnectionTime(milliseconds: Int) { reconnectionTime = Double(milliseconds) / 1000 }

    /// - Parameter random: from 0 up to 1.
    mutating func decide(after outcome: Outcome, random: Double) -> Decision {
        switch outcome {
        case .noContent: return .finish
        case .refused: return .fail
        case .streamEnded: return isEnabled ? .reconnect(after: time(0, random)) : .finish
        case .connectionLost:
            guard isEnabled else { return .fail }
            return countFailure(nil, random)
        case .attemptFailed(let retryAfter):
            guard isEnabled else { return .fail }
            return countFailure(retryAfter, random)
        }
    }

    private mutating func countFailure(_ retryAfter: Double?, _ random: Double) -> Decision {
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
