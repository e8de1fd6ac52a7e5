import Foundation
import Testing

@testable import LoadingKitCore

/// Whose policy holds where both the session and the request have one: the stricter.
@Suite struct StricterSessionTests {
    private func request(_ change: (inout URLRequest) -> Void) -> URLRequest {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        change(&request)
        return request
    }

    @Test func timeouts() {
        let cases: [(session: TimeInterval, own: TimeInterval?, expected: TimeInterval)] = [
            (60, nil, 60), (10, nil, 10), (0, nil, 0), (10, 5, 5), (10, 30, 10), (10, 0, 10), (0, 30, 30),
            // What nobody has set limits nothing.
            (60, 300, 300), (60, 5, 5), (90, 300, 90), (.infinity, 300, 300),
        ]
        for (session, own, expected) in cases {
            var settings = SessionSettings()
            settings.timeoutIntervalForRequest = session
            let request = request { if let own { $0.timeoutInterval = own } }
            #expect(settings.idleTimeout(of: request) == expected, "\(session) \(own ?? -1)")
        }
    }

    @Test func cachePolicies() {
        // From the one that forbids least.
        let order: [URLRequest.CachePolicy] = [
            .reloadRevalidatingCacheData, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .returnCacheDataDontLoad,
        ]
        func chosen(_ session: URLRequest.CachePolicy, _ own: URLRequest.CachePolicy) -> URLRequest.CachePolicy {
            var settings = SessionSettings()
            settings.requestCachePolicy = session
            return settings.cachePolicy(of: request { $0.cachePolicy = own })
        }
        for (place, policy) in order.enumerated() {
            for (other, own) in order.enumerated() { #expect(chosen(policy, own) == order[max(place, other)]) }
            #expect(chosen(policy, .useProtocolCachePolicy) == policy)
            #expect(chosen(.useProtocolCachePolicy, policy) == policy)
            #expect(chosen(policy, .returnCacheDataElseLoad) == policy)
            #expect(chosen(.returnCacheDataElseLoad, policy) == policy)
        }
        #expect(chosen(.useProtocolCachePolicy, .returnCacheDataElseLoad) == .returnCacheDataElseLoad)
    }
}
