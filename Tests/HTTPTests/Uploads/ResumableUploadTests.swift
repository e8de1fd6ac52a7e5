import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@Suite("Resumable uploads")
struct ResumableUploadTests {
    static let body = Data(RangedResource.bytes(3_000_000))

    static func faults(_ change: (inout UploadPeer.Faults) -> Void) -> UploadPeer.Faults {
        var faults = UploadPeer.Faults()
        change(&faults)
        return faults
    }

    @Test("go on by themselves where their connections break", arguments: BothVersions.all, ["data", "file", "stream"])
    func goOn(_ version: String, _ source: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.body, to: "body")
        try await UploadSite.with(version, Self.faults { $0.breaks = [1_000_000, 1_000_001, 2_500_000] }) { site in
            let observer = site.observer(stream: Self.body)
            let task =
                switch source {
                case "data": site.session.uploadTask(with: try site.request(), from: Self.body)
                case "file": site.session.uploadTask(with: try site.request(), fromFile: file)
                case _: site.session.uploadTask(withStreamedRequest: try site.request())
                }
            task.delegate = observer
            task.resume()
            #expect(await observer.errors.count(reaches: 1) == [nil])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            #expect(
                site.methods == [
                    "HEAD", "HEAD", "HEAD", "PATCH 2500000",
                ], "only those whose bodies came are recorded")
            #expect(site.has(Self.body))
            #expect(observer.interims.snapshot.count { $0 == 104 } == 1)
            let total: Int64 = source == "stream" ? -1 : 3_000_000
            #expect(observer.sent.last?[1...] == [3_000_000, total])
            #expect(task.countOfBytesSent == 3_000_000)
            #expect(observer.offsets.snapshot == (source == "stream" ? [1_000_000, 1_000_001, 2_500_000] : []))
            #expect(observer.metrics.last?.transactionMetrics.count == 7)
        }
    }

    /// A lost connection leaves the upload as it is. A certificate that is refused ends it.
    @Test("go on where a TLS handshake is reset or closed", arguments: ["reset", "closed", "refused"])
    func brokenHandshakes(_ end: String) async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let stranger = TLSServerOptions(try CertificateAuthority().issue())
        let observer = UploadObserver(UploadPeer(), nil)
        let second: [ScriptedPeer.Step] =
            switch end {
            case "reset": [.expectAnything, .reset]
            case "closed": [.expectAnything, .halfClose, .readUntilClose]
            case _: [.startTLS(stranger), .readUntilClose]
            }
        let peer = try ScriptedPeer(scripts: [
            [
                .startTLS(identity), .expectRequest,
                .send("HTTP/1.1 104 Go\r\nLocation: /uploads/1\r\nUpload-Draft-Interop-Version: 6\r\n\r\n"),
                .waitFor(observer.interimSeen), .reset,
            ],
            second,
            [
                .startTLS(identity), .expectRequest,
                .send("HTTP/1.1 204 No Content\r\nUpload-Offset: 4\r\nUpload-Complete: ?1\r\n\r\n"),
            ],
        ])
        defer { peer.stop() }
        let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        let address = peer.url("/form").replacing("http://127.0.0.1", with: "https://localhost")
        var request = URLRequest(url: try #require(URL(string: address)))
        request.httpMethod = "POST"
        try await withTimeout { [request] in
            let task = session.uploadTask(with: request, from: Data("body".utf8))
            task.delegate = observer
            task.resume()
            let errors = await observer.errors.count(reaches: 1)
            #expect(errors.map { $0?.code } == [end == "refused" ? .serverCertificateHasUnknownRoot : nil])
            #expect(peer.requests.snapshot.map(\.method) == (end == "refused" ? ["POST"] : ["POST", "HEAD"]))
        }
    }

    private struct Replacement: LoadInterceptor {
        func load(_ load: LoadContext) async throws {
            var request = load.request
            request.httpBodyStream = InputStream(data: ResumableUploadTests.body)
            try await load.receive(load.next.load(request))
        }
    }

    /// The delegate's stream is of another body than the interceptor's.
    @Test("end where their connections break and an interceptor has replaced the stream", arguments: BothVersions.all)
    func replacedStream(_ version: String) async throws {
        let faults = Self.faults { $0.breaks = [1_000_000] }
        try await UploadSite.with(version, faults, { $0.interceptors = [Replacement()] }) { site in
            let observer = site.observer(stream: Data(repeating: 1, count: 3_000_000))
            let task = site.session.uploadTask(withStreamedRequest: try site.request())
            task.delegate = observer
            task.resume()
            let errors = await observer.errors.count(reaches: 1)
            #expect(errors.map { $0?.code } == [.requestBodyStreamExhausted])
            #expect(observer.offsets.snapshot == [])
            #expect(site.methods == ["HEAD"], "no part is sent")
            #expect(site.peer.uploads.map(\.bytes.count) == [1_000_000])
        }
    }

    @Test("say so in the first request, and not in others", arguments: BothVersions.all)
    func fields(_ version: String) async throws {
        try await UploadSite.with(version, Self.faults { $0.isCapable = false }) { site in
            func names(_ index: Int) throws -> [String] {
                try #require(site.server.requests[index]).fields.map { $0.name.lowercased() }.filter {
                    $0.hasPrefix("upload")
                }
            }
            let text = try await site.upload(Self.body).get()
            #expect(text == "took 3000000")
            #expect(try names(0) == ["upload-complete", "upload-draft-interop-version"])
            var request = try site.request()
            request.httpBody = Self.body
            _ = try await site.session.data(for: request)
            #expect(try names(1) == [])
            request.setValue("?0", forHTTPHeaderField: "Upload-Complete")
            _ = try await site.session.upload(for: request, from: Self.body)
            #expect(try names(2) == ["upload-complete"], "the program's own")
            _ = try await site.session.upload(for: try site.request(), from: Data())
            #expect(try names(3) == [], "there is nothing to go on with")
        }
        try await UploadSite.with(version, UploadPeer.Faults(), { $0.attemptsResumableUploads = false }) { site in
            let text = try await site.upload(Self.body).get()
            #expect(text == "took 3000000")
            let first = try #require(site.server.requests[0])
            #expect(!first.fields.contains(name: "Upload-Complete"))
        }
    }

    @Test(
        "fail as others do where the server does not support them, or names a place elsewhere",
        arguments: BothVersions.all,
        [
            "https://elsewhere.example/PATH", "//127.0.0.1:1PATH", "http:PATH", "http://AUTHORITYPATH", "ftp:PATH",
            "none",
        ])
    func elsewhere(_ version: String, _ location: String) async throws {
        let faults = Self.faults {
            $0.breaks = [100_000]
            $0.location = location
            if location == "none" { $0.isCapable = false }
        }
        try await UploadSite.with(version, faults) { site in
            if location == "none" { site.peer.interimSeen.fire() }
            let authority = "localhost:\(site.server.address.port ?? 0)"
            site.peer.change { $0.location = location.replacing("AUTHORITY", with: authority) }
            guard case .failure(let error) = try await site.upload(Self.body) else { return #expect(Bool(false)) }
            #expect(error.code == .networkConnectionLost && error.uploadTaskResumeData == nil)
            #expect(site.methods == [])
        }
    }

    @Test("are over when the server has all, also where its response was lost", arguments: BothVersions.all)
    func responseLost(_ version: String) async throws {
        try await UploadSite.with(version, Self.faults { $0.lostResponses = 1 }) { site in
            let text = try await site.upload(Self.body).get()
            #expect(text == "204")
            #expect(site.methods == ["POST", "HEAD"])
            #expect(site.has(Self.body))
        }
    }

    @Test("go on where a part was refused or interrupted", arguments: BothVersions.all, [409, 500, 503, 429])
    func refusedParts(_ version: String, _ status: Int) async throws {
        let faults = Self.faults {
            $0.breaks = [1_000_000]
            $0.appends = [ServerResponse(status)]
        }
        try await UploadSite.with(version, faults) { site in
            let text = try await site.upload(Self.body).get()
            #expect(text == "took 3000000")
            #expect(site.methods.suffix(4) == ["HEAD", "PATCH 1000000", "HEAD", "PATCH 1000000"])
            #expect(site.has(Self.body))
        }
    }

    @Test("give the program the server's refusal of a whole body", arguments: BothVersions.all, ["data", "stream"])
    func refusedBodies(_ version: String, _ source: String) async throws {
        try await UploadSite.with(version, Self.faults { $0.results = [ServerResponse(500)] }) { site in
            let observer = site.observer(stream: Self.body)
            let task =
                switch source {
                case "data": site.session.uploadTask(with: try site.request(), from: Self.body)
                case _: site.session.uploadTask(withStreamedRequest: try site.request())
                }
            task.delegate = observer
            task.resume()
            #expect(await observer.errors.count(reaches: 1) == [nil])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 500)
            #expect(site.methods == ["POST"])
        }
    }

    /// A stream that has delivered these bytes, and ends when the other stream is closed.
    private static func unendedStream(of body: Data) throws -> (InputStream, OutputStream) {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: body.count, inputStream: &input, outputStream: &output)
        let writer = try #require(output)
        writer.open()
        try #require(writer.write(Array(body), maxLength: body.count) == body.count)
        return (try #require(input), writer)
    }

    /// Refuses an upload over HTTP/2 when all of its bytes have come, though the request has not ended.
    private static func refuse(_ count: Int, on socket: StreamSocket, _ methods: Recorder<String>) throws {
        var left = count
        try socket.serveHTTP2 { event, machine, output in
            var fields = HTTPFields()
            switch event {
            case .headers(let stream, .request(let head), _):
                methods.append(head.method)
                let isQuestion = head.method == "HEAD"
                fields.append(name: "Upload-Draft-Interop-Version", value: "6")
                if isQuestion {
                    fields.append(name: "Upload-Complete", value: "?1")
                } else {
                    fields.append(name: "Location", value: "/uploads/0")
                }
                try machine.sendResponse(
                    isQuestion ? 204 : 104, fields, on: stream, endStream: isQuestion, to: &output)
            case .data(let stream, let range, let size, _):
                machine.didConsume(size, on: stream)
                left -= range.count
                if left == 0, !range.isEmpty {
                    try machine.sendResponse(500, fields, on: stream, endStream: true, to: &output)
                }
            default: break
            }
        }
    }

    @Test("give the program the refusal of all bytes of a stream that has not ended", arguments: BothVersions.all)
    func refusedBodyOfUnendedStream(_ version: String) async throws {
        let body = Data(RangedResource.bytes(100_000))
        @Sendable func load(_ session: URLSession, _ url: URL?, _ observer: UploadObserver) async throws {
            let (input, writer) = try Self.unendedStream(of: body)
            defer { writer.close() }
            var request = URLRequest(url: try #require(url))
            request.httpMethod = "POST"
            request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = input
            let task = session.uploadTask(withStreamedRequest: request)
            task.delegate = observer
            task.resume()
            #expect(await observer.errors.count(reaches: 1) == [nil])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 500)
        }
        if version == "h2" {
            let methods = Recorder<String>()
            let server = try ConnectionAcceptor(.ipv4()) { socket, _ in
                try? Self.refuse(body.count, on: socket, methods)
            }
            defer { server.stop() }
            let session = makeSession { $0.assumesCleartextHTTP2 = true }
            defer { session.invalidateAndCancel() }
            let url = try server.url
            try await withTimeout { try await load(session, url, UploadObserver(UploadPeer(), nil)) }
            #expect(methods.snapshot == ["POST"])
        } else {
            try await UploadSite.with(version, Self.faults { $0.results = [ServerResponse(500)] }) { site in
                try await load(site.session, site.request().url, site.observer())
                #expect(site.methods == ["POST"])
            }
        }
    }

    /// Refuses an upload over HTTP/2 for a minute. Each part of the response comes 8 seconds after the one before, by
    /// the loop's clock. A PING shows that the client has it.
    private static func refuseSlowly(
        _ socket: StreamSocket, _ time: ManualTime, _ loop: EventLoop, _ methods: Recorder<String>
    ) throws {
        var post: HTTP2StreamID?
        var answerCount = 0
        try socket.serveHTTP2 { event, machine, output in
            var fields = HTTPFields()
            switch event {
            case .headers(let stream, .request(let head), _):
                methods.append(head.method)
                if head.method == "HEAD" {
                    fields.append(name: "Upload-Complete", value: "?1")
                    return try machine.sendResponse(204, fields, on: stream, endStream: true, to: &output)
                }
                post = stream
                fields.append(name: "Location", value: "/uploads/0")
                try machine.sendResponse(104, fields, on: stream, endStream: false, to: &output)
                machine.sendPing(0, to: &output)
            case .pingAcknowledged:
                guard let post else { return }
                answerCount += 1
                time.advance(by: .seconds(answerCount < 4 ? 8 : 61))
                // The frames that follow must not come before the timers.
                let hasAdvanced = Signal()
                loop.execute { hasAdvanced.fire() }
                hasAdvanced.waitBlocking()
                switch answerCount {
                case 1:
                    fields.append(name: "Retry-After", value: "60")
                    try machine.sendResponse(503, fields, on: post, endStream: false, to: &output)
                case 2, 3:
                    try machine.sendDataHeader(1, on: post, endStream: answerCount == 3, to: &output)
                    output.append(0)
                default: return
                }
                machine.sendPing(UInt64(answerCount), to: &output)
            default: break
            }
        }
    }

    @Test("do not time out while they discard a response, nor in the pause that it asks for")
    func slowRefusal() async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "paused", time: .manual(time))
        defer { loop.stop() }
        let methods = Recorder<String>()
        let server = try ConnectionAcceptor(.ipv4()) { socket, _ in
            try? Self.refuseSlowly(socket, time, loop, methods)
        }
        defer { server.stop() }
        let session = makeSession(on: loop) {
            $0.assumesCleartextHTTP2 = true
            $0.timeoutIntervalForRequest = 10
        }
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try server.url)
        request.httpMethod = "POST"
        try await withTimeout { [request] in
            let (_, response) = try await session.upload(for: request, from: Data("body".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 204)
        }
        #expect(methods.snapshot == ["POST", "HEAD"])
    }

    @Test(
        "fail where the server has refused the last part and has all of it, unless a gateway has",
        arguments: BothVersions.all, [500, 503])
    func refusedLastParts(_ version: String, _ status: Int) async throws {
        let faults = Self.faults {
            $0.breaks = [1_000_000]
            $0.results = [ServerResponse(status)]
        }
        try await UploadSite.with(version, faults) { site in
            let result = try await site.upload(Self.body)
            #expect(site.methods.suffix(3) == ["HEAD", "PATCH 1000000", "HEAD"])
            switch result {
            case .success(let text): #expect(status == 503 && text == "204")
            case .failure(let error):
                #expect(status == 500 && error.code == .badServerResponse && error.uploadTaskResumeData == nil)
            }
        }
    }

    @Test("give the program what the server answers to a part", arguments: BothVersions.all)
    func answeredParts(_ version: String) async throws {
        let faults = Self.faults {
            $0.breaks = [1_000_000]
            $0.appends = [ServerResponse(422)]
        }
        try await UploadSite.with(version, faults) { site in
            let text = try await site.upload(Self.body).get()
            #expect(text == "422")
        }
    }

    @Test(
        "fail with the interruption where the server has forgotten them", arguments: BothVersions.all, [404, 410, 403])
    func forgotten(_ version: String, _ status: Int) async throws {
        let faults = Self.faults {
            $0.breaks = [1_000_000]
            $0.retrievals = [ServerResponse(status)]
        }
        try await UploadSite.with(version, faults) { site in
            guard case .failure(let error) = try await site.upload(Self.body) else { return #expect(Bool(false)) }
            #expect(error.code == .networkConnectionLost && error.uploadTaskResumeData == nil)
            #expect(site.methods == ["HEAD"])
        }
    }

    @Test(
        "fail where the server does not report the offset, or an impossible one", arguments: BothVersions.all,
        ["-1", "9999999999999999", "3000001", "2.0", "x", "1, 2", "?1", ""])
    func badOffsets(_ version: String, _ offset: String) async throws {
        let faults = Self.faults {
            $0.breaks = [1_000_000]
            $0.retrievals = [ServerResponse(204).adding("Upload-Offset", offset).adding("Upload-Complete", "?0")]
        }
        try await UploadSite.with(version, faults) { site in
            guard case .failure(let error) = try await site.upload(Self.body) else { return #expect(Bool(false)) }
            #expect(error.code == .badServerResponse && error.uploadTaskResumeData == nil)
            #expect(site.methods == ["HEAD"])
        }
    }

    @Test("are sent in parts where the server takes no more at once", arguments: BothVersions.all)
    func limits(_ version: String) async throws {
        // More than the sockets hold, so that the first request does not bring all of it.
        let body = Data(RangedResource.bytes(20_000_000))
        try await UploadSite.with(version, Self.faults { $0.limit = "max-append-size=6000000, max-age=60;x" }) { site in
            let text = try await site.upload(body).get()
            #expect(text == "took 20000000")
            let methods = site.methods
            #expect(methods.first == "HEAD" && methods.count > 2, "\(methods)")
            let parts = site.server.requests.snapshot.filter { $0.method == "PATCH" }
            #expect(parts.dropLast().allSatisfy { $0.bodyLength == 6_000_000 })
            #expect(site.has(body))
        }
        try await UploadSite.with(version, Self.faults { $0.limit = "max-size=19999999" }) { site in
            guard case .failure(let error) = try await site.upload(body) else { return #expect(Bool(false)) }
            #expect(error.code == .dataLengthExceedsMaximum && error.uploadTaskResumeData == nil)
        }
    }

    private struct Ending: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let limit: String
        /// What is in one write with the 104.
        let final: String
        /// The answers to the requests that follow, each on a connection of its own.
        var answers: [String] = []
        let outcome: Outcome
        let requests: [String]
    }

    private static func response(_ status: String, _ fields: String = "", _ body: String = "") -> String {
        "HTTP/1.1 \(status)\r\n\(fields)Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let endings = [
        Ending(
            testDescription: "413, as the part is too large", limit: "max-append-size=40000",
            final: response("413 Large", "", "large"),
            answers: [
                "HTTP/1.1 204 No\r\nUpload-Offset: 0\r\nUpload-Complete: ?0\r\nConnection: close\r\n\r\n",
                response("200 OK", "Upload-Complete: ?0\r\n"), response("200 OK", "Upload-Complete: ?0\r\n"),
                response("200 OK", "Upload-Complete: ?1\r\n", "done"),
            ], outcome: .ok("done"),
            requests: ["POST 100000", "HEAD 0", "PATCH 40000", "PATCH 40000", "PATCH 20000"]),
        Ending(
            testDescription: "200, although the part is too large", limit: "max-append-size=40000",
            final: response("200 OK", "", "done"), outcome: .ok("done"), requests: ["POST 100000"]),
        Ending(
            testDescription: "413, as the body is too large", limit: "max-size=5",
            final: response("413 Large", "", "large"), outcome: .failed(.dataLengthExceedsMaximum),
            requests: ["POST 100000"]),
        Ending(
            testDescription: "a redirect", limit: "max-append-size=40000",
            final: response("307 Elsewhere", "Location: /other\r\n"), answers: [response("200 OK", "", "done")],
            outcome: .ok("done"), requests: ["POST 100000", "POST 100000"]),
    ]

    @Test("take a response that comes with the server's limits for that to their first request", arguments: endings)
    private func endedWithLimits(_ ending: Ending) async throws {
        let offer = "HTTP/1.1 104 Go\r\nLocation: /uploads/1\r\nUpload-Limit: \(ending.limit)\r\n\r\n"
        let peer = try ScriptedPeer(
            scripts: ([offer + ending.final] + ending.answers).map { [.expectRequest, .send($0)] })
        defer { peer.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let outcome: Outcome
            do {
                let (data, response) = try await session.upload(
                    for: peer.request("/form", method: "POST"), from: Self.body.prefix(100_000))
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                outcome = .loaded(status: status, body: String(decoding: data, as: UTF8.self))
            } catch let error as URLError {
                outcome = .failed(error.code)
            }
            #expect(outcome == ending.outcome)
            #expect(peer.requests.snapshot.map { "\($0.method) \($0.body.count)" } == ending.requests)
        }
    }

    @Test("take as many 104 as what they have sent allows, and no more", arguments: BothVersions.all)
    func flood(_ version: String) async throws {
        try await UploadSite.with(version, Self.faults { $0.interims = 10_000 }) { site in
            guard case .failure(let error) = try await site.upload(Data("short".utf8)) else {
                return #expect(Bool(false))
            }
            #expect(
                [.cannotParseResponse, .badServerResponse, .dataLengthExceedsMaximum].contains(error.code), "\(error)")
        }
    }

    @Test("follow a redirect of the first request", arguments: BothVersions.all)
    func redirected(_ version: String) async throws {
        let route: @Sendable (ServerRequest) throws -> ServerResponse? = { request in
            request.path == "/moved" ? .redirect(to: "/form", status: 307) : nil
        }
        try await UploadSite.with(version, route: route) { site in
            let observer = site.observer()
            let (data, _) = try await site.session.upload(
                for: try site.request("/moved"), from: Self.body, delegate: observer)
            #expect(String(decoding: data, as: UTF8.self) == "took 3000000")
        }
    }

    @Test("remove the stored responses of their URL", arguments: BothVersions.all)
    func invalidation(_ version: String) async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        try await UploadSite.with(version, Self.faults { $0.breaks = [1_000_000] }, { $0.urlCache = cache }) { site in
            let requests = try ["GET", "HEAD"].map { try site.request("/form", $0) }
            for request in requests {
                let response = URLResponse(
                    url: try #require(request.url), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
                cache.storeCachedResponse(CachedURLResponse(response: response, data: Data()), for: request)
            }
            #expect(requests.allSatisfy { cache.cachedResponse(for: $0) != nil })
            let text = try await site.upload(Self.body).get()
            #expect(text == "took 3000000")
            #expect(requests.allSatisfy { cache.cachedResponse(for: $0) == nil })
        }
    }

    @Test("answer challenges amid", arguments: BothVersions.all)
    func challenged(_ version: String) async throws {
        let wanted = Recorder<String>()
        let route: @Sendable (ServerRequest) throws -> ServerResponse? = { request in
            guard request.method == "HEAD" || request.method == "PATCH",
                request.fields[.authorization] != "Basic dXNlcjpzZWNyZXQ="
            else { return nil }
            wanted.append(request.method)
            return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"uploads\"")
        }
        try await UploadSite.with(version, Self.faults { $0.breaks = [1_000_000] }, route: route) { site in
            let space = URLProtectionSpace(
                host: "localhost", port: Int(site.server.address.port ?? 0), protocol: "https", realm: "uploads",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            site.session.configuration.urlCredentialStorage?.setDefaultCredential(
                URLCredential(user: "user", password: "secret", persistence: .forSession), for: space)
            let text = try await site.upload(Self.body).get()
            #expect(text == "took 3000000")
            #expect(wanted.snapshot.first == "HEAD" && site.has(Self.body))
        }
    }
}
