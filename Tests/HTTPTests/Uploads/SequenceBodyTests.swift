import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Bodies that asynchronous sequences produce.
@Suite struct SequenceBodyTests {
    private struct Broken: Error, Equatable {}

    /// Answers the body, and with its framing the number of its bytes.
    private static let echo: LoopbackServer.Route = { request in
        .bytes(request.body).adding("X-Length", request.fields[name: "Content-Length"] ?? "none")
    }

    /// Pieces of which the n-th has n times n bytes.
    private static func pieces(_ count: Int) -> AsyncStream<Data> {
        AsyncStream { stream in
            for number in 0..<count {
                stream.yield(Data(repeating: UInt8(truncatingIfNeeded: number), count: number * number))
            }
            stream.finish()
        }
    }

    private static func whole(_ count: Int) -> Data {
        (0..<count).reduce(into: Data()) { $0 += Data(repeating: UInt8(truncatingIfNeeded: $1), count: $1 * $1) }
    }

    @Test(arguments: BothVersions.all) func piecesArriveInOrder(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.echo) { session, server in
            let request = try BothVersions.request(server, "/", "POST")
            for count in [0, 1, 2, 100] {
                let expected = Self.whole(count)
                let (unknown, first) = try await session.upload(for: request, from: Self.pieces(count))
                #expect(unknown == expected)
                #expect((first as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Length") == "none" || count == 0)
                let (known, second) = try await session.upload(
                    for: request, from: Self.pieces(count), length: Int64(expected.count))
                #expect(known == expected)
                let length = (second as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Length")
                #expect(length == String(expected.count))
            }
            let bytes = AsyncStream<UInt8> { stream in
                for number in 0..<40_000 { stream.yield(UInt8(truncatingIfNeeded: number)) }
                stream.finish()
            }
            let (echoed, _) = try await session.upload(for: request, from: bytes)
            #expect(echoed == Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0) }))
        }
    }

