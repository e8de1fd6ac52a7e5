import Foundation
import LoadingKit

/// Checks of a class's methods, without a load.
extension ConformanceBench {
    func checkClass(_ handler: URLProtocolHandler.Type) {
        for request in conformance.samples.map(\.request) {
            let answers = Set((0..<100).map { _ in handler.canInit(with: request) })
            let asked = ConformanceCheck(self, "canInit(with:) is asked 100 times", request)
            asked.expect(
                1, answers == [true],
                answers == [false] ? "it says that it cannot load it" : "its answers differ for the same request")
            expectBrief(asked, 1, "canInit(with:)") { _ = handler.canInit(with: request) }
            let once = handler.canonicalRequest(for: request)
            let twice = handler.canonicalRequest(for: once)
            let canonical = ConformanceCheck(self, "canonicalRequest(for:) is called with its result", request)
            canonical.expect(
                1, once == twice, "it returns \(twice) for \(once): the canonical form of a canonical request is itself"
            )
            canonical.expect(
                1, answers != [true] || handler.canInit(with: once), "canInit(with:) is false for its result \(once)")
            expectBrief(canonical, 1, "canonicalRequest(for:)") { _ = handler.canonicalRequest(for: request) }
        }
        guard !conformance.isInterceptor else { return }
        let schemes = Set(conformance.samples.compactMap { $0.request.url?.scheme })
        let others = schemes.sorted().map { "\($0)-unclaimed://host/path" }
        for url in (["x-loadingkit-unclaimed://host/path", "x-loadingkit-unclaimed:"] + others).compactMap(URL.init) {
            let request = URLRequest(url: url)
            ConformanceCheck(self, "canInit(with:) is asked about another scheme", request).expect(
                1, !handler.canInit(with: request), "it says that it can load it: compare the whole scheme")
        }
    }
}
