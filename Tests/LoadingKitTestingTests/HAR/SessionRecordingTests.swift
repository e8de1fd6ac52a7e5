import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitHAR
import LoadingKitLoopbackServer
import LoadingKitTesting
import LoadingKitTransport
import Testing

/// `URLSession.recordHAR(to:…)`.
@Suite(.timeLimit(.minutes(5))) struct SessionRecordingTests {
    private let folder: TemporaryFolder
    private let file: URL

    init() throws {
        folder = try TemporaryFolder()
        file = folder.file("traffic.har")
    }

    private func log() throws -> HARLog { try HARLog(contentsOf: file) }

    /// Answers each challenge with one user.
    private final class Login: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            (.useCredential, URLCredential(user: "ann", password: "s3cret", persistence: .none))
        }
    }

    private static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/redirect": return .redirect(to: "/page?q=1")
        case "/cached": return .text("kept").adding("Cache-Control", "max-age=600").adding("ETag", "\"v1\"")
        case "/gzip": return try .gzip(Array(repeating: 65, count: 1_000))
        case "/binary": return .bytes([0, 255, 254], type: "application/octet-stream")
        case "/reset": try request.exchange.reset()
        case "/socket": return .webSocket(request) { try $0.echo() }
        case "/login" where request.fields[name: "Authorization"] == nil:
            return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        default: break
        }
        return .text("page")
    }

    /// Loads of each kind. The session has then ended.
    private func record(
        _ server: LoopbackServer, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws -> HARLog {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        let session = URLSession(configuration: configuration)
        try session.recordHAR(to: file)
        _ = await failure { _ = try await session.data(from: url(server.url("/reset"))) }
        for path in ["/redirect", "/cached", "/cached", "/gzip", "/binary"] {
            _ = try await session.data(from: url(server.url(path)))
        }
        _ = try await session.data(from: url(server.url("/login")), delegate: Login())
        _ = try await session.upload(for: request(server.url("/post"), method: "POST"), from: Data("sent".utf8))
        let (downloaded, _) = try await session.download(from: url(server.url("/download")))
        try FileManager.default.removeItem(at: downloaded)
        let socket = session.webSocketTask(
            with: url(server.url("/socket").replacingOccurrences(of: "http", with: "ws")))
        socket.resume()
        try await socket.send(.string("hello"))
        _ = try await socket.receive()
        try await socket.send(.data(Data([1, 2])))
        _ = try await socket.receive()
        socket.cancel(with: .normalClosure, reason: nil)
        await session.finishTasks()
        return try log()
    }

    private static let expected = [
        "GET /reset 0", "GET /redirect 302", "GET /page 200", "GET /cached 200", "GET /cached 200", "GET /gzip 200",
        "GET /binary 200", "GET /login 401", "GET /login 200", "POST /post 200", "GET /download 200",
    ]

    private func lines(_ log: HARLog) -> [String] {
        log.entries.map { entry in
            "\(entry.request.method) \(URL(string: entry.request.url)?.path ?? "") \(entry.response.status)"
        }
    }

    private func keepsFormat(_ log: HARLog) throws {
        let json = try JSONValue(parsing: Data(contentsOf: file))
        #expect(HARFormatTests.rules.flatMap { HARFormatTests.check($0, json).findings } == [])
        #expect(log.version == "1.2" && log.creator.name == "LoadingKit")
        for entry in log.entries {
            #expect(abs(entry.time - entry.timings.total) < 0.01)
            let phases = [entry.timings.blocked, entry.timings.dns, entry.timings.connect, entry.timings.ssl]
            #expect(phases.allSatisfy { $0 >= 0 || $0 == -1 })
        }
    }

    @Test func allKindsOfLoadsAreRecorded() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let log = try await record(server)
        try keepsFormat(log)
        #expect(lines(log) == Self.expected + ["GET /socket 101"])
        try #require(log.entries.count == 12)
        #expect(log.entries[0].response.others["_error"]?.string?.isEmpty == false)
        #expect(log.entries[0].response.others["_urlErrorCode"] == -1_005)
        let entries = Array(log.entries.dropFirst())
        #expect(entries[0].response.redirectURL == "/page?q=1")
        #expect(entries[1].request.queryString == [HARNameValue(name: "q", value: "1")])
        // The fields are those that were sent.
        let names = Set(entries[0].request.headers.map { $0.name.lowercased() })
        #expect(names.isSuperset(of: ["host", "user-agent", "accept", "accept-encoding"]))
        #expect(entries[0].request.headersSize > 0 && entries[0].response.headersSize > 0)
        // The first request opens the connection, which others share.
        #expect(entries[0].timings.connect >= 0 && entries[0].timings.ssl == -1)
        #expect(entries[1].timings.connect == -1 && entries[1].timings.dns == -1)
        #expect(entries[0].connection != nil && entries[0].connection == entries[1].connection)
        #expect(entries[0].serverIPAddress == "127.0.0.1" && entries[0].response.httpVersion == "HTTP/1.1")
        #expect(entries[2].others["_fromCache"] == nil)
        #expect(entries[3].others["_fromCache"] == "memory" && entries[3].cache.beforeRequest?.eTag == "\"v1\"")
        #expect(entries[3].response.content.text == "kept" && entries[3].response.bodySize == 0)
        #expect(entries[4].response.content.size == 1_000 && entries[4].response.bodySize < 200)
        #expect(entries[5].response.content.encoding == "base64")
        #expect(entries[5].response.content.data == Data([0, 255, 254]))
        #expect(!entries[6].request.headers.contains { $0.name == "Authorization" })
        #expect(entries[7].request.headers.first { $0.name == "Authorization" }?.value == "Basic (redacted)")
        #expect(entries[8].request.postData?.text == "sent" && entries[8].request.bodySize == 4)
        #expect(entries[9].response.content.text == "page")
        try expectMessages(of: entries[10])
    }

    private func expectMessages(of entry: HAREntry) throws {
        let messages = try #require(entry.others["_webSocketMessages"]?.array)
        #expect(messages.map { $0["type"] } == ["send", "receive", "send", "receive"])
        #expect(messages.map { $0["opcode"] } == [1, 1, 2, 2])
        #expect(messages.map { $0["data"] } == ["hello", "hello", "AQI=", "AQI="])
        let times = messages.compactMap { $0["time"]?.double }
        #expect(times == times.sorted() && abs((times.first ?? 0) - Date().timeIntervalSince1970) < 600)
        #expect(entry.others["_resourceType"] == "websocket" && entry.request.url.hasPrefix("ws"))
    }

    /// Those of the earliest load that a recorder has, beyond its bytes.
    @Test func messagesOfEarlierLoadsMakeRoom() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        var options = HARRecorder.Options()
        options.maximumBytes = 2 * 257
        let recorder = HARRecorder(options: options)
        let configuration = URLSessionConfiguration.ephemeral
        recorder.install(in: configuration, schemes: ["ws"])
        let session = URLSession(configuration: configuration)
        for _ in 0..<2 {
            let socket = session.webSocketTask(
                with: url(server.url("/socket").replacingOccurrences(of: "http", with: "ws")))
            socket.resume()
            try await socket.send(.string("a"))
            _ = try await socket.receive()
            socket.cancel(with: .normalClosure, reason: nil)
        }
        await session.finishTasks()
        let entries = recorder.log.entries
        #expect(entries.map { $0.others["_webSocketMessages"]?.array?.count } == [0, 2])
        #expect(entries.map(\.comment) == ["The messages were not recorded.", nil])
    }

    /// Small messages count with the memory that they take, and are released with the bodies.
    @Test func messagesBeyondTheLimitAreCountedAlone() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        let rules = HARRules(.network, .standard, bodyLimit: 2 * 65)
        let ended = Recorder<LoadNotes>()
        let recording = LoadRecording(rules, on: OrderedWork()) { moment, notes in
            if moment == .ended { ended.append(notes) }
        }
        session.core.add(recording)
        let socket = session.webSocketTask(
            with: url(server.url("/socket").replacingOccurrences(of: "http", with: "ws")))
        socket.resume()
        for _ in 0..<2 {
            try await socket.send(.string("a"))
            _ = try await socket.receive()
        }
        socket.cancel(with: .normalClosure, reason: nil)
        await session.finishTasks()
        let loads = await ended.count(reaches: 1)
        var notes = try #require(loads.first)
        #expect(notes.size == 2 * 65)
        let anchor = WallClockAnchor(date: Date(), monotonicTime: TimeSource.system.now)
        for (recorded, omitted) in [(2, 2), (0, 4)] {
            let entry = try #require(EntryMaker(notes, rules, anchor).entries().last)
            #expect(entry.others["_webSocketMessages"]?.array?.count == recorded)
            #expect(entry.comment == "The last \(omitted) messages were not recorded.")
            notes.omitBodies()
        }
        #expect(notes.size == 0)
    }

    /// Neither the request to a secret target nor its response shows the host, nor does the error of a redirect that
    /// fails.
    @Test(arguments: ["http://localhost:PORT/", "http://127.0.0.77:1/", "http://[s3cret/", "s3cret:x"])
    func aSecretTarget(_ location: String) async throws {
        let port = Box("")
        let server = try LoopbackServer { request in
            let target = location.replacing("PORT", with: port.value)
            if request.path == "/a" { return .redirect(to: target) }
            return .text("there").adding("Content-Location", "http://localhost/there")
                .adding("Set-Cookie", "id=1; Path=/; Domain=localhost; Secure")
        }
        defer { server.stop() }
        port.value = "\(server.address.port ?? 0)"
        let session = URLSession(configuration: .ephemeral)
        try session.recordHAR(to: file, secretNames: ["location"])
        let error = await failure { _ = try await session.data(from: url(server.url("/a"))) }
        await session.finishTasks()
        let entries = try log().entries
        let errors = entries.compactMap { $0.response.others["_error"]?.string }
        #expect((error == nil) == location.contains("PORT") && errors.isEmpty == (error == nil))
        let shown = try String(contentsOf: file, encoding: .utf8)
        #expect(!["localhost", "127.0.0.77", "s3cret"].contains { shown.contains($0) })
        #expect(entries.first?.serverIPAddress == "127.0.0.1")
        #expect(entries.dropFirst().allSatisfy { $0.serverIPAddress == nil })
        let cookies = entries.flatMap(\.response.headers).filter { $0.name.lowercased() == "set-cookie" }
        #expect(cookies.map(\.value) == (error == nil ? ["id=(redacted); Path=/; Secure"] : []))
        #expect(entries.first?.request.headers.first { $0.name.lowercased() == "host" }?.value.isEmpty == false)
    }

    @Test func loadsOverHTTP2AreRecorded() async throws {
        let authority = try CertificateAuthority()
        var options = LoopbackServer.Options(tls: TLSServerOptions(try authority.issue()))
        options.tls?.applicationProtocols = ["h2", "http/1.1"]
        let server = try LoopbackServer(options, route: Self.answer)
        defer { server.stop() }
        let log = try await record(server) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        try keepsFormat(log)
        #expect(lines(log) == Self.expected + ["GET /socket 200"])
        try #require(log.entries.count == 12)
        let entries = Array(log.entries.dropFirst())
        #expect(entries[0].response.httpVersion == "h2" && entries[0].timings.ssl >= 0)
        #expect(!entries[0].request.headers.contains { $0.name.hasPrefix(":") })
        #expect(entries[0].request.headers.contains { $0.name == "user-agent" })
        #expect(entries[10].connection == entries[9].connection)
        try expectMessages(of: entries[10])
    }

    // MARK: Secrets

    /// A secret in each place of a message that may have one.
    private func loadSecrets(_ server: LoopbackServer, _ session: URLSession) async throws {
        let base = server.url().replacingOccurrences(of: "//", with: "//ann:s3cret@")
        _ = try await session.data(
            for: request(
                base + "page?access_token=s3cret&sid=1#s3cret", method: "POST",
                fields: [
                    "Authorization": "Bearer s3cret", "Proxy-Authorization": "Basic s3cret", "Cookie": "a=s3cret",
                    "X-Api-Key": "s3cret", "Referer": "http://bob:s3cret@h/?token=s3cret",
                    "Content-Type": "application/x-www-form-urlencoded", "X-Own": "s3cret",
                ], body: "user=ann&password=s3cret&own-name=s3cret&user[token]=s3cret"))
        // The cookie of this response is sent with the request after it.
        _ = try await session.data(from: url(server.url("/set")))
        var multipart = request(server.url("/parts"), method: "POST")
        multipart.setValue("multipart/form-data; boundary=b", forHTTPHeaderField: "Content-Type")
        multipart.httpBodyStream = InputStream(
            data: Data("--b\r\nContent-Disposition: form-data; name=\"pwd\"\r\n\r\ns3cret\r\n--b--\r\n".utf8))
        _ = try await session.data(for: multipart)
        _ = try await session.data(from: url(server.url("/moved")))
        _ = await failure { _ = try await session.data(from: url(server.url("/reset?jwt=s3cret"))) }
        let socket = session.webSocketTask(
            with: url(server.url("/socket?token=s3cret").replacingOccurrences(of: "http", with: "ws")))
        socket.resume()
        try await socket.send(.string("{\"token\":\"s3cret\"}"))
        _ = try await socket.receive()
        try await socket.send(.data(Data("{\"token\":\"s3cret\"}".utf8)))
        _ = try await socket.receive()
        socket.cancel(with: .normalClosure, reason: nil)
        await session.finishTasks()
    }

    private static func secretAnswer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/set":
            return ServerResponse.bytes(Array("{\"id_token\": \"s3cret\", \"n\": 1}".utf8), type: "application/json")
                .adding("Set-Cookie", "sid=s3cret; Path=/").adding("X-Auth-Token", "s3cret")
        case "/moved": return .redirect(to: "/page?signature=s3cret").adding("Content-Location", "/x?sig=s3cret")
        default: return try answer(request)
        }
    }

    @Test(arguments: [true, false]) func secretsAreInTheFileWhereTheyAreWanted(_ areRedacted: Bool) async throws {
        let server = try LoopbackServer(route: Self.secretAnswer)
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        try session.recordHAR(
            to: file, redactsSecrets: areRedacted, secretNames: areRedacted ? ["X-Own", "own_name"] : [])
        try await loadSecrets(server, session)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let secrets = text.components(separatedBy: "s3cret").count - 1
        #expect(areRedacted ? secrets == 0 : secrets > 25, "\(secrets) in \(text)")
        // Whatever is asked for, the password of a URL is not in the file.
        #expect(!text.contains("ann:s3cret") && !text.contains("bob:s3cret"))
        let log = try log()
        // A request on a connection that was lost is sent again.
        #expect(log.entries.count == 8, "\(lines(log))")
        let messages = log.entries.last?.others["_webSocketMessages"]?.array ?? []
        #expect(messages.map { $0["opcode"] } == [1, 1, 2, 2])
        #expect(messages.first?["data"]?.string?.contains("token") == true)
        let binary = messages.dropFirst(2).compactMap { $0["data"]?.string.flatMap { Data(base64Encoded: $0) } }
        let value = areRedacted ? "(redacted)" : "s3cret"
        #expect(binary == Array(repeating: Data("{\"token\":\"\(value)\"}".utf8), count: 2))
    }

    // MARK: The file

    @Test func manyLoadsOfSeveralSessionsAreInOneFile() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let sessions = [URLSession(configuration: .ephemeral), URLSession(configuration: .ephemeral)]
        let recordings = try sessions.map { try $0.recordHAR(to: file) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask { _ = try await sessions[number % 2].data(from: url(server.url("/\(number)"))) }
                // The file is whole while it is written.
                if number % 100 == 0 { #expect(try log().entries.count <= number) }
            }
            try await group.waitForAll()
        }
        for recording in recordings { try await recording.flush() }
        let entries = try log().entries
        #expect(Set(entries.map(\.request.url)).count == 1_000 && entries.count == 1_000)
        #expect(entries.allSatisfy { $0.request.url.hasSuffix($0.response.content.text ?? "?") })
    }

    @Test func aStoppedRecordingGetsNoFurtherLoads() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        _ = try await session.data(from: url(server.url("/before")))
        let recording = try session.recordHAR(to: file, maximumBodySize: 4)
        #expect(try log().entries == [])
        _ = try await session.data(from: url(server.url("/first")))
        try await recording.flush()
        #expect(lines(try log()) == ["GET /first 200"])
        #expect(try log().entries.first?.response.content.text == nil)
        #expect(try log().entries.first?.response.content.comment == "The body was not recorded: 6 bytes.")
        try await recording.stop()
        _ = try await session.data(from: url(server.url("/after")))
        #expect(recording.file == file)
        #expect(lines(try log()) == ["GET /first 200"])
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
    }

    @Test func aFileThatCannotBeWrittenIsAnError() async throws {
        let session = URLSession(configuration: .ephemeral)
        let missing = folder.file("none/x.har")
        let error = await failure { try session.recordHAR(to: missing) }
        #expect((error as? HARError)?.description.hasPrefix("\(missing.path): the recording cannot be written") == true)
        let recording = try session.recordHAR(to: file)
        // Another program has replaced the content.
        try Data("mine".utf8).write(to: file)
        _ = try await session.data(from: url("data:,x"))
        let refusal = await failure { try await recording.flush() }
        #expect((refusal as? HARError)?.description.contains("is not a recording of LoadingKit") == true)
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    /// Nobody would find the entries of a file that has no name any more. A new recording makes a new file.
    @Test(arguments: [false, true]) func aFileThatIsGoneIsAnError(isReplaced: Bool) async throws {
        let session = URLSession(configuration: .ephemeral)
        let recording = try session.recordHAR(to: file)
        _ = try await session.data(from: url("data:,one"))
        try await recording.flush()
        try FileManager.default.moveItem(at: file, to: folder.file("moved.har"))
        if isReplaced { try Data("mine".utf8).write(to: file) }
        _ = try await session.data(from: url("data:,two"))
        let refusal = await failure { try await recording.flush() }
        #expect((refusal as? HARError)?.description.contains("removed or replaced") == true)
        if isReplaced { #expect(try Data(contentsOf: file) == Data("mine".utf8)) }
        let other = URLSession(configuration: .ephemeral)
        let next = try other.recordHAR(to: file)
        _ = try await other.data(from: url("data:,three"))
        try await next.flush()
        #expect(try log().entries.count == 1)
    }

    /// The recorder does not change what a program gets: a stream that was read is not sent again.
    @Test func aRedirectedStreamIsAskedForAgain() async throws {
        final class Giving: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) { completionHandler(InputStream(data: Data("again".utf8))) }
        }
        let server = try LoopbackServer { request in
            request.path == "/a" ? .redirect(to: "/b", status: 307) : .text(request.bodyText)
        }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        let recording = try session.recordHAR(to: file)
        var streamed = request(server.url("/a"), method: "POST")
        streamed.httpBodyStream = InputStream(data: Data("first".utf8))
        let (data, _) = try await session.data(for: streamed, delegate: Giving())
        #expect(data == Data("again".utf8))
        try await recording.flush()
        #expect(try log().entries.map(\.request.postData?.text) == ["first", "again"])
    }

    /// A body that is written while it is sent is in each of several recordings.
    @Test func aWrittenBodyIsInEachRecording() async throws {
        let server = try LoopbackServer { .text($0.bodyText) }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        let files = [file, folder.file("others.har")]
        let recordings = try files.map { try session.recordHAR(to: $0) }
        let body = AsyncStream<Data> { continuation in
            for piece in ["one ", "two"] { continuation.yield(Data(piece.utf8)) }
            continuation.finish()
        }
        var streamed = request(server.url("/a"), method: "POST")
        streamed.httpBodyStream = URLRequest.bodyStream(of: body)
        let (data, _) = try await session.data(for: streamed)
        #expect(data == Data("one two".utf8))
        for recording in recordings { try await recording.flush() }
        for file in files {
            #expect(try HARLog(contentsOf: file).entries.map(\.request.postData?.text) == ["one two"])
        }
    }
}
