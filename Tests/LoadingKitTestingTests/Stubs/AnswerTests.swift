import Foundation
import LoadingKit
import LoadingKitTesting
import Testing

@Suite struct AnswerTests {
    @Test func answersComeInOrder() async throws {
        let stubs = StubSet()
        stubs.add(.get("/job"), inOrder: .status(503), .text("busy", status: 202), .text("done"))
        let session = stubs.session()
        var seen: [String] = []
        for _ in 0..<3 {
            let (data, response) = try await session.data(from: url("http://a.test/job"))
            seen.append("\((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))")
        }
        #expect(seen == ["503 ", "202 busy", "200 done"])
        let error = await failure { _ = try await session.data(from: url("http://a.test/job")) }
        #expect((error as? UnexpectedRequestError)?.description.contains("all of its answers were used (3)") == true)
    }

    @Test func aLaterStubTakesOverWhereAnEarlierIsUsedUp() async throws {
        let stubs = StubSet()
        stubs.add(.get("/x"), times: 2, .text("a"))
        stubs.add(.get("/x"), answers: .inOrder(.text("b")).then(.always(.text("c"))))
        let session = stubs.session()
        var seen = ""
        for _ in 0..<5 {
            seen += String(decoding: try await session.data(from: url("http://a.test/x")).0, as: UTF8.self)
        }
        #expect(seen == "aabcc")
        #expect(throws: Never.self) { try stubs.verify() }
    }

    @Test func countsThatAddUpToMoreThanAnInteger() {
        let stubs = StubSet()
        stubs.add(.get("/x"), answers: .times(.max, .text("a")).then(.always(.text("b"))))
        #expect(stubs.unused.map(\.required) == [.max])
    }

