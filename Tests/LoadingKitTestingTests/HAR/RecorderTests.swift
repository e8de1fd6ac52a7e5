import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import TestSupport
import Testing

@Suite struct RecorderTests {
    private func session(_ recorder: HARRecorder) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        recorder.install(in: configuration)
        return URLSession(configuration: configuration)
    }

    @Test func requestsAndResponsesAreRecorded() async throws {
        let server = try LoopbackServer { request in
            request.path == "/image"
                ? .bytes([0, 1, 255], type: "image/png")
                : .text("answer é").adding("X-Answer", "1").adding("Set-Cookie", "sid=s3cret; Path=/; HttpOnly")
                    .adding("Set-Cookie", "theme=dark; Secure; Max-Age=10")
        }
        defer { server.stop() }
        let recorder = HARRecorder()
        let session = session(recorder)
        let sent = request(
            server.url("/x?page=2&token=s3cret"), method: "POST",
            fields: [
                "Authorization": "Bearer s3cret", "Cookie": "mine=s3cret",
                "Content-Type": "application/x-www-form-urlencoded",
            ], body: "name=Ann+B&password=s3cret")
        let (data, _) = try await session.data(for: sent)
        #expect(data == Data("answer é".utf8))
        _ = try await session.data(from: url(server.url("/image")))
        #expect(server.requests.snapshot.first?.bodyText == "name=Ann+B&password=s3cret")
        #expect(server.requests.snapshot.first?.fields[name: "Authorization"] == "Bearer s3cret")

        let log = recorder.log
        #expect(!String(decoding: log.data, as: UTF8.self).contains("s3cret"))
        #expect(try HARLog(data: log.data).entries.count == 2)
        let entry = try #require(log.entries.first)
        #expect(entry.request.method == "POST")
        #expect(entry.request.url == server.url("/x?page=2&token=(redacted)"))
        #expect(entry.request.queryString.map(\.value) == ["2", "(redacted)"])
        #expect(entry.request.cookies == [HARCookie(name: "mine", value: "(redacted)")])
        #expect(entry.request.headers.first { $0.name == "Authorization" }?.value == "Bearer (redacted)")
        #expect(entry.request.bodySize == 26)
        #expect(entry.request.postData?.text == "name=Ann+B&password=(redacted)")
        #expect(entry.request.postData?.params.map(\.value) == ["Ann B", "(redacted)"])
        #expect(entry.response.status == 200)
        #expect(entry.response.statusText.lowercased() == "ok")
        #expect(entry.response.content.text == "answer é")
        #expect(entry.response.content.size == 9)
        #expect(entry.response.content.mimeType == "text/plain; charset=utf-8")
        #expect(entry.response.cookies.map(\.name) == ["sid", "theme"])
        #expect(entry.response.cookies.map(\.httpOnly) == [true, false])
        #expect(
            entry.response.headers.filter { $0.name == "Set-Cookie" }.map(\.value) == [
                "sid=(redacted); Path=/; HttpOnly", "theme=(redacted); Secure; Max-Age=10",
            ])
        #expect(entry.time >= 0)
        #expect(log.entries.last?.response.content.encoding == "base64")
        #expect(log.entries.last?.response.content.data == Data([0, 1, 255]))
    }

    /// Each request has what its transaction knows; a redirect is what the server said.
    @Test func transactionsAreRecorded() async throws {
        let server = try LoopbackServer { request in
            request.path == "/a"
                ? .redirect(to: "/b?token=s3cret", status: 301).adding("X-Step", "1") : .text("there")
        }
        defer { server.stop() }
        let recorder = HARRecorder()
        let (data, _) = try await session(recorder).data(from: url(server.url("/a")))
        #expect(data == Data("there".utf8))
        let entries = recorder.log.entries
        try #require(entries.count == 2)
        #expect(entries.map(\.response.status) == [301, 200])
        #expect(entries[0].response.redirectURL == "/b?token=(redacted)")
        #expect(entries[0].response.headers.contains(HARNameValue(name: "X-Step", value: "1")))
        for entry in entries {
            #expect(entry.serverIPAddress == "127.0.0.1")
            #expect(entry.request.httpVersion == "HTTP/1.1" && entry.response.httpVersion == "HTTP/1.1")
            #expect(entry.request.headersSize > 0 && entry.response.headersSize > 0)
            #expect(entry.connection != nil)
        }
        #expect(entries[1].response.bodySize == 5)
    }

    /// A program may name the field whose whole value is a secret. The URLs of the next requests are such values.
    @Test func aSecretLocation() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/x/a": .redirect(to: "/b/s3cret", status: 302)
            case "/b/s3cret": .redirect(to: "/c?s3cret", status: 302)
            case _: .text("there")
            }
        }
        defer { server.stop() }
        var options = HARRecorder.Options()
        options.redaction = .standard.adding(headerFields: "location")
        let recorder = HARRecorder(options: options)
        _ = try await session(recorder).data(from: url(server.url("/x/a")))
        let entries = recorder.log.entries
        let response = try #require(entries.first).response
        #expect(response.redirectURL == "(redacted)")
        #expect(response.headers.first { $0.name == "Location" }?.value == "(redacted)")
        #expect(entries.map(\.request.url) == ["/x/a", "/x/(redacted)", "/x/(redacted)"].map { server.url($0) })
        #expect(!String(decoding: recorder.log.data, as: UTF8.self).contains("s3cret"))
    }

    @Test(arguments: [(302, "GET"), (303, "POST"), (307, "PUT"), (308, "PUT")])
    func redirectsAreRecordedAsTheyAre(_ status: Int, _ method: String) async throws {
        let server = try LoopbackServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: status) : .text(request.method)
        }
        defer { server.stop() }
        let recorder = HARRecorder()
        let (data, _) = try await session(recorder).data(
            for: request(server.url("/a"), method: method, body: method == "PUT" ? "x" : nil))
        #expect(data == Data((status == 303 ? "GET" : method).utf8))
        let entries = recorder.log.entries
        #expect(entries.map(\.response.status) == [status, 200])
        #expect(entries.first?.response.redirectURL == "/b")
        #expect(entries.map { $0.request.postData?.text } == (method == "PUT" ? ["x", "x"] : [nil, nil]))
    }

    /// The program gets the response that redirects, with its body.
    @Test func aDeclinedRedirect() async throws {
        final class Declining: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest
            ) async -> URLRequest? { nil }
        }
        let server = try LoopbackServer { _ in .redirect(to: "/b", status: 302) }
        defer { server.stop() }
        let recorder = HARRecorder()
        let (_, response) = try await session(recorder).data(
            for: request(server.url("/a")), delegate: Declining())
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(recorder.log.entries.map(\.response.status) == [302])
    }

    /// A server may not redirect to a file, with a recorder as without.
    @Test func aRefusedRedirect() async throws {
        let server = try LoopbackServer { _ in .redirect(to: "file:///etc/hostname", status: 302) }
        defer { server.stop() }
        let recorder = HARRecorder()
        let session = session(recorder)
        let error = await failure { _ = try await session.data(from: url(server.url("/a"))) }
        #expect((error as? URLError)?.code == .redirectToNonExistentLocation)
        #expect(recorder.log.entries.map(\.response.status) == [302])
    }

    @Test func uploadsAreRecordedAndSent() async throws {
        let folder = try TemporaryFolder()
        let content = String(repeating: "é", count: 100_000)
        try Data(content.utf8).write(to: folder.file("up"))
        let server = try LoopbackServer { .text("\($0.bodyText == content)") }
        defer { server.stop() }
        let recorder = HARRecorder()
        let session = session(recorder)
        let post = request(server.url("/"), method: "POST")
        var streamed = post
        streamed.httpBodyStream = InputStream(data: Data(content.utf8))
        let answers = [
            try await session.upload(for: post, from: Data(content.utf8)).0,
            try await session.upload(for: post, fromFile: folder.file("up")).0,
            try await session.data(for: streamed).0,
        ]
        #expect(answers == Array(repeating: Data("true".utf8), count: 3))
        #expect(recorder.log.entries.map { $0.request.postData?.text == content } == [true, true, true])
        #expect(recorder.log.entries.map(\.request.bodySize) == [200_000, 200_000, 200_000])
    }

    @Test func largeBodiesAreNotRecorded() async throws {
        let server = try LoopbackServer { _ in .bytes(Array(repeating: 65, count: 1_001)) }
        defer { server.stop() }
        var options = HARRecorder.Options()
        options.maximumBodySize = 1_000
        let recorder = HARRecorder(options: options)
        let session = session(recorder)
        let (data, _) = try await session.data(
            for: request(server.url("/"), method: "POST", body: String(repeating: "x", count: 1_001)))
        var streamed = request(server.url("/"), method: "POST")
        streamed.httpBodyStream = InputStream(data: Data(count: 1_001))
        _ = try await session.data(for: streamed)
        #expect(data.count == 1_001)
        #expect(server.requests.snapshot.map(\.body.count) == [1_001, 1_001])
        for entry in recorder.log.entries {
            #expect(entry.request.bodySize == 1_001)
            #expect(entry.request.postData?.text == "")
            #expect(entry.request.postData?.comment == "The body was not recorded: 1001 bytes.")
            #expect(entry.response.content.text == nil)
            #expect(entry.response.content.size == 1_001)
        }
    }

    /// The earliest request is the one that was started first, and here it ends last.
    @Test func theEarliestBodiesMakeRoom() async throws {
        let (arrived, end) = (Signal(), DispatchSemaphore(value: 0))
        let server = try LoopbackServer { request in
            if request.path == "/0" {
                arrived.fire()
                end.wait()
            }
            return .bytes(Array(repeating: 65, count: 1_000), type: "text/plain")
        }
        defer { server.stop() }
        var options = HARRecorder.Options()
        options.maximumBytes = 4_500
        let recorder = HARRecorder(options: options)
        let session = session(recorder)
        let load = { @Sendable (number: Int) in
            let sent = request(
                server.url("/\(number)"), method: "POST", fields: ["Content-Type": "text/plain"],
                body: String(repeating: "x", count: 500))
            _ = try await session.data(for: sent)
        }
        /// The numbers of the requests whose bodies are there.
        func recorded() -> [Int] {
            recorder.log.entries.enumerated().filter { _, entry in
                let (sent, received) = (entry.request.postData, entry.response.content)
                let isThere = received.text?.utf8.count == 1_000
                #expect(sent?.text.utf8.count == (isThere ? 500 : 0))
                #expect((sent?.others["_omitted"]?.bool == true) == !isThere)
                #expect(sent?.comment == (isThere ? nil : "The body was not recorded: 500 bytes."))
                #expect(received.comment == (isThere ? nil : "The body was not recorded: 1000 bytes."))
                #expect(received.size == 1_000 && entry.request.bodySize == 500)
                return isThere
            }.map(\.offset)
        }
        let first = Task { try await load(0) }
        await arrived.wait()
        for number in 1...3 { try await load(number) }
        #expect(recorded() == [0, 1, 2])
        end.signal()
        try await first.value
        #expect(recorded() == [1, 2, 3])
        try await load(4)
        #expect(recorded() == [2, 3, 4])
        recorder.removeAll()
        try await load(5)
        #expect(recorded() == [0])
    }

    /// Secrets are not found in a coded body: it is left out where a name is secret.
    @Test(arguments: [HARRedaction.standard, HARRedaction.none])
    func codedBodies(_ redaction: HARRedaction) async throws {
        let secret = Array(#"{"token":"s3cret"}"#.utf8)
        let server = try LoopbackServer { request in
            if request.path == "/unknown" {
                return .bytes(secret, type: "application/json").adding("Content-Encoding", "unknown")
            }
            return try .gzip(secret, type: "application/json")
        }
        defer { server.stop() }
        var options = HARRecorder.Options()
        options.redaction = redaction
        let recorder = HARRecorder(options: options)
        let session = session(recorder)
        var kept = request(server.url("/kept"), method: "POST", fields: ["Content-Encoding": "GZIP"], body: "coded")
        kept.keepsContentCodings = true
        let (coded, _) = try await session.data(for: kept)
        #expect(coded.starts(with: [0x1f, 0x8b]))
        _ = try await session.data(
            for: request(
                server.url("/unknown"), method: "POST", fields: ["Content-Encoding": "identity"], body: "plain"))
        _ = try await session.data(from: url(server.url("/decoded")))
        let entries = recorder.log.entries
        try #require(entries.count == 3)
        let contents = entries.map(\.response.content)
        #expect(entries[1].request.postData?.text == "plain")
        if redaction.names.isEmpty {
            #expect(entries[0].request.postData?.text == "coded")
            #expect(contents.map(\.data) == [coded, Data(secret), Data(secret)])
        } else {
            #expect(entries[0].request.postData?.text == "")
            #expect(
                entries[0].request.postData?.comment == "The body was not recorded: 5 bytes in a content coding.")
            #expect(contents.map(\.text) == [nil, nil, #"{"token":"(redacted)"}"#])
            #expect(contents[1].comment == "The body was not recorded: \(secret.count) bytes in a content coding.")
        }
        #expect(contents.map(\.size) == [coded.count, secret.count, secret.count])
    }

    @Test func failuresAreRecorded() async throws {
        let server = try LoopbackServer { request in
            if request.path == "/reset" { try request.exchange.reset() }
            return .stream(.length(4)) {
                try $0.write([1, 2]); throw CancellationError()
            }
        }
        defer { server.stop() }
        let recorder = HARRecorder()
        let session = session(recorder)
        for path in ["/reset", "/cut"] {
            let error = await failure { _ = try await session.data(from: url(server.url(path))) }
            #expect((error as? URLError)?.code == .networkConnectionLost)
        }
        let entries = recorder.log.entries
        #expect(entries.map(\.response.status) == [0, 200])
        #expect(entries.map { $0.response.others["_urlErrorCode"] } == [-1_005, -1_005])
        #expect(entries.last?.response.content.text == nil)
    }

    @Test func aCancelledLoadIsRecordedAsThat() async throws {
        let arrived = Signal()
        let server = try LoopbackServer { request in
            arrived.fire()
            try request.exchange.waitUntilClientCloses()
            return .text("")
        }
        defer { server.stop() }
        let recorder = HARRecorder()
        let session = session(recorder)
        let task = Task { try await session.data(from: url(server.url("/"))) }
        await arrived.wait()
        task.cancel()
        _ = await failure { _ = try await task.value }
        try await withTimeout { try await waitUntil { !recorder.log.entries.isEmpty } }
        #expect(recorder.log.entries.first?.response.others["_error"] == "cancelled")
        #expect(recorder.log.entries.first?.response.status == 0)
    }

    @Test func aThousandRequestsAreRecorded() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let recorder = HARRecorder()
        let session = session(recorder)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    try await session.data(from: url(server.url("/\(number)"))).0 == Data("/\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        let entries = recorder.log.entries
        #expect(entries.count == 1_000)
        #expect(entries.allSatisfy { $0.request.url.hasSuffix($0.response.content.text ?? "?") })
        var options = HARRecorder.Options()
        options.maximumEntries = 2
        let few = HARRecorder(options: options)
        let other = self.session(few)
        for number in 0..<4 { _ = try await other.data(from: url(server.url("/\(number)"))) }
        #expect(few.log.entries.map(\.response.content.text) == ["/2", "/3"])
    }

    @Test func aPausedReaderHoldsTheServerBack() async throws {
        let server = try LoopbackServer { _ in
            .stream { writer in for _ in 0..<64 { try writer.write(Array(repeating: 66, count: 65_536)) } }
        }
        defer { server.stop() }
        let recorder = HARRecorder()
        let (bytes, _) = try await session(recorder).bytes(from: url(server.url("/")))
        var count = 0
        for try await _ in bytes { count += 1 }
        #expect(count == 64 * 65_536)
        #expect(recorder.log.entries.first?.response.content.size == count)
    }
}
