import Foundation
import LoadingKit

/// Checks of a class's methods, without a load.
extension ConformanceBench {
    func checkClass(_ handler: URLProtocolHandler.Type) {
        for sample in conformance.samples {
            let request = sample.request
            let answers = Set((0..<100).map { _ in handler.canInit(with: request) })
            note(
                1, "canInit(with:) is asked 100 times", request.url,
                answers == [true] ? nil : answers == [false] ? "it says that it cannot load it" : "its answers differ")
            let once = handler.canonicalRequest(for: request)
            let twice = handler.canonicalRequest(for: once)
            note(
                1, "canonicalRequest(for:) is called with what it gave", request.url,
                once == twice ? nil : "it gives \(twice) for \(once)")
        }
        guard !conformance.isInterceptor else { return }
        for text in ["x-loadingkit-unclaimed://host/path", "x-loadingkit-unclaimed:"] {
            guard let url = URL(string: text) else { continue }
            note(
                1, "canInit(with:) is asked about another scheme", url,
                handler.canInit(with: URLRequest(url: url)) ? "it says that it can load it" : nil)
        }
    }
}
