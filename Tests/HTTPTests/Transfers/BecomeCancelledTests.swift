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
}
