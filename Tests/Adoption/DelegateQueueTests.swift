import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Delegates that cancel, suspend, enqueue and stop their queue in the methods that are called.
@Suite struct DelegateQueueTests {
    static let pieces = 5

    /// Sends pieces without waiting, and keeps nothing of them back.
    final class Pieces: URLProtocol, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "pieces" }
        override func startLoading() {
            guard let url = request.url else { return }
            let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            for number in 1...pieces { client?.urlProtocol(self, didLoad: Data("\(number)".utf8)) }
            client?.urlProtocolDidFinishLoading(self)
        }
        override func stopLoading() {}
    }

    /// Notes the calls, and does something in each call with data.
    final class Delegate: NSObject, URLSessionDataDelegate {
        typealias Action = @Sendable (_ session: URLSession, _ task: URLSessionTask, _ data: String) -> Void
        let calls = Recorder<String>()
        let action: Action

        init(_ action: @escaping Action) { self.action = action }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let text = String(decoding: data, as: UTF8.self)
            calls.append("data \(text)")
            action(session, dataTask, text)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            calls.append("end \((error as? URLError)?.code.rawValue ?? 0)")
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            calls.append("invalid")
        }
    }

    enum Queue: String, CaseIterable, Sendable {
        case none, serial, limited, main, underlying

        /// No operation queue holds it.
        private static let below = DispatchQueue(label: "underlying")

        func make() -> OperationQueue? {
            let queue = OperationQueue()
            switch self {
            case .none: return nil
            case .main: return .main
            case .serial: queue.maxConcurrentOperationCount = 1
            case .limited: queue.maxConcurrentOperationCount = 2
            case .underlying: queue.underlyingQueue = Self.below
            }
            return queue
        }
    }

    private static func makeSession(_ delegate: Delegate, _ queue: OperationQueue?) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Pieces.self]
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    private static func task(_ session: URLSession) throws -> URLSessionDataTask {
        session.dataTask(with: try #require(URL(string: "pieces://h/")))
    }

    @Test("what a call enqueues has its turn before the next call", arguments: Queue.allCases)
    func enqueuing(_ queue: Queue) async throws {
        let order = Recorder<String>()
        let delegate = Delegate { session, _, data in
            order.append("data \(data)")
            session.delegateQueue.addOperation { order.append("block \(data)") }
        }
        let session = Self.makeSession(delegate, queue.make())
        try await withTimeout {
            try Self.task(session).resume()
            session.finishTasksAndInvalidate()
            _ = await delegate.calls.contents { $0.last == "invalid" }
            await order.count(reaches: 2 * Self.pieces)
            let expected = (1...Self.pieces).flatMap { ["data \($0)", "block \($0)"] }
            // Two at a time may be in either order.
            #expect(queue == .limited ? order.snapshot.sorted() == expected.sorted() : order.snapshot == expected)
        }
    }

    @Test("what a call puts into the queue's dispatch queue has its turn, too")
    func dispatching() async throws {
        let (order, dispatchQueue) = (Recorder<String>(), DispatchQueue(label: "below"))
        let delegate = Delegate { _, _, data in
            order.append("data \(data)")
            dispatchQueue.async { order.append("block \(data)") }
        }
        let queue = OperationQueue()
        queue.underlyingQueue = dispatchQueue
        let session = Self.makeSession(delegate, queue)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            try Self.task(session).resume()
            await order.count(reaches: 2 * Self.pieces)
            #expect(order.snapshot == (1...Self.pieces).flatMap { ["data \($0)", "block \($0)"] })
        }
    }

    @Test("cancel() in a call with data is heard before the next", arguments: Queue.allCases, [1, 3, pieces])
    func cancelling(_ queue: Queue, at number: Int) async throws {
        let delegate = Delegate { _, task, data in if data == "\(number)" { task.cancel() } }
        let session = Self.makeSession(delegate, queue.make())
        try await withTimeout {
            let task = try Self.task(session)
            task.resume()
            session.finishTasksAndInvalidate()
            let calls = await delegate.calls.contents { $0.last == "invalid" }
            #expect(calls == (1...number).map { "data \($0)" } + ["end -999", "invalid"])
            #expect((task.error as? URLError)?.code == .cancelled && task.state == .completed)
        }
    }

    @Test("suspend() in a call with data holds back what follows", arguments: Queue.allCases, [1, 3, pieces])
    func suspending(_ queue: Queue, at number: Int) async throws {
        let resumed = Box(false)
        let delegate = Delegate { session, task, data in
            guard data == "\(number)" else { return }
            task.suspend()
            // After several turns of the queue, in which nothing may be told.
            for turn in 1...5 {
                session.delegateQueue.addBarrierBlock {
                    guard turn == 5 else { return }
                    resumed.update { $0 = true }
                    task.resume()
                }
            }
        }
        let session = Self.makeSession(delegate, queue.make())
        try await withTimeout {
            let other = Recorder<Bool>()
            let task = try Self.task(session)
            task.resume()
            session.finishTasksAndInvalidate()
            let calls = await delegate.calls.contents { calls in
                if calls.count > number { other.append(resumed.value) }
                return calls.last == "invalid"
            }
            #expect(calls == (1...Self.pieces).map { "data \($0)" } + ["end 0", "invalid"])
            #expect(other.snapshot.allSatisfy { $0 })
        }
    }

    @Test("a task that is suspended in its last call, and never resumed, ends with its session")
    func suspendedForEver() async throws {
        let delegate = Delegate { session, task, data in
            guard data == "\(Self.pieces)" else { return }
            task.suspend()
            session.getAllTasks { tasks in
                guard tasks == [task] else { return }
                session.invalidateAndCancel()
            }
        }
        let session = Self.makeSession(delegate, nil)
        try await withTimeout {
            try Self.task(session).resume()
            let calls = await delegate.calls.contents { $0.last == "invalid" }
            #expect(calls == (1...Self.pieces).map { "data \($0)" } + ["end -999", "invalid"])
        }
    }

    @Test("a queue whose operations are cancelled, or which is stopped for a while, loses no call")
    func stoppedQueue() async throws {
        let released = Signal()
        let delegate = Delegate { session, _, _ in
            let queue = session.delegateQueue
            queue.cancelAllOperations()
            queue.isSuspended = true
            DispatchQueue.global().async {
                queue.cancelAllOperations()
                queue.isSuspended = false
                released.fire()
            }
        }
        let session = Self.makeSession(delegate, nil)
        try await withTimeout {
            try Self.task(session).resume()
            session.finishTasksAndInvalidate()
            let calls = await delegate.calls.contents { $0.last == "invalid" }
            #expect(calls == (1...Self.pieces).map { "data \($0)" } + ["end 0", "invalid"])
            await released.wait()
        }
    }

    @Test("no task is listed once the session has cancelled them")
    func tasksOfAnInvalidatedSession() async throws {
        let session = Self.makeSession(Delegate { _, _, _ in }, nil)
        try await withTimeout {
            let tasks = try (0..<10).map { _ in try Self.task(session) }
            for task in tasks.prefix(5) { task.resume() }
            session.invalidateAndCancel()
            #expect(await session.allTasks == [])
            let listed = Recorder<[URLSessionTask]>()
            session.getAllTasks { listed.append($0) }
            #expect(await listed.element(at: 0) == [])
        }
    }
}
