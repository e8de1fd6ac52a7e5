import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A program that hears of a body's last piece, and cancels the task: the end is not told before that could come.
@Suite struct LateCancelTests {
    /// Cancels the task from another queue, two queues away from the delegate's, as libraries do that have queues for
    /// their state, their parsing and their user.
    private final class Hopper: NSObject, URLSessionDataDelegate {
        let ends = Recorder<(code: URLError.Code?, state: URLSessionTask.State)>()
        let root = DispatchQueue(label: "root")
        private let parsing = DispatchQueue(label: "parsing")
        private let user = DispatchQueue(label: "user")

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            root.async { [self] in
                parsing.async { [self] in
                    user.async { dataTask.cancel() }
                }
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.append(((error as? URLError)?.code, task.state))
        }
    }

    @Test func aCancelThreeQueuesAwayIsInTime() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("hello")])])
        defer { peer.stop() }
        let hopper = Hopper()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.underlyingQueue = hopper.root
        let session = URLSession(configuration: .ephemeral, delegate: hopper, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: peer.url("/")))
        let count = 50
        try await withTimeout {
            for number in 1...count {
                session.dataTask(with: url).resume()
                _ = await hopper.ends.count(reaches: number)
            }
        }
        let cancelled = hopper.ends.snapshot.filter { $0.code == .cancelled && $0.state == .completed }
        // The system may leave one of the queues' threads waiting for long.
        #expect(cancelled.count > count / 2)
    }

    /// When the program cancels the task.
    enum Call: CaseIterable {
        case lastData
        /// When it is told which tasks the session has, for which it asks in the last data's call.
        case tasksAreListed
    }

    private final class Canceller: NSObject, URLSessionDataDelegate {
        let call: Call
        let end = Recorder<URLError.Code?>()

        init(_ call: Call) { self.call = call }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            switch call {
            case .lastData: dataTask.cancel()
            case .tasksAreListed: session.getAllTasks { _ in dataTask.cancel() }
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            #expect(task.state == .completed)
            end.append((error as? URLError)?.code)
        }
    }

    @Test(arguments: Call.allCases) func aCancelBeforeTheEndIsToldWins(_ call: Call) async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("hello")])
        defer { peer.stop() }
        let canceller = Canceller(call)
        let session = URLSession(configuration: .ephemeral, delegate: canceller, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let task = session.dataTask(with: try #require(URL(string: peer.url("/"))))
            task.resume()
            #expect(await canceller.end.element(at: 0) == .some(.cancelled))
            #expect((task.error as? URLError)?.code == .cancelled)
        }
    }

    #if Persistence
        /// Holds a background download's progress up until the transfer is over, and cancels it three queues away.
        private final class BackgroundHopper: NSObject, URLSessionDownloadDelegate {
            let server = DispatchSemaphore(value: 0)
            let ends = Recorder<URLError.Code?>()
            let files = Recorder<URL>()
            let root = DispatchQueue(label: "root")
            private let state = DispatchQueue(label: "state")
            private let user = DispatchQueue(label: "user")

            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
                totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
            ) {
                server.signal()
                let limit = Date.now + 20
                while downloadTask.countOfBytesReceived < totalBytesExpectedToWrite, Date.now < limit {
                    Thread.sleep(forTimeInterval: 0.001)
                }
                root.async { [self] in
                    state.async { [self] in
                        user.async { downloadTask.cancel() }
                    }
                }
            }

            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
            ) { files.append(location) }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                ends.append((error as? URLError)?.code)
            }
        }

        @Test func aCancelOfABackgroundTaskIsInTime() async throws {
            let hopper = BackgroundHopper()
            let server = try LoopbackServer { _ in
                .stream(.length(2000)) { writer in
                    try writer.write(Array(repeating: 1, count: 1000))
                    hopper.server.wait()
                    try writer.write(Array(repeating: 1, count: 1000))
                }
            }
            defer { server.stop() }
            let configuration = URLSessionConfiguration.background(withIdentifier: "late-\(UUID().uuidString)")
            configuration.runsInProcess = true
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.underlyingQueue = hopper.root
            let session = URLSession(configuration: configuration, delegate: hopper, delegateQueue: queue)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.url("/")))
            let count = 20
            try await withTimeout {
                for number in 1...count {
                    session.downloadTask(with: url).resume()
                    _ = await hopper.ends.count(reaches: number)
                }
            }
            let cancelled = hopper.ends.snapshot.filter { $0 == .cancelled }
            #expect(cancelled.count > count / 2, "\(cancelled.count)")
            // A file is told of where the task has no error.
            #expect(hopper.files.count == count - cancelled.count)
        }
    #endif
}
