#if CommandLineTool
    import ArgumentParser
    import Foundation
    import LoadingKit
    import LoadingKitLoopbackServer
    import LoadingKitPrimitives

    /// The program that owns the demo's background download. It writes its events, one on each line: `wrote` with
    /// a byte count, `found` with a URL, `done` with the file, and `failed` with the reason.
    struct BackgroundDemoCommand: AsyncParsableCommand {
        static let name = "demo-background"
        static let configuration = CommandConfiguration(
            commandName: name, abstract: "Begins or takes up the demo's background download.", shouldDisplay: false)

        @Argument var folder: String
        @Argument var url: String?

        func run() async throws {
            let configuration = URLSessionConfiguration.background(withIdentifier: "demo")
            configuration.timeoutIntervalForResource = 60
            let delegate = BackgroundDemoDelegate(folder: URL(fileURLWithPath: folder, isDirectory: true))
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            for task in await session.allTasks { delegate.find(task) }
            if let url = url.flatMap({ URL(string: $0) }) { session.downloadTask(with: url).resume() }
            session.finishTasksAndInvalidate()
            await delegate.sessionDidEnd.wait()
        }
    }

    final class BackgroundDemoDelegate: NSObject, URLSessionDownloadDelegate {
        private let folder: URL
        private let say: @Sendable (String) -> Void
        private let found = Guarded<Set<Int>>([])
        let sessionDidEnd = Signal()

        init(folder: URL, say: @escaping @Sendable (String) -> Void = { _ = try? StandardOutput.write($0 + "\n") }) {
            (self.folder, self.say) = (folder, say)
        }

        /// Tells of a task of the earlier run, once. On a busy machine its end comes before the list of tasks.
        func find(_ task: URLSessionTask) {
            found.withLock { found in
                guard found.insert(task.taskIdentifier).inserted else { return }
                say("found \(task.originalRequest?.url?.absoluteString ?? "")")
            }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            find(downloadTask)
            let place = folder.appendingPathComponent("large")
            do {
                try FileManager.default.moveItem(at: location, to: place)
                say("done \(place.path)")
            } catch {
                say("failed \(error.localizedDescription)")
            }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) { say("wrote \(totalBytesWritten)") }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if let error { say("failed \(error.localizedDescription)") }
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            if let error { say("failed \(error.localizedDescription)") }
            sessionDidEnd.fire()
        }
    }
#endif
