import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Testing

/// Fields that have an order, and may be repeated.
@Suite(.timeLimit(.minutes(5))) struct HeaderFieldTests {
    @Test(arguments: [false, true])
    func fieldsGoOutAndComeAsTheyAre(_ speaksHTTP2: Bool) async throws {
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = speaksHTTP2
        let server = try LoopbackServer(options) { _ in
            ServerResponse.text("x").adding("X-b", "1").adding(
                "Set-Cookie", "a=b; Expires=Wed, 21 Oct 2037 07:28:00 GMT"
            )
            .adding("X-A", "2").adding("Set-Cookie", "c=d").adding("x-B", "3")
        }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.assumesCleartextHTTP2 = speaksHTTP2
        var request = URLRequest(url: try #require(URL(string: server.url("/"))))
        request.headerFields = [
            ("X-b", "1"), ("X-A", "2"), ("", "none"), ("x-B", "3"), ("Content-Length", "7"), ("X-Empty", ""),
        ]
        let (_, answer) = try await URLSession(configuration: configuration).data(for: request)
        let response = try #require(answer as? HTTPURLResponse)
        func own(_ fields: [(name: String, value: String)]) -> [String] {
            fields.filter { ["x-", "se"].contains($0.name.lowercased().prefix(2)) }.map {
                "\(speaksHTTP2 ? $0.name.lowercased() : $0.name): \($0.value)"
            }
        }
        func names(_ names: String...) -> [String] { speaksHTTP2 ? names.map { $0.lowercased() } : names }
        let sent = try #require(server.requests.snapshot.first).fields.map { (name: $0.name, value: $0.value) }
        let expected = zip(names("X-b", "X-A", "x-B", "X-Empty"), ["1", "2", "3", ""]).map { "\($0): \($1)" }
        #expect(own(sent) == expected)
        #expect(!sent.contains { $0.name.lowercased() == "content-length" })
        #expect(
            own(response.headerFields)
                == zip(
                    names("X-b", "Set-Cookie", "X-A", "Set-Cookie", "x-B"),
                    ["1", "a=b; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "2", "c=d", "3"]
                ).map { "\($0): \($1)" })
        // The views that join say the same.
        #expect(response.value(forHTTPHeaderField: "x-b") == "1, 3")
        #expect(request.allHTTPHeaderFields?["X-b"] == "1,3")
    }

    @Test func fieldsOfRequests() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        #expect(request.headerFields.isEmpty && request.allHTTPHeaderFields == nil)
        request.setValue("1", forHTTPHeaderField: "B")
        request.setValue("2", forHTTPHeaderField: "A")
        let copy = request
        request.headerFields.append(("B", "3"))
        #expect(request.headerFields.map { "\($0.name)=\($0.value)" } == ["B=1", "A=2", "B=3"])
        #expect(copy.headerFields.count == 2)
        request.setValue("4", forHTTPHeaderField: "b")
        #expect(request.headerFields.map { "\($0.name)=\($0.value)" } == ["B=4", "A=2"])
        request.headerFields = [("Host", "a"), ("X", "1"), ("host", "b")]
        #expect(request.headerFields.map { "\($0.name)=\($0.value)" } == ["Host=b", "X=1"])
        request.headerFields = []
        #expect(request.headerFields.isEmpty)
    }

    @Test func fieldsOfResponses() throws {
        let url = try #require(URL(string: "http://a.test/"))
        let response = HTTPURLResponse(
            url: url, statusCode: 200,
            headerFields: [
                ("Vary", "A"), ("", "none"), ("vary", "B"), ("Content-Length", "5"), ("Content-Type", "text/css"),
            ])
        #expect(response.headerFields.map(\.name) == ["Vary", "vary", "Content-Length", "Content-Type"])
        #expect(response.expectedContentLength == 5 && response.mimeType == "text/css")
        #expect(response.value(forHTTPHeaderField: "VARY") == "A, B")
        #expect(response.replacingURL(by: url).headerFields.count == 4)
    }
}
