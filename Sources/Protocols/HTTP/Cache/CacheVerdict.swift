import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// How a request is answered, given the response that is stored for it. Pure.
enum CacheVerdict {
    /// `revalidates` is then validated in the background.
    case serve(StoredAnswer, revalidates: StoredResponse?)
    /// The stored response may also be the answer if the server fails.
    case validate(StoredResponse)
    case complete(PartialResponse)
    case load
    /// The request has `only-if-cached`, and no stored response can answer it: 504 (RFC 9111 §5.2.1.7).
    case gatewayTimeout
    /// No stored response can answer, and the policy forbids a request to the server.
    case unavailable

    /// - Parameter chosen: the stored response for the request, if there is one.
    init(_ query: CacheQuery, _ chosen: StoredResponse?, now: Date) {
        switch query.policy {
        case .returnCacheDataElseLoad:
            self =
                chosen.flatMap { Self.answer(query, $0, now) }.map { .serve($0, revalidates: nil) }
                ?? chosen.map { Self.rest(query, $0) } ?? .load
        case .returnCacheDataDontLoad:
            self = chosen.flatMap { Self.answer(query, $0, now) }.map { .serve($0, revalidates: nil) } ?? .unavailable
        case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .reloadRevalidatingCacheData:
            let verdict = chosen.map { Self.byRules(query, $0, now) } ?? .load
            if case .serve = verdict {
                self = verdict
            } else {
                self = query.control.has(.onlyIfCached) ? .gatewayTimeout : verdict
            }
        }
    }

    /// The decision for readers.
    ///
    /// - Parameter missing: why there is no stored response; nil where there is one.
    func decision(_ query: CacheQuery, missing: CacheDecision?) -> CacheDecision {
        switch self {
        case .serve(_, revalidates: .some): .staleWhileRevalidate
        case .serve: query.usesStaleResponses ? .anyAge : .fresh
        case .validate: .needsValidation
        case .complete: .completesPart
        case .load: missing ?? .needsValidation
        case .gatewayTimeout, .unavailable: .unavailable
        }
    }

    private static func byRules(_ query: CacheQuery, _ stored: StoredResponse, _ now: Date) -> CacheVerdict {
        let freshness = stored.freshness(now: now)
        var verdict = ReuseRule.verdict(freshness, stored.control, request: query.control)
        if query.policy == .reloadRevalidatingCacheData, !(freshness.isFresh && stored.control.has(.immutable)) {
            verdict = .validate  // RFC 8246 §2: a fresh and immutable response needs no validation here
        }
        // The server evaluates the program's own conditions if the stored response cannot be used without validation.
        if verdict == .validate, RequestConditions.isConditional(query.fields) { return .load }
        guard let answer = answer(query, stored, now) else { return rest(query, stored) }
        switch verdict {
        case .fresh: return .serve(answer, revalidates: nil)
        case .staleWhileRevalidate: return .serve(answer, revalidates: stored)
        case .validate: return .validate(stored)
        }
    }

    private static func rest(_ query: CacheQuery, _ stored: StoredResponse) -> CacheVerdict {
        PartialResponse(query, stored).map { .complete($0) } ?? .load
    }

    private static func answer(_ query: CacheQuery, _ stored: StoredResponse, _ now: Date) -> StoredAnswer? {
        StoredAnswer(stored, to: query, now: now, isValidated: false)
    }
}

final class CacheQuery: Sendable {
    let method: String
    let url: URL
    let policy: URLRequest.CachePolicy
    let control: CacheControl
    /// The fields that the program set.
    let fields: HTTPFields
    /// Some servers use the body of a GET, though it has no defined meaning (RFC 9110 §9.3.1).
    let hasBody: Bool

    init(_ request: URLRequest, url: URL, policy: URLRequest.CachePolicy) {
        method = request.httpMethod ?? "GET"
        self.url = url
        self.policy = policy
        fields = request.fields
        hasBody = request.hasBody
        control = CacheControl(ofRequest: fields)
    }

    /// The reason why no stored response may answer (RFC 9111 §4); nil where one may.
    var lookUpExclusion: CacheDecision? {
        guard method == "GET" || method == "HEAD", !hasBody else { return .notLookedUp }
        return switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: .lookUpExcluded
        case .useProtocolCachePolicy, .reloadRevalidatingCacheData: control.has(.noStore) ? .lookUpExcluded : nil
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: nil
        }
    }

    /// Whether stored responses answer at any age.
    var usesStaleResponses: Bool { policy == .returnCacheDataElseLoad || policy == .returnCacheDataDontLoad }
}

extension URLRequest.CachePolicy {
    /// The directives that the policy adds for caches between client and server, unless the program set its own.
    func directives(for fields: HTTPFields) -> HTTPFields {
        var extra = HTTPFields()
        switch self {
        case .reloadIgnoringLocalAndRemoteCacheData:
            guard !fields.contains(.cacheControl) else { break }
            extra.append(.cacheControl, "no-cache")
            if !fields.contains(.pragma) { extra.append(.pragma, "no-cache") }
        case .reloadRevalidatingCacheData:
            guard !fields.contains(.cacheControl) else { break }
            extra.append(.cacheControl, "max-age=0")
        case .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
            .returnCacheDataDontLoad:
            break
        }
        return extra
    }
}

/// Whether a stored response may answer a request that it matches (RFC 9111 §4, §4.2.4, §5.2.1).
enum ReuseRule {
    enum Verdict: Equatable {
        case fresh
        /// The response is then validated in the background (RFC 5861 §3).
        case staleWhileRevalidate
        /// The response may be used only once the server has validated it.
        case validate
    }

    static func verdict(_ freshness: Freshness, _ control: CacheControl, request: CacheControl) -> Verdict {
        if control.has(.noCache) || request.has(.noCache) { return .validate }
        let lifetime = min(freshness.lifetime, request.maxAge ?? .infinity)
        if lifetime > freshness.age, lifetime - freshness.age >= request.minFresh ?? 0 { return .fresh }
        guard !control.has(.mustRevalidate), request.minFresh == nil else { return .validate }
        let staleness = max(0, freshness.age - lifetime)
        if let maxStale = request.maxStale, staleness <= maxStale { return .fresh }
        if let window = control.staleWhileRevalidate, request.maxAge == nil, staleness <= window {
            return .staleWhileRevalidate
        }
        return .validate
    }

    /// When the server cannot be reached or responds with an error (RFC 5861 §4).
    static func mayServeOnError(_ freshness: Freshness, _ control: CacheControl, request: CacheControl) -> Bool {
        guard !control.has(.noCache), !control.has(.mustRevalidate), !request.has(.noCache),
            let window = [control.staleIfError, request.staleIfError].compactMap({ $0 }).max()
        else { return false }
        return freshness.staleness <= window
    }

    /// Whether the status counts as an error by RFC 5861 §4.
    static func isServerError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
