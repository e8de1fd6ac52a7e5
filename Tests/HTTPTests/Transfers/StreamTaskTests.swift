import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

@Suite struct StreamTaskTests {
    private static func task(_ session: URLSession, _ peer: ScriptedPeer) throws -> URLSessionStreamTask {
        let url = try #require(URL(string: peer.url("/")))
        return session.streamTask(withHostName: try #require(url.host), port: try #require(url.port))
    }

    /// A task that has been resumed, and its session and delegate.
    private static func begin(_ peer: ScriptedPeer) throws -> (StreamRecorder, URLSession, URLSessionStreamTask) {
        let recorder = StreamRecorder()
        let session = makeSession(delegate: recorder)
        let task = try task(session, peer)
        task.resume()
        return (recorder, session, task)
    }

    @Test func readsAndWritesKeepTheirOrder() async throws {
        let peer = try ScriptedPeer([
            .expectBytes(10), .send("hello"), .send(" world"), .expectBytes(3), .send("!"), .close,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = try Self.task(session, peer)
            // Asked for before the connection is there.
            async let first = task.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
            async let written: Void = task.write(Data("0123456789".utf8), timeout: 10)
            task.resume()
            let (data, isAtEnd) = try await first
            try await written
            #expect(data == Data("hello".utf8) && !isAtEnd)
            let second = try await task.readData(ofMinLength: 6, maxLength: 100, timeout: 10)
            #expect(second.0 == Data(" world".utf8) && !second.1)
            try await task.write(Data("abc".utf8), timeout: 0)
            // Fewer than the minimum, as that is all.
            let last = try await task.readData(ofMinLength: 100, maxLength: 100, timeout: 0)
            #expect(last.0 == Data("!".utf8) && last.1)
            #expect(task.countOfBytesReceived == 12 && task.countOfBytesSent == 13)
            let none = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            #expect(none.0 == nil && none.1)
            task.closeWrite()
            #expect(await recorder.all() == ["created", "read closed", "write closed", "metrics", "complete ok"])
            #expect(task.state == .completed)
            await #expect(throws: URLError.self) { try await task.write(Data("x".utf8), timeout: 0) }
        }
    }

    /// A read with a large minimum, and a large write, take many turns of the loop.
    @Test func longReadsAndWritesAreWhole() async throws {
        let bytes = Data(repeating: 7, count: 4_000_000)
        let peer = try ScriptedPeer([.send([UInt8](bytes)), .expectBytes(bytes.count), .send("end"), .close])
        defer { peer.stop() }
        try await withTimeout {
            let (_, session, task) = try Self.begin(peer)
            defer { session.invalidateAndCancel() }
            async let read = task.readData(ofMinLength: bytes.count, maxLength: bytes.count, timeout: 0)
            async let written: Void = task.write(bytes, timeout: 0)
            let isWhole = try await read.0 == bytes
            try await written
            let end = try await task.readData(ofMinLength: 3, maxLength: 10, timeout: 0).0
            #expect(isWhole && end == Data("end".utf8))
        }
    }

    @Test func aReadThatTakesTooLongIsGivenUpAndLosesNothing() async throws {
        let go = Signal()
        let peer = try ScriptedPeer([.send("ab"), .waitFor(go), .send("cd"), .hold])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            let task = try Self.task(session, peer)
            task.resume()
            do {
                _ = try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0.05)
                Issue.record("it was complete")
            } catch let error as URLError {
                #expect(error.code == .timedOut)
            }
            go.fire()
            let (data, _) = try await task.readData(ofMinLength: 4, maxLength: 4, timeout: 0)
            #expect(data == Data("abcd".utf8))
            task.cancel()
        }
    }

