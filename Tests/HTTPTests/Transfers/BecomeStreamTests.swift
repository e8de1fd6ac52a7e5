import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Data tasks that become stream tasks: what is read, and what comes of the rest.
@Suite(.timeLimit(.minutes(5))) struct BecomeStreamTests {
    /// Calls `body` with the stream task that a data task has become.
    private static func become(
        _ session: URLSession, _ recorder: StreamingRecorder, _ request: URLRequest
    ) async throws -> URLSessionStreamTask {
        let task = session.dataTask(with: request)
        task.resume()
        let stream = try #require(await recorder.streamTasks.element(at: 0))
        #expect(task.state == .completed && task.taskIdentifier == stream.taskIdentifier)
        #expect(await session.allTasks == [stream])
        return stream
    }

    private static func readAll(_ task: URLSessionStreamTask) async throws -> Data {
        var all = Data()
        while true {
            let (data, isAtEnd) = try await task.readData(ofMinLength: 1, maxLength: 1 << 16, timeout: 0)
            all += data ?? Data()
            if isAtEnd { return all }
        }
    }

    private static let text = String(repeating: "What is compressed and long. ", count: 40_000)

    @Test(arguments: BothVersions.all) func theBodyIsRead(_ version: String) async throws {
        let recorder = StreamingRecorder()
        let route: LoopbackServer.Route = { _ in try .gzip(Array(Self.text.utf8)) }
        try await BothVersions.withServer(version, route, delegate: recorder) { session, server in
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            let first = try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0)
            #expect(first.0 == Data("What".utf8) && !first.1)
            let error = await #expect(throws: URLError.self) { try await task.write(Data("x".utf8), timeout: 1) }
            let reason = error?.userInfo[NSUnderlyingErrorKey].map { "\($0)" }
            #expect(reason == "the stream is the body of a response, which can only be read")
            let rest = try await Self.readAll(task)
            #expect(String(decoding: first.0.map { $0 + rest } ?? rest, as: UTF8.self) == Self.text)
            #expect(
                await recorder.all() == ["response", "become stream true", "read closed", "metrics", "complete ok"])
            #expect(task.countOfBytesReceived == Int64(Self.text.utf8.count) && task.state == .completed)
            let metrics = try #require(recorder.metrics.snapshot.first)
            let transaction = try #require(metrics.transactionMetrics.first)
            #expect(metrics.transactionMetrics.count == 1 && transaction.networkProtocolName == version)
            #expect(transaction.countOfResponseBodyBytesAfterDecoding == Int64(Self.text.utf8.count))
            #expect(transaction.responseEndDate != nil)
        }
    }

    /// The server is held back by a program that does not read.
    @Test(arguments: BothVersions.all) func whatIsNotReadIsNotReceived(_ version: String) async throws {
        let piece = [UInt8](repeating: 7, count: 1 << 16)
        // More than sockets and the windows of HTTP/2 hold, which grow with the delay: on a machine that is busy, far.
        let tooMuch = 4000 * piece.count
        let (sent, enough) = (Box(0), Signal())
        let recorder = StreamingRecorder()
        let bystander = try LoopbackServer { _ in .text("") }
        defer { bystander.stop() }
        let route: LoopbackServer.Route = { _ in
            .stream(.chunked) { writer in
                while !enough.hasFired, sent.value < tooMuch {
                    try writer.write(piece)
                    sent.update { $0 += piece.count }
                }
            }
        }
        try await BothVersions.withServer(version, route, delegate: recorder) { session, server in
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            var (received, isAtEnd) = (0, false)
            func read() async throws {
                let read = try await task.readData(ofMinLength: piece.count, maxLength: piece.count, timeout: 0)
                received += read.0?.count ?? 0
                isAtEnd = read.1
            }
            try await read()
            // Nothing else ends what the server sends.
            try await session.settles(beside: bystander) { sent.value }
            #expect(sent.value < tooMuch)
            enough.fire()
            while !isAtEnd { try await read() }
            #expect(received == sent.value)
        }
    }

    @Test func anySchemeWill() async throws {
        final class Greeting: URLProtocolHandler, @unchecked Sendable {  // as its superclass
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }

            override func load(_ load: LoadContext) async throws {
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                for word in ["hel", "lo"] { try await load.receive(Data(word.utf8)) }
                if load.url.host == "broken" { throw URLError(.networkConnectionLost) }
            }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("hello".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let urls = ["data:,hello", "greeting://anyone", "greeting://broken", file.absoluteString]
        for text in urls {
            try await withTimeout {
                let recorder = StreamingRecorder()
                let session = makeSession(delegate: recorder) { $0.protocolClasses = [Greeting.self] }
                defer { session.invalidateAndCancel() }
                let url = try #require(URL(string: text))
                let task = try await Self.become(session, recorder, URLRequest(url: url))
                let first = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
                #expect(first.0 == Data("hello".utf8), "\(text)")
                guard text == "greeting://broken" else {
                    let end = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
                    #expect(end.0 == nil && end.1)
                    #expect(await recorder.all().suffix(3) == ["read closed", "metrics", "complete ok"])
                    return
                }
                // The bytes that came before the failure were read before it.
                let error = await #expect(throws: URLError.self) { try await Self.readAll(task) }
                #expect(error?.code == .networkConnectionLost)
                #expect(await recorder.all().suffix(2) == ["metrics", "complete -1005"])
            }
        }
    }

    // MARK: Before the end

    @Test(arguments: BothVersions.all, [false, true])
    func aBodyIsLeftUnread(_ version: String, _ invalidates: Bool) async throws {
        let recorder = StreamingRecorder()
        let body = [UInt8](repeating: 5, count: 32 << 20)
        try await BothVersions.withServer(version, { _ in .bytes(body) }, delegate: recorder) { session, server in
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            let (data, isAtEnd) = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
            #expect(data == Data(body.prefix(5)) && !isAtEnd)
            if invalidates { session.invalidateAndCancel() } else { task.cancel() }
            #expect(await recorder.all().suffix(2) == ["metrics", "complete -999"])
            #expect(recorder.metrics.snapshot.map(\.transactionMetrics.count) == [1])
            #expect(await session.allTasks.isEmpty)
            let error = await #expect(throws: URLError.self) { try await Self.readAll(task) }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func aReadThatWaitsIsToldOfTheEnd() async throws {
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .readUntilClose,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder) { $0.timeoutIntervalForRequest = 300 }
            defer { session.invalidateAndCancel() }
            let task = try await Self.become(session, recorder, peer.request())
            let reads = Recorder<(any Error)?>()
            task.readData(ofMinLength: 6, maxLength: 6, timeout: 0) { _, _, error in reads.append(error) }
            task.cancel()
            #expect((await reads.element(at: 0) as? URLError)?.code == .cancelled)
            #expect(await recorder.all().suffix(2) == ["metrics", "complete -999"])
            await peer.endedCount(reaches: 1)
        }
    }

    @Test(arguments: BothVersions.all) func closingTheReadSideEndsTheTask(_ version: String) async throws {
        let (recorder, release) = (StreamingRecorder(), Signal())
        let route: LoopbackServer.Route = { request in
            guard request.path == "/half" else { return .text("next") }
            return .stream(.length(10)) { writer in
                try writer.write("first")
                try writer.wait(for: release)
            }
        }
        try await BothVersions.withServer(version, route, delegate: recorder) { session, server in
            defer { release.fire() }
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/half"))
            task.closeRead()
            #expect(await recorder.all().suffix(3) == ["read closed", "metrics", "complete ok"])
            release.fire()
            let outcome = await session.outcome(try BothVersions.request(server, "/next"))
            #expect(outcome == .ok("next"))
        }
    }

    @Test func tlsCannotBePutOnABody() async throws {
        let server = try LoopbackServer { _ in .text("body") }
        defer { server.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            task.startSecureConnection()
            #expect(await recorder.all().suffix(2) == ["metrics", "complete -1200"])
            #expect(task.error?.localizedDescription.contains("the body of a response") == true)
        }
    }

    /// A suspended stream task receives nothing, and its time does not run.
    @Test func suspending() async throws {
        let release = Signal()
        let server = try LoopbackServer { _ in
            .stream(.length(10)) { writer in
                try writer.write("first")
                try writer.wait(for: release)
                try writer.write("after")
            }
        }
        defer { server.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            _ = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
            task.suspend()
            let reads = Recorder<Data?>()
            task.readData(ofMinLength: 5, maxLength: 5, timeout: 0) { data, _, _ in reads.append(data) }
            release.fire()
            _ = await session.allTasks
            #expect(reads.count == 0)
            task.resume()
            #expect(await reads.element(at: 0) == Data("after".utf8))
        }
    }

    /// As of a connection of its own: a read that takes too long is given up, and nothing of the body is lost.
    @Test(arguments: BothVersions.all) func aReadHasATimeOfItsOwn(_ version: String) async throws {
        let (recorder, release) = (StreamingRecorder(), Signal())
        let route: LoopbackServer.Route = { _ in
            .stream(.length(10)) { writer in
                try writer.write("first")
                try writer.wait(for: release)
                try writer.write("after")
            }
        }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await BothVersions.withServer(version, route, delegate: recorder, on: loop) { session, server in
            defer { release.fire() }
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            let errors = Recorder<(any Error)?>()
            task.readData(ofMinLength: 6, maxLength: 6, timeout: 3) { _, _, error in errors.append(error) }
            _ = await session.allTasks
            time.advance(by: .seconds(4))
            let error = try #require(await errors.element(at: 0)) as? URLError
            #expect(error?.code == .timedOut && task.state == .running)
            release.fire()
            let (data, isAtEnd) = try await task.readData(ofMinLength: 10, maxLength: 10, timeout: 0)
            #expect(data == Data("firstafter".utf8) && !isAtEnd)
        }
    }

    /// The event that ends a captured body early.
    enum Break: CaseIterable, Sendable {
        case silence, close

        var step: ScriptedPeer.Step { self == .silence ? .readUntilClose : .close }
        var code: URLError.Code { self == .silence ? .timedOut : .networkConnectionLost }
    }

    @Test(arguments: Break.allCases) func aCapturedBodyThatBreaksIsNotTakenForWhole(_ end: Break) async throws {
        let isCaptured = Signal()
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .waitFor(isCaptured),
            end.step,
        ])
        defer { peer.stop() }
        // The session's time goes on without it.
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: end == .silence ? .manual(time) : .system)
        defer { loop.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder, on: loop) { $0.timeoutIntervalForRequest = 30 }
            let task = try await Self.become(session, recorder, peer.request())
            task.captureStreams()
            _ = await recorder.inputs.count(reaches: 1)
            isCaptured.fire()
            session.finishTasksAndInvalidate()
            let (text, last, code) = try await onThread { () throws -> (String, Int, URLError.Code?) in
                let input = try #require(recorder.inputs.snapshot.first).value
                input.open()
                defer { input.close() }
                var bytes = [UInt8](repeating: 0, count: 100)
                var (text, last) = ("", 1)
                while last > 0 {
                    last = input.read(&bytes, maxLength: bytes.count)
                    text += String(decoding: bytes.prefix(max(0, last)), as: UTF8.self)
                    if text == "first" { time.advance(by: .seconds(31)) }
                }
                #expect(input.streamStatus == .error)
                return (text, last, (input.streamError as? URLError)?.code)
            }
            #expect(text == "first" && last == -1 && code == end.code)
            await peer.endedCount(reaches: 1)
        }
    }

    @Test func aBodyCanBeCaptured() async throws {
        let server = try LoopbackServer { _ in .bytes([UInt8](repeating: 9, count: 300_000)) }
        defer { server.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = try await Self.become(session, recorder, BothVersions.request(server, "/"))
            task.captureStreams()
            _ = await recorder.inputs.count(reaches: 1)
            let count = try await onThread { () throws -> Int in
                let input = try #require(recorder.inputs.snapshot.first).value
                input.open()
                defer { input.close() }
                var bytes = [UInt8](repeating: 0, count: 10_000)
                var count = 0
                while case let read = input.read(&bytes, maxLength: bytes.count), read > 0 { count += read }
                return count
            }
            #expect(count == 300_000 && task.state == .completed)
        }
    }

    /// An answer that comes when the task is over changes nothing.
    @Test(arguments: [URLSession.ResponseDisposition.becomeStream, .becomeDownload])
    func anAnswerThatComesTooLate(_ disposition: URLSession.ResponseDisposition) async throws {
        final class Late: TransferRecorder, @unchecked Sendable {  // as its superclass
            let answers = Recorder<@Sendable () -> Void>()

            override func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
                completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
            ) { answers.append { [disposition] in completionHandler(disposition) } }
        }
        let server = try LoopbackServer { _ in .text("body") }
        defer { server.stop() }
        try await withTimeout {
            let recorder = Late(disposition: disposition)
            let session = makeSession(delegate: recorder)
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            task.resume()
            let answer = try #require(await recorder.answers.element(at: 0))
            task.cancel()
            _ = await recorder.all()
            answer()
            #expect(await session.allTasks.isEmpty)
            #expect(recorder.events.snapshot == ["metrics", "complete -999"])
            session.invalidateAndCancel()
        }
    }
}

/// Answers that the data task is to become a stream task, and records what is told of that.
final class StreamingRecorder: TransferRecorder, URLSessionStreamDelegate, @unchecked Sendable {  // constants
    struct Input: @unchecked Sendable {  // handed to one thread
        let value: InputStream
    }

    let inputs = Recorder<Input>()

    init(_ disposition: URLSession.ResponseDisposition = .becomeStream) { super.init(disposition: disposition) }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        events.append("read closed")
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        events.append("write closed")
    }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        let input = Input(value: inputStream)
        inputs.append(input)
        events.append("streams")
    }
}
