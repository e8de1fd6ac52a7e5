import Foundation
import LoadingKit

/// Which requests are tried again, after which failures, how often, and when.
public struct RetryPolicy: Sendable {
    /// The most attempts, with the first one. 1 is no retry. Default 3.
    public var maximumAttempts = 3
    /// The methods whose requests are tried again: the idempotent ones (RFC 9110 §9.2.2).
    public var methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
    /// Whether a request of another method is tried again where it has the field `Idempotency-Key`. Default true.
    public var retriesWithIdempotencyKey = true
    /// Says of a request of another method that it may be sent twice. Nil, the default: none may.
    public var mayRepeat: (@Sendable (URLRequest) -> Bool)?
    /// The statuses after which a request is tried again. Default 408, 425, 429, 500, 502, 503, 504.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The codes of the `URLError`s after which a request is tried again. Default ``defaultErrorCodes``.
    public var errorCodes = RetryPolicy.defaultErrorCodes
    /// The waits between attempts, where the server does not name one.
    public var backoff = Backoff()
    /// The longest wait that a `Retry-After` may ask for, in seconds. Default 30.
    ///
    /// The session's `timeoutIntervalForRequest` (60 seconds unless set) runs while an interceptor waits.
    public var maximumRetryAfter: TimeInterval = 30
    /// What is done where a `Retry-After` asks for more. Default ``BeyondMaximum/delivers``.
    public var beyondMaximumRetryAfter = BeyondMaximum.delivers
    /// Whether `Retry-After` is heeded at all. Default true.
    public var heedsRetryAfter = true
    /// The longest time until an attempt has its response's head, in seconds. Nil, the default: no limit of its own.
    public var attemptTimeout: TimeInterval?
    /// The longest time for all attempts and waits, up to the response's head, in seconds. Nil, the default: no limit.
    ///
    /// A wait that would end later is not begun.
    public var totalTimeout: TimeInterval?
    /// How many retries the session may make for its requests. Nil is no bound.
    public var budget: RetryBudget? = RetryBudget()
    /// Makes a request's body stream anew. Nil, the default: a request with a stream is not tried again.
    public var makeBodyStream: (@Sendable (URLRequest) -> InputStream?)?
    /// Whether the response is held back until the first bytes of its body are there, and tried again when they do not come.
    /// Default false: a response whose head is there is delivered.
    public var waitsForFirstBytes = false
    /// How much of a failed attempt's body is read so that its connection can be used again, in bytes. Default 64 KiB.
    public var maximumDiscardedBytes = 64 << 10

    /// What is done where a server asks for a longer wait than is allowed.
    public enum BeyondMaximum: Sendable, Hashable {
        /// Its response is delivered.
        case delivers
        /// The request is tried again after the longest wait that is allowed.
        case waitsForMaximum
    }

    /// A policy with the defaults.
    public init() {}

    /// Failures of the network, which may be over soon. Those that a retry cannot change (a bad URL, a certificate, a
    /// cancellation, a response that is too long) are not among them.
    public static let defaultErrorCodes: Set<URLError.Code> = [
        .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
        .notConnectedToInternet, .secureConnectionFailed, .badServerResponse, .cannotParseResponse,
        .cannotLoadFromNetwork, .internationalRoamingOff, .callIsActive, .dataNotAllowed,
    ]

    /// Whether sending a request twice does what sending it once does.
    public func mayRepeat(_ request: URLRequest) -> Bool {
        methods.contains(request.httpMethod ?? "GET")
            || retriesWithIdempotencyKey && request.value(forHTTPHeaderField: "Idempotency-Key") != nil
            || mayRepeat?(request) == true
    }

    /// Whether a request's body can be sent again: data and files can, a stream only where it is made anew.
    func canSendBodyAgain(_ request: URLRequest) -> Bool { request.httpBodyStream == nil || makeBodyStream != nil }
}
