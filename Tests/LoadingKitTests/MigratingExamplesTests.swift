import Foundation
import LoadingKit
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// What the examples of `Migrating.md` do; `SnippetTests` compiles them as they stand.
@Suite struct MigratingExamplesTests {
    private func allowing() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.appTransportSecurity.allowsArbitraryLoads = true
        return configuration
    }

    private func loading(_ url: URL) async throws -> (String, XMLParser) {
        let (data, _) = try await URLSession.shared.data(from: url)
        let text = String(decoding: data, as: UTF8.self)
        let parser = XMLParser(data: data)
        return (text, parser)
    }

    final class Interceptor: URLProtocol, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "mine" }
        override func startLoading() { client?.urlProtocolDidFinishLoading(self) }
        override func stopLoading() {}
    }

    final class GreetingHandler: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }
        override func load(_ load: LoadContext) async throws {
            try await load.receive(
                URLResponse(
                    url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: "utf-8"))
            try await load.receive(Data("hello".utf8))
        }
    }

    @Test func theyDoWhatIsSaid() async throws {
        let request = URLRequest(url: try #require(URL(string: "greeting://anyone")))
        #expect(allowing().appTransportSecurity.allowsArbitraryLoads)
        let (text, parser) = try await loading(try #require(URL(string: "data:text/xml,<a/>")))
        #expect(text == "<a/>" && parser.parse())
        #expect(Interceptor.canInit(with: URLRequest(url: try #require(URL(string: "mine://host/")))))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [GreetingHandler.self]
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        let greeting = try await session.data(for: request).0
        #expect(greeting == Data("hello".utf8))
        // The error differs where the program links FoundationNetworking, as this one does for the tests side by side.
        let foreign = try #require(URL(string: "greeting://anyone"))
        #expect(throws: (any Error).self) { try Data(contentsOf: foreign) }
    }
}