    @Test func theResponseIsAsHTTPHasIt() async throws {
        struct User: Codable, Sendable { var name = "Ann" }
        let stubs = StubSet()
        stubs.add(
            .method("GET", "HEAD"), .path("/user"),
            always: .json(User(), status: 201).adding("X-A", "1").adding("x-a", "2"))
        stubs.add(.path("/none"), always: StubResponse(204, body: .data(Data("x".utf8))))
        let session = stubs.session()
        let (data, response) = try await session.data(from: url("https://a.test/user"))
        let head = try #require(response as? HTTPURLResponse)
        #expect(data == Data(#"{"name":"Ann"}"#.utf8))
        #expect(head.statusCode == 201)
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "14")
        #expect(head.value(forHTTPHeaderField: "X-A") == "1, 2")
        #expect(head.mimeType == "application/json")
        #expect(head.expectedContentLength == 14)
        let (nothing, same) = try await session.data(for: request("https://a.test/user", method: "HEAD"))
        #expect(nothing.isEmpty)
        #expect((same as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") == "14")
        let (none, empty) = try await session.data(from: url("https://a.test/none"))
        #expect(none.isEmpty)
        #expect((empty as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") == nil)
    }

    @Test func aCodedBodyHasNoExpectedLength() async throws {
        let stubs = StubSet()
        stubs.add(always: .text("plain").adding("Content-Encoding", "gzip"))
        let (data, response) = try await stubs.session().data(from: url("http://a.test/"))
        #expect(data == Data("plain".utf8))
        #expect(response.expectedContentLength == -1)
    }

    static let redirects: [(Int, String, String, String)] = [
        (301, "GET", "GET", ""), (301, "POST", "GET", ""), (302, "POST", "GET", ""), (302, "PUT", "PUT", "body"),
        (303, "PUT", "GET", ""), (307, "POST", "POST", "body"), (308, "POST", "POST", "body"),
    ]

    @Test(arguments: redirects)
    func redirectsAreFollowed(_ status: Int, _ method: String, _ next: String, _ body: String) async throws {
        let stubs = StubSet()
        stubs.add(.path("/a"), always: .redirect(to: "../b?x=%2F 1", status: status))
        stubs.add(.path("/b"), always: .text("there"))
        let sent = request(
            "http://a.test/a", method: method, fields: ["Content-Type": "text/plain", "Authorization": "Basic eA=="],
            body: method == "GET" ? nil : "body")
        let (data, response) = try await stubs.session().data(for: sent)
        #expect(data == Data("there".utf8))
        #expect(response.url == url("http://a.test/b?x=%2F%201"))
        let last = try #require(stubs.requests.last)
        #expect(last.method == next)
        #expect(last.text == body)
        #expect((last.value(forField: "Content-Type") == nil) == (body.isEmpty && method != "GET"))
        #expect(last.value(forField: "Authorization") == "Basic eA==")
    }

    @Test func aRedirectElsewhereHasNoCredentials() async throws {
        let stubs = StubSet()
        stubs.add(.host("a.test"), always: .redirect(to: "http://b.test/"))
        stubs.add(.host("b.test"), .noField("Authorization"), always: .text("there"))
        let sent = request("http://a.test/a", fields: ["Authorization": "Basic eA=="])
        #expect(try await stubs.session().data(for: sent).0 == Data("there".utf8))
    }

    @Test func redirectsEndSomewhere() async throws {
        let stubs = StubSet()
        stubs.add(always: .redirect(to: "/again"))
        let error = await failure { _ = try await stubs.session().data(from: url("http://a.test/")) }
        #expect((error as? URLError)?.code == .httpTooManyRedirects)
        #expect(stubs.requests.count == 21)
    }

    @Test func aDelegateMayDeclineARedirect() async throws {
        final class Delegate: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) { completionHandler(nil) }
        }
        let stubs = StubSet()
        stubs.add(always: .redirect(to: "/again", status: 307))
        let (_, response) = try await stubs.session().data(from: url("http://a.test/"), delegate: Delegate())
        #expect((response as? HTTPURLResponse)?.statusCode == 307)
    }

    @Test func filesAreRead() async throws {
        let folder = try TemporaryFolder()
        let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0) })
        try content.write(to: folder.file("x.bin"))
        let stubs = StubSet()
        stubs.add(.path("/x"), always: .file(folder.file("x.bin"), type: "image/png"))
        stubs.add(.path("/y"), always: .file(folder.file("missing")))
        let session = stubs.session()
        let (data, response) = try await session.data(from: url("http://a.test/x"))
        #expect(data == content)
        #expect(response.mimeType == "image/png")
        #expect(response.expectedContentLength == 700_000)
        let error = await failure { _ = try await session.data(from: url("http://a.test/y")) }
        #expect((error as? StubAnswerError)?.description.contains("missing") == true)
    }

    @Test func streamsArePassedPieceByPiece() async throws {
        let stubs = StubSet()
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        stubs.add(always: StubResponse(body: .stream { stream }))
        let (bytes, _) = try await stubs.session().bytes(from: url("http://a.test/"))
        var iterator = bytes.makeAsyncIterator()
        continuation.yield(Data("a".utf8))
        #expect(try await iterator.next() == UInt8(ascii: "a"))
        continuation.yield(Data("b".utf8))
        #expect(try await iterator.next() == UInt8(ascii: "b"))
        continuation.finish(throwing: CocoaError(.fileReadCorruptFile))
        let error = await failure { _ = try await iterator.next() }
        #expect(error is CocoaError)
    }

    @Test func computedResponsesSeeTheRequest() async throws {
        let stubs = StubSet()
        stubs.add(.post("/sum")) { request in
            let numbers = try request.decoded(as: [Int].self)
            return .json(.integer(Int64(numbers.reduce(0, +))))
        }
        stubs.add(.path("/loop"), always: loop())
        let session = stubs.session()
        let (data, _) = try await session.data(for: request("http://a.test/sum", method: "POST", body: "[1,2,3]"))
        #expect(data == Data("6".utf8))
        let wrong = await failure {
            _ = try await session.data(for: request("http://a.test/sum", method: "POST", body: "x"))
        }
        #expect(wrong is DecodingError)
        #expect(await failure { _ = try await session.data(from: url("http://a.test/loop")) } is StubAnswerError)
    }

    private func loop() -> StubResponse { .computed { _ in loop() } }

    @Test func downloadsAndCompletionHandlersWork() async throws {
        let stubs = StubSet()
        stubs.add(always: .text("content"))
        let session = stubs.session()
        let (file, _) = try await session.download(from: url("http://a.test/x.txt"))
        #expect(try Data(contentsOf: file) == Data("content".utf8))
        try? FileManager.default.removeItem(at: file)
        let data = await withCheckedContinuation { continuation in
            session.dataTask(with: url("http://a.test/")) { data, _, _ in continuation.resume(returning: data) }
                .resume()
        }
        #expect(data == Data("content".utf8))
    }
}
