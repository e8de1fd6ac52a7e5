import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// What is to be done about a request, by what is stored for it. Pure.
enum CacheVerdict {
    /// Answer with what is stored; perhaps it is validated behind the answer.
    case serve(StoredAnswer, revalidates: StoredResponse?)
    /// Ask the server whether what is stored is current; it may also be what answers when the server cannot.
    case validate(StoredResponse)
    /// What is stored is the beginning of the answer: ask the server for the rest.
    case complete(Completion)
    /// Ask the server, as if nothing were stored.
    case load
    /// `only-if-cached`, and nothing is (RFC 9111 §5.2.1.7): 504.
    case gatewayTimeout
    /// The policy forbids to ask the server.
    case unavailable

    /// - Parameter chosen: what is stored for the request, if anything.
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

    private static func byRules(_ query: CacheQuery, _ stored: StoredResponse, _ now: Date) -> CacheVerdict {
        let freshness = stored.freshness(now: now)
        var verdict = ReuseRule.verdict(freshness, stored.control, request: query.control)
        if query.policy == .reloadRevalidatingCacheData, !(freshness.isFresh && stored.control.has(.immutable)) {
            verdict = .validate  // RFC 8246 §2: what is immutable and fresh needs no validation even then
        }
        // The program's own conditions are the server's to judge once what is stored cannot be used as it is.
        if verdict == .validate, RequestConditions.areConditional(query.fields) { return .load }
        guard let answer = answer(query, stored, now) else { return rest(query, stored) }
        switch verdict {
        case .fresh: return .serve(answer, revalidates: nil)
        case .staleWhileRevalidate: return .serve(answer, revalidates: stored)
        case .validate: return .validate(stored)
        }
    }

    private static func rest(_ query: CacheQuery, _ stored: StoredResponse) -> CacheVerdict {
        Completion(query, stored).map { .complete($0) } ?? .load
    }

    private static func answer(_ query: CacheQuery, _ stored: StoredResponse, _ now: Date) -> StoredAnswer? {
        StoredAnswer(stored, to: query, now: now, isValidated: false)
    }
}