    /// Calls `body` with a session, and a request whose server records each byte of the body as it comes, and answers
    /// with all of them.
    private static func withRecorder(
        _ version: String, on loop: EventLoop = .next(), timeout: TimeInterval = 1000,
        _ body: @escaping @Sendable (URLSession, URLRequest, Recorder<UInt8>) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let received = Recorder<UInt8>()
        var options = LoopbackServer.Options(
            tls: TLSServerOptions(try authority.issue(), applicationProtocols: [version]))
        options.receiveBody = { _, bytes in
            for byte in bytes { received.append(byte) }
        }
        let server = try LoopbackServer(options) { _ in .bytes(received.snapshot) }
        defer { server.stop() }
        let session = makeSession(on: loop) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.timeoutIntervalForRequest = timeout
        }
        defer { session.invalidateAndCancel() }
        let request = try BothVersions.request(server, "/", "POST")
        try await withTimeout(version) { try await body(session, request, received) }
    }

    /// Bytes do not wait for others, which may depend on the server's having them.
    @Test(arguments: BothVersions.all) func bytesAreSentAsTheyAreProduced(_ version: String) async throws {
        try await Self.withRecorder(version) { session, request, received in
            let (bytes, source) = AsyncStream.makeStream(of: UInt8.self)
            let upload = Task { try await session.upload(for: request, from: bytes) }
            for (number, line) in ["a\n", "b\n"].enumerated() {
                for byte in line.utf8 { source.yield(byte) }
                await received.count(reaches: 2 * (number + 1))
            }
            source.finish()
            let (answer, _) = try await upload.value
            #expect(String(decoding: answer, as: UTF8.self) == "a\nb\n")
        }
    }

    /// Each byte is a sign of life. (Over HTTP/2 PINGs would remain unanswered while the clock jumps.)
    @Test func bytesThatComeSlowlyDoNotTimeOut() async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "slow bytes", time: .manual(time))
        defer { loop.stop() }
        try await Self.withRecorder("http/1.1", on: loop, timeout: 60) { session, request, received in
            let (bytes, source) = AsyncStream.makeStream(of: UInt8.self)
            let upload = Task { try await session.upload(for: request, from: bytes) }
            for number in 1...10 {
                source.yield(UInt8(number))
                await received.count(reaches: number)
                time.advance(by: .seconds(30))
                // The loop's clock is advanced before the next byte comes.
                _ = await session.allTasks
            }
            source.finish()
            let (answer, _) = try await upload.value
            #expect([UInt8](answer) == Array(1...10))
        }
    }

    /// The sequence's own error is the upload's, and the server does not get a complete body.
    @Test(arguments: BothVersions.all) func theSequenceFails(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.echo) { session, server in
            let broken = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("begin".utf8))
                stream.finish(throwing: Broken())
            }
            await #expect(throws: Broken()) {
                _ = try await session.upload(for: try BothVersions.request(server, "/", "POST"), from: broken)
            }
            let (body, _) = try await session.data(for: try BothVersions.request(server, "/"))
            #expect(body.isEmpty)
            #expect(!server.requests.snapshot.contains { $0.method == "POST" })
        }
    }

    /// The iteration is cancelled with the upload, and where the server answers without reading.
    @Test(arguments: BothVersions.all) func theIterationIsCancelled(_ version: String) async throws {
        let ended = Signal()
        try await BothVersions.withServer(version, Self.echo) { session, server in
            let endless = AsyncStream<Data> { stream in
                stream.onTermination = { _ in ended.fire() }
                stream.yield(Data("begin".utf8))
            }
            let request = try BothVersions.request(server, "/", "POST")
            let upload = Task { try await session.upload(for: request, from: endless) }
            await server.openings.count(reaches: 1)
            upload.cancel()
            await #expect(throws: URLError.self) { _ = try await upload.value }
            await ended.wait()
        }
    }

    /// A sequence that throws when it is cancelled does not hide the load's own error.
    @Test(arguments: BothVersions.all) func theLoadsErrorIsTheUploads(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.echo) { session, server in
            let begun = Signal()
            let endless = AsyncThrowingStream<Data, any Error> {
                begun.fire()
                try await Task.sleep(for: .seconds(3600))
                return nil
            }
            let request = try BothVersions.request(server, "/", "POST")
            let upload = Task { try await session.upload(for: request, from: endless) }
            await begun.wait()
            upload.cancel()
            let error = await #expect(throws: URLError.self) { _ = try await upload.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func aBodyThatWasSentIsNotSentAgain() async throws {
        let route: LoopbackServer.Route = { request in
            request.path == "/" ? .redirect(to: "/next", status: 307) : try Self.echo(request)
        }
        try await BothVersions.withServer("http/1.1", route) { session, server in
            let request = try BothVersions.request(server, "/", "POST")
            let error = await #expect(throws: URLError.self) {
                _ = try await session.upload(for: request, from: Self.pieces(20))
            }
            #expect(error?.code == .requestBodyStreamExhausted)
            var staying = request
            staying.followsRedirects = false
            let response = try await session.upload(for: staying, from: Self.pieces(20)).1
            #expect((response as? HTTPURLResponse)?.statusCode == 307)
        }
    }

    /// A handler that asks again at the end gets the end.
    @Test func theEndStaysTheEnd() async throws {
        let counts = Recorder<Int?>()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.register(scheme: "own") { load in
            var iterator = load.body.makeAsyncIterator()
            while let piece = try await iterator.next() { counts.append(piece.count) }
            counts.append(try await iterator.next()?.count)
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let request = URLRequest(url: try #require(URL(string: "own:")))
            _ = try await session.upload(for: request, from: Self.pieces(20))
            #expect(counts.count > 1 && counts.last == .some(nil))
        }
    }

    /// The body of a response becomes that of a request, while it arrives.
    @Test(arguments: BothVersions.all) func aResponseIsForwarded(_ version: String) async throws {
        let content = [UInt8](repeating: 5, count: 5_000_000)
        let route: LoopbackServer.Route = { request in
            request.method == "GET" ? .bytes(content) : .text("\(request.body.count) \(request.body == content)")
        }
        try await BothVersions.withServer(version, route) { session, server in
            let (bytes, response) = try await session.bytes(for: try BothVersions.request(server, "/"))
            let (answer, _) = try await session.upload(
                for: try BothVersions.request(server, "/", "PUT"), from: bytes.chunks,
                length: response.expectedContentLength)
            #expect(String(decoding: answer, as: UTF8.self) == "5000000 true")
            let single = try await session.bytes(for: try BothVersions.request(server, "/")).0
            let (other, _) = try await session.upload(for: try BothVersions.request(server, "/", "PUT"), from: single)
            #expect(String(decoding: other, as: UTF8.self) == "5000000 true")
            let again = try await session.bytes(for: try BothVersions.request(server, "/")).0
            var sizes: [Int] = []
            var starts: Set<Int> = []
            for try await chunk in again.chunks(maxSize: 1000) {
                sizes.append(chunk.count)
                starts.insert(chunk.startIndex)
            }
            #expect(sizes.allSatisfy { 1...1000 ~= $0 } && sizes.reduce(0, +) == content.count && starts == [0])
        }
    }

    /// The session's end is awaited: its tasks have ended, and its delegate was told.
    @Test func theEndOfASessionIsAwaited() async throws {
        final class Delegate: NSObject, URLSessionDelegate {
            let calls = Recorder<String>()
            func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
                calls.append("invalid")
            }
        }
        let server = try LoopbackServer(route: Self.echo)
        defer { server.stop() }
        let delegate = Delegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let url = try #require(URL(string: server.url("/")))
        session.dataTask(with: url) { _, _, _ in delegate.calls.append("loaded") }.resume()
        await session.finishTasks()
        #expect(delegate.calls.snapshot == ["loaded", "invalid"])
        await session.finishTasks()
        await URLSession.shared.finishTasks()
    }
}
