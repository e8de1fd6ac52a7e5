import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// Data tasks that are cancelled while they become tasks of another kind.
@Suite(.timeLimit(.minutes(5))) struct BecomeCancelledTests {
    /// Cancels the task as a thread does that comes to tell the session of it when the task has become another.
    private final class Cancelling: TransferRecorder, @unchecked Sendable {  // constants
        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let action = dataTask.shared.withLock { $0.lifecycle.cancel() }
            completionHandler(disposition)
            session.core.perform(action, on: dataTask)
        }
    }

    @Test(arguments: [URLSession.ResponseDisposition.becomeStream, .becomeDownload])
    func theOtherIsCancelled(_ disposition: URLSession.ResponseDisposition) async throws {
        // The body does not end: what completes the task is its being cancelled.
        let end = Signal()
        let server = try LoopbackServer { _ in
            .stream(.length(8)) { writer in
                try writer.write("body")
                try writer.wait(for: end)
            }
        }
        defer {
            end.fire()
            server.stop()
        }
        try await withTimeout {
            let recorder = Cancelling(disposition: disposition)
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            #expect(await recorder.all().last == "complete -999")
            #expect(await session.allTasks.isEmpty)
        }
    }

    /// Uses the data task that has become a download.
    private final class Keeping: TransferRecorder, @unchecked Sendable {  // constants
        let shared = Recorder<Bool>()

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
        ) {
            super.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
            dataTask.priority = 0.75
            shared.append(dataTask.progress === downloadTask.progress && downloadTask.priority == 0.75)
        }
    }

    @Test func theDataTaskStandsForTheOther() async throws {
        let server = try LoopbackServer { _ in .text("body") }
        defer { server.stop() }
        try await withTimeout {
            let recorder = Keeping(disposition: .becomeDownload)
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            #expect(await recorder.all().last == "complete ok")
            #expect(recorder.shared.snapshot == [true])
        }
    }

    /// Ends the request's body, and suspends the task, so that a call about the body waits; the test answers.
    private final class Suspending: TransferRecorder, @unchecked Sendable {  // constants
        let answers = Recorder<@Sendable (URLSession.ResponseDisposition) -> Void>()
        private let body: AsyncStream<Data>.Continuation
        private let isReceived: Signal

        init(_ body: AsyncStream<Data>.Continuation, _ isReceived: Signal) {
            (self.body, self.isReceived) = (body, isReceived)
            super.init(disposition: .allow)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            body.yield(Data("bc".utf8))
            body.finish()
            isReceived.waitBlocking()
            // The turn in which the last bytes were sent is over then.
            let isPosted = Signal()
            session.core.loop.execute { session.core.loop.executeInNextTurn { isPosted.fire() } }
            isPosted.waitBlocking()
            dataTask.suspend()
            answers.append(completionHandler)
        }
    }

    /// The session waits for all calls before its own last one.
    @Test(arguments: [URLSession.ResponseDisposition.becomeStream, .becomeDownload])
    func callsThatWaitForTheDataTaskAreMade(_ disposition: URLSession.ResponseDisposition) async throws {
        let isReceived = Signal()
        defer { isReceived.fire() }
        let peer = try ScriptedPeer([
            .expectHead, .expectThrough(Array("1\r\na\r\n".utf8)),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
            .expectThrough(Array("0\r\n\r\n".utf8)), .fire(isReceived), .send("body"), .readUntilClose,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let (pieces, writer) = AsyncStream<Data>.makeStream()
            let recorder = Suspending(writer, isReceived)
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            var request = peer.request(method: "POST")
            request.setValue("", forHTTPHeaderField: "Expect")
            request.httpBodyStream = URLRequest.bodyStream(of: pieces)
            let task = session.dataTask(with: request)
            task.resume()
            writer.yield(Data("a".utf8))
            let answer = await recorder.answers.element(at: 0)
            // The mailbox has its turn before the second one.
            for _ in 0..<2 {
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    session.delegateQueue.addOperation { continuation.resume() }
                }
            }
            answer?(disposition)
            task.resume()
            if disposition == .becomeStream, let stream = await recorder.streamTasks.element(at: 0) {
                _ = try await stream.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
            }
            #expect(await recorder.all().last == "complete ok")
            #expect(recorder.events.snapshot.contains { $0.hasPrefix("sent 3 of") })
            await session.finishTasks()
        }
    }

    /// Cancels an upload before the loop has taken the decision that the upload becomes a download.
    private final class Producing: TransferRecorder, @unchecked Sendable {  // constants
        let produced = Recorder<Data?>()

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            let (isBusy, go) = (Signal(), Signal())
            session.core.loop.execute {
                isBusy.fire()
                go.waitBlocking()
            }
            isBusy.waitBlocking()
            completionHandler(disposition)
            (dataTask as? URLSessionUploadTask)?.cancel { self.produced.append($0) }
            go.fire()
        }
    }

    /// There is none, as the upload is another task now.
    @Test func anUploadsHandlerForResumeDataIsCalled() async throws {
        let end = Signal()
        let server = try LoopbackServer { _ in
            .stream(.length(8)) { writer in
                try writer.write("body")
                try writer.wait(for: end)
            }
        }
        defer {
            end.fire()
            server.stop()
        }
        try await withTimeout {
            let recorder = Producing(disposition: .becomeDownload)
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            session.uploadTask(with: try BothVersions.request(server, "/", "POST"), from: Data("upload".utf8)).resume()
            #expect(await recorder.produced.count(reaches: 1) == [nil])
            #expect(await recorder.all().last == "complete -999")
        }
    }
}
