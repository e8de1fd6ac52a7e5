import Foundation
import LoadingKit
import LoadingKitPrimitives
import TestSupport
import Testing

/// A program's own handler gets the session's `httpAdditionalHeaders`, as mocks match on them.
@Suite struct SessionFieldsTests {
    static let asked = Recorder<String?>()

    /// Answers with the fields of its request, and redirects from one host to another.
    private final class Mock: URLProtocol, @unchecked Sendable {  // no state
        override class func canInit(with request: URLRequest) -> Bool {
            guard request.url?.host?.hasSuffix(".mock.test") == true else { return false }
            asked.append(request.value(forHTTPHeaderField: "X-Session"))
            return request.value(forHTTPHeaderField: "X-Session") != nil
        }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {
            guard let url = request.url else { return }
            if url.host == "from.mock.test", let target = URL(string: "https://to.mock.test/") {
                var next = request
                next.url = target
                let response = HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: nil, headerFields: ["Location": target.absoluteString])
                if let response { client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response) }
                return
            }
            let names = ["X-Session", "X-Own", "Authorization"]
            let fields = names.map { "\($0)=\(request.value(forHTTPHeaderField: $0) ?? "-")" }
            if let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil) {
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            }
            client?.urlProtocol(self, didLoad: Data(fields.joined(separator: " ").utf8))
            client?.urlProtocolDidFinishLoading(self)
        }
        override func stopLoading() {}
    }

    @Test(
        arguments: [
            ("https://one.mock.test/", "X-Session=session X-Own=own Authorization=Bearer 1"),
            // Credentials do not cross to another origin; other fields do.
            ("https://from.mock.test/", "X-Session=session X-Own=own Authorization=-"),
        ])
    func aHandlerGetsThem(url: String, expected: String) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Mock.self]
        configuration.httpAdditionalHeaders = [
            "X-Session": "session", "X-Own": "session", "Authorization": "Bearer 1",
        ]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue("own", forHTTPHeaderField: "X-Own")
        try await withTimeout { [request] in
            let (data, _) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == expected)
            // What the program asks of its task stays what it has set.
            let task = session.dataTask(with: request)
            #expect(task.currentRequest?.value(forHTTPHeaderField: "X-Session") == nil)
        }
        #expect(!Self.asked.snapshot.isEmpty && Self.asked.snapshot.allSatisfy { $0 == "session" })
    }

    /// Different keys may have the same text.
    @Test func keysOfTheSameText() throws {
        let configuration = URLSessionConfiguration.ephemeral
        let keys: [AnyHashable: Any] = ["1": "b", 1: "a", "2": "c"]
        configuration.httpAdditionalHeaders = keys
        #expect(configuration.httpAdditionalHeaders as? [String: String] == ["1": "a", "2": "c"])
        configuration.httpAdditionalHeaders?["3"] = "d"
        #expect(configuration.httpAdditionalHeaders?.count == 3)
    }

    /// A factory's handler, whatever the scheme's origin has of the session's credentials: none for schemes of its own.
    @Test func aFactoryGetsThemForHTTP() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Session": "session"]
        for scheme in ["http", "own"] {
            configuration.register(
                scheme: scheme,
                loading: { load in
                    try await load.receive(
                        URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                    try await load.receive(Data((load.request.value(forHTTPHeaderField: "X-Session") ?? "none").utf8))
                })
        }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for (url, expected) in [("http://localhost/", "session"), ("own://localhost/", "none")] {
                let (data, _) = try await session.data(from: try #require(URL(string: url)))
                #expect(String(decoding: data, as: UTF8.self) == expected)
            }
        }
    }
}
