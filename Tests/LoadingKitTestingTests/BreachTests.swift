import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport
import Testing

/// Handlers that break a rule: the checks find which.
@Suite struct BreachTests {
    /// Of Apple's shape, so that it can do anything at any time. The URL's host says what it does.
    private final class Breaker: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "break" }

        override func startLoading() {
            guard let url = request.url, let client else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            let data = Data("body".utf8)
            switch url.host {
            case "no-response": client.urlProtocol(self, didLoad: data)
            case "wrong-length":
                let wrong = URLResponse(url: url, mimeType: nil, expectedContentLength: 7, textEncodingName: nil)
                client.urlProtocol(self, didReceive: wrong, cacheStoragePolicy: .notAllowed)
                client.urlProtocol(self, didLoad: data)
            case "wrong-url":
                let wrong = URLResponse(
                    url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
                client.urlProtocol(self, didReceive: wrong, cacheStoragePolicy: .notAllowed)
            case "after-the-end":
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocolDidFinishLoading(self)
                client.urlProtocol(self, didLoad: data)
            case "two-ends":
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocolDidFinishLoading(self)
                client.urlProtocol(self, didFailWithError: URLError(.unknown))
                return
            case "never-ends":
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                return
            case "changes":
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocol(self, didLoad: Data(UUID().uuidString.utf8))
            case "leaks":
                Self.leaked.append(self)
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client.urlProtocol(self, didLoad: data)
            default: break
            }
            client.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}

        static let leaked = Recorder<Breaker>()
    }

    private final class Greedy: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            var request = request
            request.addValue("1", forHTTPHeaderField: "X-Count")
            return request
        }
        override func load(_ load: LoadContext) async throws {
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        }
    }

    @Test(arguments: [
        ("no-response", 8), ("wrong-length", 9), ("wrong-url", 9), ("after-the-end", 10), ("two-ends", 10),
        ("never-ends", 5), ("changes", 2), ("leaks", 6),
    ])
    func aBreachIsFound(_ breach: String, _ rule: Int) async throws {
        let url = try #require(URL(string: "break://\(breach)"))
        var conformance = HandlerConformance(of: Breaker.self, [.resource(url)])
        conformance.loadsAtOnce = 20
        // What never ends, and what is never let go of, takes as long.
        conformance.timeLimit = ["never-ends": 0.2, "leaks": 2][breach] ?? 30
        let report = await conformance.run()
        #expect(report.findings.contains { $0.rule == rule }, "\(report)")
    }

    @Test func aClassThatTakesWhatIsNotItsOwn() async throws {
        let url = try #require(URL(string: "greedy:a"))
        var conformance = HandlerConformance(of: Greedy.self, [.resource(url)])
        conformance.loadsAtOnce = 20
        let findings = await conformance.run().findings.filter { $0.rule == 1 }
        #expect(Set(findings.map(\.check)).count == 2, "\(findings)")
    }
}