    /// They are the next read's, and no more of them than that wants.
    @Test func whatWasReadInVainIsReadAgain() async throws {
        let peer = try ScriptedPeer([.send("!abcde"), .hold])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            let task = try Self.task(session, peer)
            task.resume()
            try await Self.readInVain(task)
            for expected in ["ab", "cd", "e"] {
                let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 2, timeout: 0)
                #expect(data == Data(expected.utf8))
            }
            #expect(task.countOfBytesReceived == 6)
            task.cancel()
        }
    }

    /// Bytes in cleartext are not taken for bytes under TLS.
    @Test func whatWasReadInVainIsNotSecure() async throws {
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer([
            .send("!injected"), .startTLS(TLSServerOptions(try authority.issue())), .send("secret"), .hold,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamRecorder()
            let session = makeSession(delegate: recorder) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            let port = try #require(URL(string: peer.url("/"))?.port)
            let task = session.streamTask(withHostName: "localhost", port: port)
            task.resume()
            try await Self.readInVain(task)
            task.startSecureConnection()
            let error = await #expect(throws: URLError.self) {
                try await task.readData(ofMinLength: 1, maxLength: 100, timeout: 0)
            }
            #expect(error?.code == .secureConnectionFailed)
            #expect(await recorder.all().last == "complete -1200")
        }
    }

    /// A read of more than the peer sends, which is given up when that has come: with its first byte, which is read before.
    private static func readInVain(_ task: URLSessionStreamTask) async throws {
        let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
        #expect(data == Data("!".utf8))
        let error = await #expect(throws: URLError.self) {
            try await task.readData(ofMinLength: 100, maxLength: 100, timeout: 0.05)
        }
        #expect(error?.code == .timedOut && task.countOfBytesReceived == 1)
    }

    /// A peer that never pauses does not have the memory filled.
    @Test func aReadIsGivenWhatItAskedForAndNotAllThereIs() async throws {
        let peer = try ScriptedPeer([.forever([.send(String(repeating: "x", count: 1 << 20))])])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            let task = try Self.task(session, peer)
            task.resume()
            for _ in 0..<8 {
                let (data, _) = try await task.readData(ofMinLength: 1, maxLength: .max, timeout: 0)
                #expect((1...(1 << 20)).contains(data?.count ?? 0))
            }
            task.cancel()
        }
    }

    @Test func aWriteThatIsSentInPartAndTakesTooLongEndsTheTask() async throws {
        let peer = try ScriptedPeer([.hold])
        defer { peer.stop() }
        try await withTimeout {
            let (recorder, session, task) = try Self.begin(peer)
            defer { session.invalidateAndCancel() }
            do {
                try await task.write(Data(count: 32 << 20), timeout: 0.1)
                Issue.record("it was complete")
            } catch let error as URLError {
                #expect(error.code == .timedOut)
            }
            #expect(await recorder.all().last == "complete \(URLError.timedOut.rawValue)")
        }
    }

    @Test func tlsIsPutOnTheConnectionBetweenOperations() async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue())
        for isTrusted in [true, false] {
            let peer = try ScriptedPeer([
                .expectBytes(8), .send("GO AHEAD"), .startTLS(options), .expectBytes(6), .send("secret"), .hold,
            ])
            defer { peer.stop() }
            try await withTimeout {
                let recorder = StreamRecorder()
                let session = makeSession(delegate: recorder) {
                    if isTrusted { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                }
                defer { session.invalidateAndCancel() }
                let port = try #require(URL(string: peer.url("/"))?.port)
                let task = session.streamTask(withHostName: "localhost", port: port)
                task.resume()
                async let written: Void = task.write(Data("STARTTLS".utf8), timeout: 0)
                async let answer = task.readData(ofMinLength: 8, maxLength: 8, timeout: 0)
                try await written
                #expect(try await answer.0 == Data("GO AHEAD".utf8))
                task.startSecureConnection()
                do {
                    async let sent: Void = task.write(Data("plain?".utf8), timeout: 0)
                    let (data, _) = try await task.readData(ofMinLength: 6, maxLength: 6, timeout: 0)
                    try await sent
                    #expect(isTrusted && data == Data("secret".utf8))
                    task.cancel()
                } catch let error as URLError {
                    #expect(!isTrusted && error.code == .serverCertificateHasUnknownRoot, "\(error)")
                }
                let events = await recorder.all()
                #expect(events.contains("challenge NSURLAuthenticationMethodServerTrust"))
            }
        }
    }

    /// An address may have the brackets that it has in a URL.
    @Test(arguments: ["::1", "[::1]"]) func tlsIsPutOnAConnectionToAnAddress(host: String) async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue())
        let peer = try ScriptedPeer([.startTLS(options), .send("secret"), .hold], on: .ipv6())
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            let port = try #require(URL(string: peer.url("/"))?.port)
            let task = session.streamTask(withHostName: host, port: port)
            task.resume()
            task.startSecureConnection()
            let (data, _) = try await task.readData(ofMinLength: 6, maxLength: 6, timeout: 0)
            #expect(data == Data("secret".utf8))
            task.cancel()
        }
    }

    @Test func theConnectionCanBecomeTwoStreams() async throws {
        let peer = try ScriptedPeer([.expectBytes(2), .send("line\n"), .expectBytes(3), .send("bye"), .close])
        defer { peer.stop() }
        try await withTimeout {
            let (recorder, session, task) = try Self.begin(peer)
            defer { session.finishTasksAndInvalidate() }
            let read = Recorder<Data?>()
            task.write(Data("hi".utf8), timeout: 0) { _ in }
            task.readData(ofMinLength: 2, maxLength: 2, timeout: 0) { data, _, _ in read.append(data) }
            task.captureStreams()
            #expect(await read.element(at: 0) == Data("li".utf8))
            _ = await recorder.events.count(reaches: 3)
            #expect(recorder.events.snapshot == ["created", "metrics", "streams"])
            #expect(task.state == .completed)
            let streams = try #require(recorder.takeStreams())
            let text = try await onThread { () throws -> String in
                streams.input.open()
                streams.output.open()
                defer {
                    streams.input.close()
                    streams.output.close()
                }
                #expect(streams.output.write(Array("end".utf8), maxLength: 3) == 3)
                var bytes = [UInt8](repeating: 0, count: 100)
                var all: [UInt8] = []
                while true {
                    let count = streams.input.read(&bytes, maxLength: 100)
                    guard count > 0 else { break }
                    all += bytes[..<count]
                }
                return String(decoding: all, as: UTF8.self)
            }
            #expect(text == "ne\nbye")
        }
    }

    /// The streams know what the task has closed.
    @Test(arguments: [true, false]) func aClosedSideStaysClosedWhenItIsCaptured(isReadClosed: Bool) async throws {
        let peer = try ScriptedPeer(
            isReadClosed ? [.send("late"), .expectBytes(3), .close] : [.send("last"), .readUntilClose, .close])
        defer { peer.stop() }
        try await withTimeout {
            let (recorder, session, task) = try Self.begin(peer)
            defer { session.finishTasksAndInvalidate() }
            if isReadClosed { task.closeRead() } else { task.closeWrite() }
            task.captureStreams()
            let event = isReadClosed ? "read closed" : "write closed"
            #expect(await recorder.events.count(reaches: 4) == ["created", event, "metrics", "streams"])
            let streams = try #require(recorder.takeStreams())
            let (text, last, written) = try await onThread { () throws -> (String, Int, Int) in
                streams.input.open()
                streams.output.open()
                defer {
                    streams.output.close()
                    streams.input.close()
                }
                let written = streams.output.write(Array("end".utf8), maxLength: 3)
                var bytes = [UInt8](repeating: 0, count: 100)
                var all: [UInt8] = []
                while true {
                    let count = streams.input.read(&bytes, maxLength: 100)
                    guard count > 0 else { return (String(decoding: all, as: UTF8.self), count, written) }
                    all += bytes[..<count]
                }
            }
            #expect(text == (isReadClosed ? "" : "last") && last == 0 && written == (isReadClosed ? 3 : -1))
        }
    }

    @Test func failuresEndEverythingThatWaits() async throws {
        try await withTimeout {
            let peer = try ScriptedPeer([.expectBytes(1), .reset])
            defer { peer.stop() }
            let (recorder, session, task) = try Self.begin(peer)
            defer { session.invalidateAndCancel() }
            let read = Task { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
            try await task.write(Data("x".utf8), timeout: 0)
            await #expect(throws: URLError.self) { _ = try await read.value }
            #expect(await recorder.all().last == "complete \(URLError.networkConnectionLost.rawValue)")
            for port in [0, -1, 70_000] {
                let other = session.streamTask(withHostName: "127.0.0.1", port: port)
                other.resume()
                // Whether it comes before the task's end or after: both learn why.
                for _ in 0..<2 {
                    let error = await #expect(throws: URLError.self) {
                        try await other.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
                    }
                    #expect(error?.code == .badURL, "port \(port)")
                }
            }
        }
    }

    /// A read gets the bytes that it has waited for, also where the connection or a write fails at once.
    @Test(arguments: [true, false]) func bytesBeforeAFailureAreRead(isWritten: Bool) async throws {
        try await withTimeout {
            let peer = try ScriptedPeer([.send("!"), .expectBytes(1), .send("hello"), .reset])
            defer { peer.stop() }
            let (recorder, session, task) = try Self.begin(peer)
            defer { session.invalidateAndCancel() }
            _ = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            try await task.write(Data("x".utf8), timeout: 0)
            await peer.endedCount(reaches: 1)
            task.suspend()
            let read = Recorder<Data?>()
            if isWritten { task.write(Data("y".utf8), timeout: 0) { _ in } }
            task.readData(ofMinLength: 5, maxLength: 100, timeout: 0) { data, _, _ in read.append(data) }
            // The session's loop has both operations.
            _ = await session.allTasks
            task.resume()
            #expect(await read.element(at: 0) == Data("hello".utf8))
            #expect(await recorder.all().last == "complete \(URLError.networkConnectionLost.rawValue)")
        }
    }

    /// The first waits when the task ends, and the second comes later.
    @Test func readsAfterTheEndAreCancelledAlike() async throws {
        let peer = try ScriptedPeer([.hold])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = try Self.task(session, peer)
            let errors = Recorder<String>()
            let read: @Sendable () -> Void = {
                task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { _, _, error in
                    errors.append(error?.localizedDescription ?? "none")
                }
            }
            task.closeWrite()
            task.closeRead()
            read()
            task.resume()
            #expect(await errors.element(at: 0) == "cancelled")
            #expect(await recorder.all().last == "complete ok")
            read()
            #expect(await errors.element(at: 1) == "cancelled")
        }
    }

    @Test func aCancelledTaskThatWasNeverResumedTells() async throws {
        try await withTimeout {
            let recorder = StreamRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let task = session.streamTask(withHostName: "127.0.0.1", port: 9)
            let read = Task { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
            task.cancel()
            await #expect(throws: URLError.self) { _ = try await read.value }
            #expect(await recorder.all().last == "complete -999")
        }
    }
}

/// A delegate of stream tasks that records what it is told, as text.
private final class StreamRecorder: NSObject, URLSessionStreamDelegate, @unchecked Sendable {  // `streams` has a mutex
    struct Streams: @unchecked Sendable {  // handed to one thread
        let input: InputStream
        let output: OutputStream
    }

    let events = Recorder<String>()
    private let streams = Guarded<Streams?>(nil)

    func takeStreams() -> Streams? { streams.withLock { $0.take() } }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { events.append("created") }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        events.append("challenge \(challenge.protectionSpace.authenticationMethod)")
        completionHandler(.performDefaultHandling, nil)
    }

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
        let both = Streams(input: inputStream, output: outputStream)
        streams.withLock { $0 = both }
        events.append("streams")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        events.append("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.append("complete \(((error as? URLError)?.code.rawValue).map { "\($0)" } ?? "ok")")
    }

    func all() async -> [String] { await events.contents { $0.last?.hasPrefix("complete") == true } }
}
