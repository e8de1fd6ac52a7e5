import Foundation
import LoadingKit

/// The requests that are retried, the failures that cause a retry, and the number and the times of the retries.
public struct RetryPolicy: Sendable {
    /// The largest number of attempts, including the first. 1 means no retry. Default 3.
    public var maximumAttempts = 3
    /// The methods whose requests are retried: the idempotent ones (RFC 9110 §9.2.2).
    public var methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
    /// Whether a request with any other method is retried where it has the field `Idempotency-Key`. Default true.
    public var retriesWithIdempotencyKey = true
    /// Returns whether a request with any other method may be sent twice. Nil, the default: none may.
    public var mayRepeat: (@Sendable (URLRequest) -> Bool)?
    /// The statuses after which a request is retried. Default 408, 425, 429, 500, 502, 503, 504.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The codes of the `URLError`s after which a request is retried. Default ``defaultErrorCodes``.
    public var errorCodes = RetryPolicy.defaultErrorCodes
    /// The waits between attempts, where the server does not specify one.
    public var backoff = Backoff()
    /// The longest permitted wait of a `Retry-After`, in seconds. Default 30.
    ///
    /// The session's `timeoutIntervalForRequest` (60 seconds unless set) runs while an interceptor waits.
    public var maximumRetryAfter: TimeInterval = 30
    /// The action where a `Retry-After` requires a longer wait. Default ``BeyondMaximum/delivers``.
    public var beyondMaximumRetryAfter = BeyondMaximum.delivers
    /// Whether `Retry-After` is respected. Default true.
    public var heedsRetryAfter = true
    /// The longest time until an attempt has its response's head, in seconds. Nil, the default: no limit.
    public var attemptTimeout: TimeInterval?
    /// The longest time for all attempts and waits, up to the response's head, in seconds. Nil, the default: no limit.
    ///
    /// A wait that would end later is not started.
    public var totalTimeout: TimeInterval?
    /// The budget for the session's retries. Nil: no limit.
    public var budget: RetryBudget? = RetryBudget()
    /// Makes a new body stream for a request. Nil, the default: a request with a stream is not retried.
    public var makeBodyStream: (@Sendable (URLRequest) -> InputStream?)?
    /// Whether the response is held back until the first bytes of its body have arrived, and retried when they do not
    /// arrive. Default false: a response is delivered after its head.
    public var waitsForFirstBytes = false
    /// The number of bytes of a failed attempt's body that are read so that its connection can be reused. Default
    /// 64 KiB.
    public var maximumDiscardedBytes = 64 << 10

    /// The action where a server requires a longer wait than permitted.
    public enum BeyondMaximum: Sendable, Hashable {
        /// The response is delivered.
        case delivers
        /// The request is retried after the longest permitted wait.
        case waitsForMaximum
    }

    /// Makes a policy with the defaults.
    public init() {}

    /// Failures of the network, which may be temporary. Failures that a retry cannot change (a bad URL, a certificate,
    /// a cancellation, a response that is too long) are not included.
    public static let defaultErrorCodes: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet, .secureConnectionFailed, .badServerResponse, .cannotParseResponse,
        .cannotLoadFromNetwork, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    /// Whether sending a request twice has the same effect as sending it once.
    public func mayRepeat(_ request: URLRequest) -> Bool {
        methods.contains(request.httpMethod ?? "GET")
            || retriesWithIdempotencyKey && request.value(forHTTPHeaderField: "Idempotency-Key") != nil
            || mayRepeat?(request) == true
    }

    /// Whether a request's body can be sent again: data and files can, a stream only with ``makeBodyStream``.
    func canSendBodyAgain(_ request: URLRequest) -> Bool { request.httpBodyStream == nil || makeBodyStream != nil }
}
