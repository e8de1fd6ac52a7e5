import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import Testing

@Suite struct RequestTests {
    @Test func uploadsAreReadWhateverTheyCameFrom() async throws {
        let folder = try TemporaryFolder()
        let content = Data(repeating: UInt8(ascii: "x"), count: 300_000)
        try content.write(to: folder.file("up"))
        let stubs = StubSet()
        stubs.add(.post("/up"), .body(content), always: .status(201))
        let session = stubs.session()
        let post = request("http://a.test/up", method: "POST")
        #expect(status(try await session.upload(for: post, from: content).1) == 201)
        #expect(status(try await session.upload(for: post, fromFile: folder.file("up")).1) == 201)
        var streamed = post
        streamed.httpBodyStream = InputStream(data: content)
        #expect(status(try await session.data(for: streamed).1) == 201)
        var inRequest = post
        inRequest.httpBody = content
        #expect(status(try await session.data(for: inRequest).1) == 201)
        #expect(stubs.requests.map(\.body.count) == [300_000, 300_000, 300_000, 300_000])
    }

    private func status(_ response: URLResponse) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }

    @Test func progressOfUploadsIsTold() async throws {
        final class Delegate: NSObject, URLSessionTaskDelegate {
            let texts = Texts()
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
                totalBytesExpectedToSend: Int64
            ) { texts.append("\(totalBytesSent)/\(totalBytesExpectedToSend)") }
        }
        let stubs = StubSet()
        stubs.add(always: .status(200))
        let delegate = Delegate()
        _ = try await stubs.session().upload(
            for: request("http://a.test/", method: "PUT"), from: Data(count: 10), delegate: delegate)
        #expect(delegate.texts.all.last == "10/10")
    }

    @Test func aBodyThatIsTooLongFails() async throws {
        var options = StubSet.Options()
        options.maximumBodySize = 10
        let stubs = StubSet(options: options)
        stubs.add(always: .status(200))
        let session = stubs.session()
        _ = try await session.data(for: request("http://a.test/", method: "PUT", body: "0123456789"))
        let error = await failure {
            _ = try await session.data(for: request("http://a.test/", method: "PUT", body: "0123456789a"))
        }
        #expect((error as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test func aStreamThatFailsFailsTheLoad() async throws {
        let stubs = StubSet()
        stubs.add(always: .status(200))
        var streamed = request("http://a.test/", method: "PUT")
        streamed.httpBodyStream = InputStream(fileAtPath: "/nowhere/at/all")
        let error = await failure { _ = try await stubs.session().data(for: streamed) }
        #expect((error as? URLError)?.code == .requestBodyStreamExhausted)
    }

    @Test func anUnexpectedRequestTellsTheDifference() async throws {
        let texts = Texts()
        let stubs = StubSet { texts.append($0) }
        stubs.add(.get("https://a.test/other"), always: .status(200))
        stubs.add(
            .post("https://a.test/users"), .field("Accept", "application/json"), .body(json: ["name": "Ann"]),
            name: "create user", always: .status(201))
        let error = await failure {
            _ = try await stubs.session().data(
                for: request("https://a.test/users", method: "POST", body: #"{"name":"Bob"}"#))
        }
        let expected = """
            Unexpected request: POST https://a.test/users
              Nearest stub: create user
              field Accept
                  - application/json
                  + (absent)
              body at $.name
                  - "Ann"
                  + "Bob"
            """
        #expect((error as? UnexpectedRequestError)?.description == expected)
        #expect(error?.localizedDescription == expected)
        #expect(texts.all == [expected])
        #expect(stubs.requests.map(\.outcome) == [.unexpected(expected)])
        let verification = #expect(throws: StubVerificationError.self) { try stubs.verify() }
        #expect(
            verification?.description
                == "2 stubs were not used:\n  GET, URL https://a.test/other: never used\n  create user: never used\n"
                + "1 request was unexpected:\n"
                + expected.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
    }

    @Test func whatWasUsedLessIsTold() async throws {
        let stubs = StubSet()
        stubs.add(.get("/a"), times: 3, .status(200))
        stubs.add(.get("/b"), always: .status(200))
        let session = stubs.session()
        for path in ["a", "b", "a"] { _ = try await session.data(from: url("http://a.test/\(path)")) }
        #expect(stubs.unused.map(\.description) == ["GET, URL /a: used 2 of 3 times"])
        #expect(stubs.requests(matching: .get("/a")).count == 2)
        stubs.removeAll()
        #expect(throws: Never.self) { try stubs.verify() }
        #expect(stubs.requests.isEmpty)
    }

    @Test func withoutStubsTheErrorSaysSo() async throws {
        let error = await failure { _ = try await StubSet().session().data(from: url("http://a.test/")) }
        #expect(error?.localizedDescription == "Unexpected request: GET http://a.test/\n  There is no stub.")
    }

    @Test func requestsArePassedOnWhereThatIsWanted() async throws {
        let server = try LoopbackServer { .text("real \($0.method) \($0.bodyText)") }
        defer { server.stop() }
        var options = StubSet.Options()
        options.passesOnUnmatched = true
        let stubs = StubSet(options: options)
        stubs.add(.path("/stub"), always: .text("stub"))
        stubs.add(.path("/spy"), always: .passOn)
        let session = stubs.session()
        for body in ["body", ""] {
            var streamed = request(server.url("/spy"), method: "POST")
            streamed.httpBodyStream = InputStream(data: Data(body.utf8))
            #expect(try await session.data(for: streamed).0 == Data("real POST \(body)".utf8))
        }
        #expect(try await session.data(from: url(server.url("/stub"))).0 == Data("stub".utf8))
        #expect(try await session.data(from: url(server.url("/other"))).0 == Data("real GET ".utf8))
        #expect(
            stubs.requests.map(\.outcome) == [
                .answered(stub: "path /spy"), .answered(stub: "path /spy"), .answered(stub: "path /stub"), .passedOn,
            ])
        #expect(stubs.requests.first?.text == "body")
        #expect(server.requests.count == 3)
    }

    /// As on Apple's systems, a program's handler sees the session's fields. Cookies are for LoadingKit's own HTTP handler.
    @Test func theSessionsFieldsAreAddedAndItsCookiesAreNot() async throws {
        let stubs = StubSet()
        stubs.add(always: .text("x").adding("Set-Cookie", "a=b; Path=/"))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Extra": "1"]
        stubs.install(in: configuration)
        let session = URLSession(configuration: configuration)
        for _ in 0..<2 { _ = try await session.data(from: url("http://a.test/")) }
        #expect(configuration.httpCookieStorage?.cookies?.isEmpty == true)
        #expect(
            stubs.requests.allSatisfy { $0.value(forField: "Cookie") == nil && $0.value(forField: "X-Extra") == "1" })
    }

    @Test func otherSchemesCanBeStubbed() async throws {
        let stubs = StubSet()
        stubs.add(always: .text("x"))
        let configuration = URLSessionConfiguration.ephemeral
        stubs.install(in: configuration, schemes: ["greeting"])
        let (data, _) = try await URLSession(configuration: configuration).data(from: url("greeting://anyone"))
        #expect(data == Data("x".utf8))
    }
}
