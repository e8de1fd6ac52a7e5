import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@Suite struct UploadTests {
    private static func temporaryFile(_ bytes: Data) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("LoadingKit-\(UUID().uuidString)")
        try bytes.write(to: url)
        return url
    }

    private static func echo(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/again": .redirect(to: "/", status: 307)
        default: .bytes(request.body)
        }
    }

    private enum Source: CaseIterable {
        case data, file, stream, sizedStream
    }

    private static func task(
        _ source: Source, _ session: URLSession, _ request: URLRequest, _ body: Data, _ file: URL
    ) -> URLSessionUploadTask {
        var request = request
        switch source {
        case .data: return session.uploadTask(with: request, from: body)
        case .file: return session.uploadTask(with: request, fromFile: file)
        case .stream: return session.uploadTask(withStreamedRequest: request)
        case .sizedStream:
            request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
            return session.uploadTask(withStreamedRequest: request)
        }
    }

    /// From every source, and once more where the server redirects with 307.
    @Test(arguments: BothVersions.all) func bodiesOfEveryKindArrive(_ version: String) async throws {
        let body = Data(RangedResource.bytes(700_001))
        let file = try Self.temporaryFile(body)
        defer { try? FileManager.default.removeItem(at: file) }
        try await BothVersions.withServer(version, Self.echo) { session, server in
            for source in Source.allCases {
                for path in ["/", "/again"] {
                    let recorder = TransferRecorder(streams: [{ InputStream(data: body) }, { InputStream(data: body) }])
                    let task = Self.task(source, session, try BothVersions.request(server, path, "POST"), body, file)
                    task.delegate = recorder
                    task.resume()
                    let events = await recorder.all()
                    let received = recorder.files.snapshot.reduce(Data(), +)
                    // Not compared in the macro, which lists the differences.
                    let isSame = received == body
                    #expect(isSame, "\(source) \(path): \(received.count) bytes")
                    let isStream = source == .stream || source == .sizedStream
                    let streams = events.count { $0 == "stream" }
                    #expect(streams == (isStream ? path == "/" ? 1 : 2 : 0), "\(source) \(path)")
                    #expect(task.countOfBytesSent == 700_001, "\(source) \(path)")
                    let last = events.last { $0.hasPrefix("sent") }
                    let expected = source == .stream ? "-1" : "700001"
                    #expect(last == "sent 700001 of \(expected)", "\(source) \(path)")
                    let request = try #require(server.requests.last)
                    let length = request.fields[.contentLength]
                    #expect(length == (source == .stream ? nil : "700001"), "\(source) \(path)")
                    if version == "http/1.1" {
                        #expect(request.fields[.transferEncoding] == (source == .stream ? "chunked" : nil))
                    }
                }
            }
        }
    }

    /// Forwards the request twice, as one that tries again does.
    private struct Twice: LoadInterceptor {
        func load(_ load: LoadContext) async throws {
            for try await _ in try await load.next.load(load.request).body {}
            try await load.receive(load.next.load(load.request))
        }
    }

    /// For a user whom the server asks for, and for an interceptor that tries again.
    @Test(arguments: BothVersions.all) func bytesThatAreSentAgainAreCountedOnce(_ version: String) async throws {
        let body = Data("hello there".utf8)
        for isInterceptor in [false, true] {
            let route: LoopbackServer.Route = { request in
                isInterceptor || request.fields[.authorization] != nil
                    ? Self.echo(request) : ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"a\"")
            }
            try await BothVersions.withServer(version, route) { plain, server in
                let configuration = plain.configuration
                if isInterceptor { configuration.interceptors = [Twice()] }
                let session = URLSession(configuration: configuration)
                defer { session.finishTasksAndInvalidate() }
                var request = try BothVersions.request(server, "/", "POST")
                let url = try #require(
                    request.url?.absoluteString.replacingOccurrences(of: "://", with: "://ada:secret@"))
                request.url = URL(string: url)
                let recorder = TransferRecorder()
                let task = session.uploadTask(with: request, from: body)
                task.delegate = recorder
                task.resume()
                let events = await recorder.all().filter { $0.hasPrefix("sent") }
                #expect(server.requests.count == 2)
                #expect(!events.isEmpty && events.allSatisfy { $0 == "sent 11 of 11" }, "\(events)")
                #expect(task.countOfBytesSent == 11)
            }
        }
    }

    /// A server that reads as fast as a client can send does not keep the client's loop from other work.
    @Test func dataIsSentInTurns() async throws {
        let size = 5 * ByteStream.bytesInARow
        let peer = try ScriptedPeer([.expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .hold])
        defer { peer.stop() }
        // The time to wait for the server's word is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        // Behind the head the socket takes everything at once.
        loop.attach(FaultPlan(.send, .from(2), .skip))
        try await withTimeout {
            let session = makeSession(on: loop)
            defer { session.invalidateAndCancel() }
            let task = session.uploadTask(with: peer.request(method: "PUT"), from: Data(count: size))
            let turns = TurnCounts()
            loop.execute { turns.note(task, on: loop, until: Int64(size)) }
            task.resume()
            let sent = await turns.counts.contents { $0.last == Int64(size) }.map { Int($0) }
            // The head, too, is among the bytes of a turn.
            let steps = zip(sent, [0] + sent).map { $0 - $1 }
            #expect(steps.allSatisfy { 1...ByteStream.bytesInARow ~= $0 }, "\(sent)")
        }
    }

    /// A task's count of sent bytes in each turn of a loop in which it has changed.
    private final class TurnCounts: Sendable {
        let counts = Recorder<Int64>()

        func note(_ task: URLSessionTask, on loop: EventLoop, until size: Int64) {
            let count = task.countOfBytesSent
            if count != counts.last ?? 0 { counts.append(count) }
            if count < size { loop.executeInNextTurn { self.note(task, on: loop, until: size) } }
        }
    }

    /// Is busy with the first call about sent bytes until the signal fires.
    private final class BusyRecorder: TransferRecorder, @unchecked Sendable {  // constants
        let isReleased = Signal()
        let sent = Recorder<[Int64]>()

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            isReleased.waitBlocking()
            sent.append([bytesSent, totalBytesSent, totalBytesExpectedToSend])
        }
    }

    /// Calls do not gather in memory.
    @Test(arguments: BothVersions.all) func aBusyDelegateIsToldOfBytesTogether(_ version: String) async throws {
        let size = Int64(8 * ByteStream.bytesInARow)
        let recorder = BusyRecorder()
        defer { recorder.isReleased.fire() }
        try await BothVersions.withServer(version, { _ in .text("done") }, delegate: recorder) { session, server in
            let request = try BothVersions.request(server, "/", "POST")
            let task = session.uploadTask(with: request, from: Data(count: Int(size)))
            task.resume()
            try await waitUntil { task.countOfBytesSent == size }
            recorder.isReleased.fire()
            #expect(await recorder.all().last == "complete ok")
            let sent = recorder.sent.snapshot
            // The first bytes, those that were sent meanwhile, and the last ones, of which the delegate was just told.
            #expect((1...3).contains(sent.count), "\(sent)")
            #expect(sent.map { $0[0] }.reduce(0, +) == size && sent.last == [sent.last?[0] ?? 0, size, size])
            #expect(zip(sent, sent.dropFirst()).allSatisfy { $0[1] + $1[0] == $1[1] }, "\(sent)")
        }
    }

    @Test func theAsynchronousAndCompletionForms() async throws {
        let body = Data("some bytes".utf8)
        let file = try Self.temporaryFile(body)
        defer { try? FileManager.default.removeItem(at: file) }
        let server = try LoopbackServer { Self.echo($0) }
        defer { server.stop() }
        try await withTimeout {
            let session = makeSession()
            let request = try BothVersions.request(server, "/", "PUT")
            #expect(try await session.upload(for: request, from: body).0 == body)
            #expect(try await session.upload(for: request, fromFile: file).0 == body)
            let answers = Recorder<Data?>()
            session.uploadTask(with: request, from: body) { data, _, _ in answers.append(data) }.resume()
            session.uploadTask(with: request, fromFile: file) { data, _, _ in answers.append(data) }.resume()
            session.uploadTask(with: request, from: nil) { data, _, _ in answers.append(data) }.resume()
            #expect(Set(await answers.count(reaches: 3)) == [body, Data()])
        }
    }

    @Test func aFileThatIsNotThereOrShrinksIsAnError() async throws {
        let server = try LoopbackServer { Self.echo($0) }
        defer { server.stop() }
        try await withTimeout {
            let session = makeSession()
            let request = try BothVersions.request(server, "/", "PUT")
            let missing = URL(fileURLWithPath: "/nowhere/\(UUID().uuidString)")
            for (url, code) in [
                (missing, URLError.Code.fileDoesNotExist), (URL(fileURLWithPath: "/tmp"), .fileIsDirectory),
                (try #require(URL(string: "http://127.0.0.1/")), .unsupportedURL),
            ] {
                await #expect(throws: URLError.self) {
                    do { _ = try await session.upload(for: request, fromFile: url) } catch let error as URLError {
                        #expect(error.code == code, "\(error)")
                        throw error
                    }
                }
            }
        }
    }

    @Test(arguments: BothVersions.all)
    func aStreamOfAnotherLengthThanAnnouncedIsAnError(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.echo) { session, server in
            for length in [5, 20] {
                let recorder = TransferRecorder(streams: [{ InputStream(data: Data(count: 10)) }])
                var request = try BothVersions.request(server, "/", "PUT")
                request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
                let task = session.uploadTask(withStreamedRequest: request)
                task.delegate = recorder
                task.resume()
                #expect(await recorder.all().last == "complete \(URLError.requestBodyStreamExhausted.rawValue)")
            }
            #expect(server.requests.snapshot.isEmpty)
        }
    }

    @Test func anUploadWithoutAStreamIsAnError() async throws {
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder)
            session.uploadTask(withStreamedRequest: URLRequest(url: try #require(URL(string: "http://127.0.0.1:9/"))))
                .resume()
            #expect(await recorder.all().last == "complete \(URLError.requestBodyStreamExhausted.rawValue)")
            session.invalidateAndCancel()
        }
    }

    /// The response comes while the body is still to be sent: the rest of it is not, and who writes it learns of that.
    @Test func anEarlyResponseStopsTheUpload() async throws {
        let peer = try ScriptedPeer([
            .expectHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
            .readUntilClose,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let stopped = Signal()
            let input = BoundBody.endless { stopped.fire() }
            let session = makeSession()
            // Waits for no `100 Continue`, which would keep the body from being sent at all.
            var request = peer.request(method: "POST")
            request.setValue("100000000", forHTTPHeaderField: "Content-Length")
            let recorder = TransferRecorder(streams: [{ input.take() }])
            let task = session.uploadTask(withStreamedRequest: request)
            task.delegate = recorder
            task.resume()
            #expect(await recorder.all().last == "complete ok")
            #expect((task.response as? HTTPURLResponse)?.statusCode == 413)
            await stopped.wait()
        }
    }

    @Test func cancellingFreesWhoeverWritesTheBody() async throws {
        let peer = try ScriptedPeer([.expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBytes(100_000), .hold])
        defer { peer.stop() }
        try await withTimeout {
            let stopped = Signal()
            let input = BoundBody.endless { stopped.fire() }
            let recorder = TransferRecorder(streams: [{ input.take() }])
            let session = makeSession()
            let task = session.uploadTask(withStreamedRequest: peer.request(method: "POST"))
            task.delegate = recorder
            task.resume()
            _ = await recorder.events.count(reaches: 3)
            task.cancel()
            #expect(await recorder.all().last == "complete \(URLError.cancelled.rawValue)")
            await stopped.wait()
        }
    }

    /// A peer that answers a part of a body with a challenge, and the request with a name and a password to it.
    ///
    /// - Parameter rest: the peer's steps after the head of the second request.
    private static func challenger(then rest: [ScriptedPeer.Step]) throws -> (ScriptedPeer, URLRequest) {
        let beginning: [ScriptedPeer.Step] = [.expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n")]
        let challenge: [ScriptedPeer.Step] = [
            .expectBytes(100_000),
            .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n"),
            .readUntilClose,
        ]
        let peer = try ScriptedPeer(scripts: [beginning + challenge, beginning + rest])
        var request = peer.request(method: "POST")
        request.url = URL(string: peer.url().replacingOccurrences(of: "://", with: "://ada:secret@"))
        return (peer, request)
    }

    /// The writer of a body that is replaced by another one for a challenge is freed at once.
    @Test func theWriterOfAReplacedBodyIsFreed() async throws {
        let stopped = Signal()
        let (peer, request) = try Self.challenger(then: [.expectBody, .waitFor(stopped), .respond("in")])
        defer { peer.stop() }
        try await withTimeout {
            let (first, second) = (BoundBody.endless { stopped.fire() }, BoundBody.sending(Data("again".utf8)))
            let session = makeSession()
            defer { session.invalidateAndCancel() }
            let recorder = TransferRecorder(streams: [{ first.take() }, { second.take() }])
            let task = session.uploadTask(withStreamedRequest: request)
            task.delegate = recorder
            task.resume()
            #expect(await recorder.all().last == "complete ok")
        }
        #expect(peer.requestsWithBody.snapshot.map(\.bodyText) == ["again"])
    }

    /// Answers one question when the signal fires, and the questions before it at once.
    private final class HeldCookies: HTTPCookieStorage, @unchecked Sendable {  // constants
        let isAsked = Signal()
        let isReleased = Signal()
        private let earlier: Guarded<Int>

        /// - Parameter earlier: the number of questions before the one that is held.
        init(after earlier: Int) {
            self.earlier = Guarded(earlier)
            super.init()
        }

        override func getCookiesFor(
            _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {
            let isEarlier = earlier.withLock { earlier in
                defer { earlier -= 1 }
                return earlier > 0
            }
            if isEarlier { return completionHandler(nil) }
            isAsked.fire()
            Thread.detachNewThread { [isReleased] in
                isReleased.waitBlocking()
                completionHandler(nil)
            }
        }
    }

    /// Fires the signal when the count of sent bytes begins anew. On the delegate's queue, as the former body is sent until
    /// then: other threads of a busy machine may take their time.
    private final class RestartRecorder: TransferRecorder, @unchecked Sendable {  // constants
        private let restarts: Signal
        /// The number of calls with the first bytes of a count. One call may tell of more bytes than all calls before.
        private let beginnings = Guarded(0)

        init(_ restarts: Signal, streams: [@Sendable () -> InputStream?]) {
            self.restarts = restarts
            super.init(streams: streams)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            super.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
            guard totalBytesSent == bytesSent else { return }
            let count = beginnings.withLock { count in
                count += 1
                return count
            }
            if count == 2 { restarts.fire() }
        }
    }

    /// The connection goes on sending the former body while the program's cookie storage takes its time.
    @Test func bytesThatAreSentWhileTheCookiesAreAwaitedAreNotCounted() async throws {
        let (peer, request) = try Self.challenger(then: [.expectBody, .respond("in")])
        defer { peer.stop() }
        try await withTimeout {
            let (first, second) = (BoundBody.endless {}, BoundBody.sending(Data("again".utf8)))
            let cookies = HeldCookies(after: 1)
            let session = makeSession { $0.httpCookieStorage = cookies }
            defer { session.invalidateAndCancel() }
            // The count begins anew when the task has its new stream.
            let recorder = RestartRecorder(cookies.isReleased, streams: [{ first.take() }, { second.take() }])
            let task = session.uploadTask(withStreamedRequest: request)
            task.delegate = recorder
            task.resume()
            let events = await recorder.all()
            #expect(events.last == "complete ok")
            #expect(events.last { $0.hasPrefix("sent") } == "sent 5 of -1")
            #expect(task.countOfBytesSent == 5)
        }
    }

    /// As Apple's guide has it: a bound pair, the delegate gives the input, and the output's delegate in a run loop writes
    /// when there is room.
    @Test(arguments: BothVersions.all) func aBoundPairIsSentAsItIsWritten(_ version: String) async throws {
        let body = Data(RangedResource.bytes(300_000))
        try await BothVersions.withServer(version, Self.echo) { session, server in
            let input = BoundBody.sending(body)
            let recorder = TransferRecorder(streams: [{ input.take() }])
            let task = session.uploadTask(withStreamedRequest: try BothVersions.request(server, "/", "POST"))
            task.delegate = recorder
            task.resume()
            #expect(await recorder.all().last == "complete ok")
            let isSame = recorder.files.snapshot.reduce(Data(), +) == body
            #expect(isSame)
        }
    }

    /// Pieces that the program produces meanwhile, and the body's end, are sent when the task is resumed.
    @Test(arguments: BothVersions.all) func aSuspendedUploadSendsNoPieces(_ version: String) async throws {
        let bystander = try LoopbackServer { _ in .text("") }
        defer { bystander.stop() }
        let piece = Data(RangedResource.bytes(65_536))
        try await BothVersions.withServer(version, Self.echo) { session, server in
            let (pieces, writer) = AsyncStream<Data>.makeStream()
            let recorder = TransferRecorder(streams: [{ URLRequest.bodyStream(of: pieces) }])
            let task = session.uploadTask(withStreamedRequest: try BothVersions.request(server, "/", "POST"))
            task.delegate = recorder
            task.resume()
            writer.yield(piece)
            _ = await recorder.events.contents { $0.last == "sent 65536 of -1" }
            task.suspend()
            // The loop knows of it once it answers this.
            _ = await session.allTasks
            writer.yield(piece)
            writer.finish()
            try await session.settles(beside: bystander) { Int(task.countOfBytesSent) }
            #expect(task.countOfBytesSent == 65_536)
            #expect(server.requests.snapshot.isEmpty)
            task.resume()
            #expect(await recorder.all().last == "complete ok")
            let isSame = recorder.files.snapshot.reduce(Data(), +) == piece + piece
            #expect(isSame)
        }
    }

    /// What the system has taken already arrives, and no more of it before the task is resumed or cancelled.
    @Test(arguments: BothVersions.all, [false, true])
    func aSuspendedUploadStops(_ version: String, _ isCancelled: Bool) async throws {
        // More than sockets and the windows of HTTP/2 hold.
        let body = Data(count: 32 << 20)
        let file = try Self.temporaryFile(body)
        defer { try? FileManager.default.removeItem(at: file) }
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = version == "h2"
        let bystander = try LoopbackServer(options) { _ in .text("") }
        defer { bystander.stop() }
        for source in [Source.data, .file] {
            let (isSuspended, received) = (Signal(), Box(0))
            options.receiveBody = { request, bytes in
                try request.exchange.wait(for: isSuspended)
                received.update { $0 += bytes.count }
            }
            let server = try LoopbackServer(options) { _ in .text("whole") }
            defer { server.stop() }
            try await withTimeout("\(version), \(source)") {
                let session = makeSession { $0.assumesCleartextHTTP2 = version == "h2" }
                defer { session.invalidateAndCancel() }
                let recorder = TransferRecorder()
                let task = Self.task(source, session, try BothVersions.request(server, "/", "PUT"), body, file)
                task.delegate = recorder
                task.resume()
                _ = await recorder.events.contents { $0.contains { $0.hasPrefix("sent") } }
                task.suspend()
                // The loop knows of it once it answers this.
                _ = await session.allTasks
                let sent = Int(task.countOfBytesSent)
                isSuspended.fire()
                try await session.settles(beside: bystander) { received.value }
                #expect(received.value <= sent && sent < body.count, "\(source)")
                #expect(task.countOfBytesSent == sent, "\(source)")
                if isCancelled { task.cancel() } else { task.resume() }
                let code = URLError.cancelled.rawValue
                #expect(await recorder.all().last == (isCancelled ? "complete \(code)" : "complete ok"), "\(source)")
                #expect(isCancelled || received.value == body.count, "\(source)")
            }
        }
    }

    /// No connection is made for an upload that was suspended before it had one. One with TLS is made for a host that
    /// requires https by the time of the task's resumption.
    @Test(arguments: [false, true]) func aSuspendedUploadMakesNoConnection(_ requiresHTTPS: Bool) async throws {
        let authority = try CertificateAuthority()
        let tls = requiresHTTPS ? TLSServerOptions(try authority.issue()) : nil
        let peer = try ScriptedPeer([.expectRequest, .respond("in")], tls: tls)
        let bystander = try LoopbackServer { _ in .text("") }
        defer { peer.stop() }
        defer { bystander.stop() }
        try await withTimeout {
            let cookies = HeldCookies(after: 0)
            defer { cookies.isReleased.fire() }
            let session = makeSession {
                $0.httpCookieStorage = cookies
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            defer { session.invalidateAndCancel() }
            let recorder = TransferRecorder()
            let url = peer.url(host: "localhost").replacing("https:", with: "http:")
            var request = URLRequest(url: try #require(URL(string: url)))
            request.httpMethod = "POST"
            let task = session.uploadTask(with: request, from: Data("body".utf8))
            task.delegate = recorder
            task.resume()
            await cookies.isAsked.wait()
            task.suspend()
            // The loop knows of it once it answers this.
            _ = await session.allTasks
            cookies.isReleased.fire()
            try await session.settles(beside: bystander) { peer.connections.count }
            #expect(peer.connections.isEmpty)
            if requiresHTTPS { session.core.settings.hsts.note("max-age=600", from: "localhost") }
            task.resume()
            #expect(await recorder.all().last == "complete ok")
        }
        #expect(peer.requests.snapshot.map(\.bodyText) == ["body"])
    }

    /// The server closes a connection on which it receives no request, with or without status 408. The request is sent
    /// on another one, which is made when the task is resumed.
    @Test(arguments: ["", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"])
    func aSuspendedUploadOutlivesItsConnection(_ timeout: String) async throws {
        let (firstMayEnd, isHeld) = (Signal(), Signal())
        let first: [ScriptedPeer.Step] = [.expectRequest, .waitFor(firstMayEnd), .respond("first"), .waitFor(isHeld)]
        let closing: [ScriptedPeer.Step] = timeout.isEmpty ? [.close] : [.send(timeout), .close]
        let second: [ScriptedPeer.Step] = [.expectRequest, .respond("second"), .readUntilClose]
        let peer = try ScriptedPeer(scripts: [first + closing, second, [.expectRequest, .respond("in")]])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession { $0.httpMaximumConnectionsPerHost = 1 }
            defer { session.invalidateAndCancel() }
            async let other = session.data(for: peer.request())
            await peer.requestCount(reaches: 1)
            let recorder = TransferRecorder()
            let task = session.uploadTask(with: peer.request(method: "POST"), from: Data("body".utf8))
            task.delegate = recorder
            task.resume()
            // The loop has done what was asked of it before once it answers this: the upload waits for the connection.
            _ = await session.allTasks
            task.suspend()
            _ = await session.allTasks
            firstMayEnd.fire()
            _ = try await other
            // There is a connection for this one when the upload's is closed.
            async let next = session.data(for: peer.request())
            isHeld.fire()
            #expect(try await next.0 == Data("second".utf8))
            #expect(peer.connections.count == 2)
            #expect(await session.flightRecord.contains("the request is sent again"))
            task.resume()
            #expect(await recorder.all().last == "complete ok")
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        }
        #expect(peer.requests.snapshot.map(\.bodyText) == ["", "", "body"])
    }

    /// A body that its writer could not write to its end is not sent as complete.
    @Test(arguments: BothVersions.all) func aBoundPairsWriterFailsTheUpload(_ version: String) async throws {
        let bodies = Recorder<Int>()
        let route: LoopbackServer.Route = { request in
            bodies.append(request.body.count)
            return .text("complete")
        }
        try await BothVersions.withServer(version, route) { session, server in
            let input = BoundBody.failing(after: Data(RangedResource.bytes(100_000)))
            let recorder = TransferRecorder(streams: [{ input.take() }])
            let task = session.uploadTask(withStreamedRequest: try BothVersions.request(server, "/", "POST"))
            task.delegate = recorder
            task.resume()
            let code = URLError.requestBodyStreamExhausted.rawValue
            #expect(await recorder.all().last == "complete \(code)")
        }
        #expect(bodies.snapshot == [])
    }
}
