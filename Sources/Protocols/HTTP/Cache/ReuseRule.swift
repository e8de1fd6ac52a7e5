import Foundation

/// Whether a stored response may answer a request that it matches (RFC 9111 §4, §4.2.4, §5.2.1).
enum ReuseRule {
    enum Verdict: Equatable {
        case fresh
        /// It may be used now, and has to be validated behind the answer (RFC 5861 §3).
        case staleWhileRevalidate
        /// Only once the server has said that it is current.
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

    /// Whether it may be used because the server cannot be asked, or answers with an error of its own (RFC 5861 §4).
    static func mayServeOnError(_ freshness: Freshness, _ control: CacheControl, request: CacheControl) -> Bool {
        guard !control.has(.noCache), !control.has(.mustRevalidate), !request.has(.noCache),
            let window = [control.staleIfError, request.staleIfError].compactMap({ $0 }).max()
        else { return false }
        return freshness.staleness <= window
    }

    /// What RFC 5861 §4 calls an error.
    static func isServerError(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
