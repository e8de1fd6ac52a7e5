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
