import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// The delegate of a trial's sessions: keeps what it is told of each task.
final class TaskWatch: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
    private struct Seen {
        var body = Data()
        var metrics: URLSessionTaskMetrics?
    }

    private let seen = Guarded<[Int: Seen]>([:])
    let ends = Recorder<(task: Int, outcome: Outcome, metrics: URLSessionTaskMetrics?)>()
    /// Fired with each piece that a download has written.
    let written = Recorder<Int64>()
    /// Fired with each interim response.
    let interims = Recorder<Int>()
    let onInterim: @Sendable () -> Void
    let invalidations = Recorder<URLError?>()

    init(onInterim: @escaping @Sendable () -> Void = {}) { self.onInterim = onInterim }

    /// What a task ended with.
    func end(of task: URLSessionTask) async -> (Outcome, URLSessionTaskMetrics?) {
        let identifier = task.taskIdentifier
        let all = await ends.contents { $0.contains { $0.task == identifier } }
        guard let end = all.first(where: { $0.task == identifier }) else { return (Outcome(), nil) }
        return (end.outcome, end.metrics)
    }

    private func note(_ task: URLSessionTask, _ change: (inout Seen) -> Void) {
        seen.withLock { change(&$0[task.taskIdentifier, default: Seen()]) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note(dataTask) { $0.body += data }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        note(downloadTask) { $0.body = (try? Data(contentsOf: location)) ?? Data("unreadable".utf8) }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        written.append(totalBytesWritten)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        interims.append(response.statusCode)
        onInterim()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        note(task) { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let seen = seen.withLock { $0[task.taskIdentifier] }
        let outcome = Outcome(
            status: (task.response as? HTTPURLResponse)?.statusCode, body: seen?.body ?? Data(),
            error: error.map { ($0 as? URLError) ?? URLError(.unknown) })
        ends.append((task.taskIdentifier, outcome, seen?.metrics))
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        invalidations.append(error as? URLError)
    }
}
