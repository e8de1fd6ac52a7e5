import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@Suite struct DataTaskTests {
    private static func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    }

    private static func url(_ peer: ScriptedPeer, _ path: String = "/") -> URL {
        URL(string: peer.url(path)) ?? URL(fileURLWithPath: "/")
    }

    @Test func aConfigurationThatTheProgramMakesIsAsTheDefaultOne() async throws {
        let (made, standard) = (URLSessionConfiguration(), URLSessionConfiguration.default)
        #expect(made.urlCache === standard.urlCache && made.httpCookieStorage === standard.httpCookieStorage)
        #expect(made.httpCookieStorage != nil && made.urlCredentialStorage === standard.urlCredentialStorage)
        #expect(made.settings.hsts === standard.settings.hsts)
        let handlers = made.settings.builtInHandlers.map { "\($0)" }
        #expect(!handlers.isEmpty && handlers == standard.settings.builtInHandlers.map { "\($0)" })
        let session = URLSession(configuration: made)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: "data:,hello"))
        let (data, _) = try await session.data(from: url)
        #expect(data == Data("hello".utf8))
    }

    @Test func aDelegateIsToldInApplesOrder() async throws {
        let answer = Signal()
        let peer = try ScriptedPeer([.expectRequest, .waitFor(answer), .respond("hello")])
        defer { peer.stop() }
        let recorder = EventRecorder()
        let session = Self.session(recorder)
        try await withTimeout {
            let task = session.dataTask(with: Self.url(peer))
            #expect(task.state == .suspended && task.taskIdentifier > 0)
            task.resume()
            #expect(task.state == .running)
            answer.fire()
            #expect(
                await recorder.events(upTo: "complete ok")
                    == ["created", "response", "data hello", "metrics", "complete ok"])
            #expect(task.state == .completed && task.error == nil)
            #expect(task.countOfBytesReceived == 5 && task.countOfBytesExpectedToReceive == 5)
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
            let transaction = try #require(recorder.metrics.snapshot.first?.transactionMetrics.first)
            #expect(transaction.networkProtocolName == "http/1.1" && transaction.remoteAddress == "127.0.0.1")
            #expect(transaction.connectEndDate != nil && transaction.responseEndDate != nil)
            #expect(!transaction.isReusedConnection && transaction.resourceFetchType == .networkLoad)
            session.finishTasksAndInvalidate()
            #expect(await recorder.events(upTo: "invalid").last == "invalid")
            #expect(session.delegate == nil)
        }
    }

    @Test func aCompletionHandlerIsCalledOnceOnTheDelegateQueue() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("hello")])])
        defer { peer.stop() }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
        try await withTimeout {
            let (text, isOnQueue) = await withCheckedContinuation { continuation in
                session.dataTask(with: Self.url(peer)) { data, response, error in
                    let text = data.map { String(decoding: $0, as: UTF8.self) } ?? "\(error as Any)"
                    continuation.resume(returning: (text, OperationQueue.current === queue))
                }.resume()
            }
            #expect(text == "hello" && isOnQueue)
        }
    }

    @Test func theDispositionCancelEndsTheTask() async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("hello"), .readUntilClose])
        defer { peer.stop() }
        let recorder = EventRecorder { _ in .cancel }
        let session = Self.session(recorder)
        try await withTimeout {
            session.dataTask(with: Self.url(peer)).resume()
            #expect(
                await recorder.events(upTo: "complete -999") == ["created", "response", "metrics", "complete -999"])
        }
        session.invalidateAndCancel()
    }

    @Test func aTaskThatIsCancelledBeforeItsResumeIsOver() async throws {
        let recorder = EventRecorder()
        let session = Self.session(recorder)
        try await withTimeout {
            let task = session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
            task.cancel()
            task.resume()
            #expect(await recorder.events(upTo: "complete -999").last == "complete -999")
            #expect((task.error as? URLError)?.code == .cancelled && task.state == .completed)
        }
        session.invalidateAndCancel()
    }

    /// Also when it is cancelled before its resume.
    @Test func aTaskOfASessionThatIsOverEndsAtOnce() async throws {
        let recorder = EventRecorder()
        let session = Self.session(recorder)
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        try await withTimeout {
            session.invalidateAndCancel()
            _ = await recorder.events(upTo: "invalid")
            for isCancelled in [false, true] {
                let error = await withCheckedContinuation { continuation in
                    let task = session.dataTask(with: url) { _, _, error in continuation.resume(returning: error) }
                    if isCancelled { task.cancel() }
                    task.resume()
                }
                #expect((error as? URLError)?.code == .cancelled, "\(isCancelled)")
            }
            await #expect(throws: URLError.self) { try await session.data(from: url) }
        }
    }

    @Test func cancellingTheSwiftTaskCancelsTheLoad() async throws {
        let peer = try ScriptedPeer([.expectRequest, .readUntilClose])
        defer { peer.stop() }
        let session = Self.session()
        try await withTimeout {
            let url = Self.url(peer)
            let load = Task { try await session.data(from: url) }
            _ = await peer.receivedRequest(0)
            load.cancel()
            let error = await #expect(throws: URLError.self) { try await load.value }
            #expect(error?.code == .cancelled)
            _ = await peer.endedCount(reaches: 1)
            let before = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await session.data(from: url)
            }
            await #expect(throws: URLError.self) { try await before.value }
            #expect(await session.allTasks.isEmpty)
        }
    }

    @Test func aSuspendedTaskIsToldNothingAndGoesOnWhenResumed() async throws {
        let more = Signal()
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .waitFor(more), .send("two"),
        ])
        defer { peer.stop() }
        let recorder = EventRecorder()
        let session = Self.session(recorder)
        try await withTimeout {
            let task = session.dataTask(with: Self.url(peer))
            task.resume()
            _ = await recorder.events(upTo: "data one")
            task.suspend()
            #expect(task.state == .suspended)
            _ = await session.allTasks
            more.fire()
            _ = await peer.endedCount(reaches: 1)
            _ = await session.allTasks
            #expect(recorder.events.snapshot.last == "data one")
            task.resume()
            #expect(await recorder.events(upTo: "complete ok").suffix(3) == ["data two", "metrics", "complete ok"])
        }
        session.invalidateAndCancel()
    }

    @Test func allTasksAreThoseThatAreNotOver() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        let session = Self.session()
        try await withTimeout {
            let suspended = session.dataTask(with: Self.url(peer))
            let running = session.dataTask(with: Self.url(peer)) { _, _, _ in }
            running.resume()
            #expect(await session.allTasks == [suspended, running])
            let listed = await withCheckedContinuation { continuation in
                session.getAllTasks { continuation.resume(returning: $0.count) }
            }
            #expect(listed == 2)
            running.cancel()
            suspended.cancel()
            #expect(await session.allTasks.isEmpty)
        }
    }

    @Test func invalidationCancelsOrWaitsAndThenLetsGo() async throws {
        let answer = Signal()
        let peer = try ScriptedPeer([.expectRequest, .waitFor(answer), .respond("late")])
        defer { peer.stop() }
        // Answers nothing: what is cancelled is not to be over before.
        let silent = try ScriptedPeer([.expectRequest, .hold])
        defer { silent.stop() }
        try await withTimeout {
            let waiting = EventRecorder()
            let session = Self.session(waiting)
            session.dataTask(with: Self.url(peer)).resume()
            _ = await peer.receivedRequest(0)
            session.finishTasksAndInvalidate()
            let late = await withCheckedContinuation { continuation in
                session.dataTask(with: Self.url(peer)) { continuation.resume(returning: $2 as? URLError) }.resume()
            }
            #expect(late?.code == .cancelled)
            answer.fire()
            let events = await waiting.events(upTo: "invalid")
            #expect(events.contains("data late") && events.suffix(2) == ["complete ok", "invalid"])

            let cancelling = EventRecorder()
            let other = Self.session(cancelling)
            let task = other.dataTask(with: Self.url(silent))
            task.resume()
            other.invalidateAndCancel()
            #expect(await cancelling.events(upTo: "invalid").suffix(2) == ["complete -999", "invalid"])
        }
    }

    @Test func aTasksOwnDelegateIsAskedFirstAndTheSessionsForTheRest() async throws {
        final class Own: NSObject, URLSessionTaskDelegate {
            let collected = Signal()
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
            ) { collected.fire() }
        }
        let peer = try ScriptedPeer([.expectRequest, .respond("hello")])
        defer { peer.stop() }
        let (recorder, own) = (EventRecorder(), Own())
        let session = Self.session(recorder)
        try await withTimeout {
            let task = session.dataTask(with: Self.url(peer))
            task.delegate = own
            task.resume()
            await own.collected.wait()
            #expect(
                await recorder.events(upTo: "complete ok") == ["created", "response", "data hello", "complete ok"])
        }
        session.invalidateAndCancel()
    }

    @Test func bytesAndLines() async throws {
        let text = "one\ntwo\r\n\nthree\u{2028}four"
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond(text)])])
        defer { peer.stop() }
        let session = Self.session()
        try await withTimeout {
            let (bytes, response) = try await session.bytes(from: Self.url(peer))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            var all: [UInt8] = []
            for try await byte in bytes { all.append(byte) }
            #expect(all == Array(text.utf8))
            var lines: [String] = []
            for try await line in try await session.bytes(from: Self.url(peer)).0.lines { lines.append(line) }
            #expect(lines == ["one", "two", "three", "four"])
        }
    }

    @Test func lettingGoOfTheBytesCancelsTheLoadAndReadingThemSlowlyHoldsItBack() async throws {
        let (sent, ended) = (Box(0), Signal())
        let server = try LoopbackServer { _ in
            .stream(.untilClose) { writer in
                defer { ended.fire() }
                let piece = [UInt8](repeating: 120, count: 65536)
                while true {
                    try writer.write(piece)
                    sent.update { $0 += piece.count }
                }
            }
        }
        defer { server.stop() }
        let session = Self.session()
        try await withTimeout {
            let url = try #require(URL(string: server.url("/")))
            var bytes: URLSession.AsyncBytes? = try await session.bytes(from: url).0
            var iterator = bytes?.makeAsyncIterator()
            for _ in 0..<300_000 { _ = try await iterator?.next() }
            // What is not read waits in the sockets' buffers, which may grow to tens of megabytes, and with the server.
            #expect(sent.value < 300_000 + 64 << 20)
            iterator = nil
            bytes = nil
            await ended.wait()
        }
    }

    /// How a body is read piece by piece.
    enum Reading: CaseIterable {
        case bytes, chunks, lines, characters, scalars
    }

    /// A busy reader never waits for a piece.
    @Test(arguments: Reading.allCases) func aCancelledTaskEndsABusyReader(_ reading: Reading) async throws {
        let ended = Signal()
        let server = try LoopbackServer { _ in
            .stream(.untilClose) { writer in
                defer { ended.fire() }
                let piece = Array(String(repeating: "line\n", count: 13_000).utf8)
                while true { try writer.write(piece) }
            }
        }
        defer { server.stop() }
        let session = Self.session()
        try await withTimeout {
            let url = try #require(URL(string: server.url("/")))
            let bytes = try await session.bytes(from: url).0
            let reader = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                switch reading {
                case .bytes: for try await _ in bytes {}
                case .chunks: for try await _ in bytes.chunks {}
                case .lines: for try await _ in bytes.lines {}
                case .characters: for try await _ in bytes.characters {}
                case .scalars: for try await _ in bytes.unicodeScalars {}
                }
            }
            let error = await #expect(throws: URLError.self) { try await reader.value }
            #expect(error?.code == .cancelled)
            await ended.wait()
        }
    }

    /// What a delegate does to a task that it is told of before the task's asynchronous caller begins it.
    enum FirstTouch: CaseIterable {
        case resumes, suspends, resumesAndSuspends, cancels
    }

    @Test(arguments: FirstTouch.allCases) func aDelegateTouchesATaskBeforeItBegins(_ touch: FirstTouch) async throws {
        final class Toucher: NSObject, URLSessionTaskDelegate {
            let touch: FirstTouch
            let touched = Recorder<URLSessionTask>()

            init(_ touch: FirstTouch) { self.touch = touch }

            func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
                switch touch {
                case .resumes: task.resume()
                case .suspends: task.suspend()
                case .resumesAndSuspends:
                    task.resume()
                    task.suspend()
                case .cancels: task.cancel()
                }
                touched.append(task)
            }
        }
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("hello")])])
        defer { peer.stop() }
        let toucher = Toucher(touch)
        let session = Self.session(toucher)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let load = Task { try await session.data(from: Self.url(peer)).0 }
            let task = try #require(await toucher.touched.element(at: 0))
            switch touch {
            case .resumes, .resumesAndSuspends:
                #expect(try await load.value == Data("hello".utf8))
            case .suspends:
                // Its beginning counts as one call of the two that it needs.
                task.resume()
                #expect(try await load.value == Data("hello".utf8))
            case .cancels:
                let error = await #expect(throws: URLError.self) { try await load.value }
                #expect(error?.code == .cancelled)
            }
            #expect(task.state == .completed)
        }
    }

    @Test func uploadProgressIsTold() async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("thanks")])
        defer { peer.stop() }
        let recorder = EventRecorder()
        let session = Self.session(recorder)
        try await withTimeout {
            var request = URLRequest(url: Self.url(peer))
            request.httpMethod = "POST"
            request.httpBody = Data("12345".utf8)
            let task = session.dataTask(with: request)
            task.resume()
            #expect(await recorder.events(upTo: "complete ok").contains("sent 5 of 5"))
            #expect(task.countOfBytesSent == 5 && task.countOfBytesExpectedToSend == 5)
        }
        session.invalidateAndCancel()
    }

    @Test func theSizeOfTheBodyIsKnownBeforeTheTaskStarts() throws {
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let plain = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        var (whole, stream, stated) = (plain, plain, plain)
        whole.httpBody = Data("12345".utf8)
        stream.httpBodyStream = InputStream(data: Data("12345".utf8))
        stated.setValue("5", forHTTPHeaderField: "Content-Length")
        let delegates = session.uploadTask(withStreamedRequest: stated)
        stated.httpBodyStream = InputStream(data: Data("12345".utf8))
        let tasks: [(task: URLSessionTask, expected: Int64)] = [
            (session.dataTask(with: plain), 0), (session.downloadTask(with: plain), 0),
            (session.dataTask(with: whole), 5), (session.downloadTask(with: whole), 5),
            (session.dataTask(with: stream), NSURLSessionTransferSizeUnknown), (session.dataTask(with: stated), 5),
            (session.uploadTask(with: plain, from: Data("123".utf8)), 3), (delegates, 5),
            (session.uploadTask(withStreamedRequest: plain), NSURLSessionTransferSizeUnknown), (URLSessionTask(), 0),
        ]
        #expect(tasks.map { $0.task.countOfBytesExpectedToSend } == tasks.map { $0.expected })
    }

    @Test func progressFollowsTheBytesAndCancelsTheTask() async throws {
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), .readUntilClose,
        ])
        defer { peer.stop() }
        let recorder = EventRecorder()
        let session = Self.session(recorder)
        try await withTimeout {
            let task = session.dataTask(with: Self.url(peer))
            let progress = task.progress
            task.resume()
            _ = await recorder.events(upTo: "data 12345")
            #expect(progress.completedUnitCount == 5 && progress.totalUnitCount == 10)
            progress.cancel()
            #expect(await recorder.events(upTo: "complete -999").last == "complete -999")
        }
        session.invalidateAndCancel()
    }
}
