import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// The end of a session that has many tasks.
@Suite struct InvalidationTests {
    /// More than are cancelled at once.
    private static let count = 3000

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What the delegate does when the first task has ended.
        let meanwhile: @Sendable (URLSession, [URLSessionTask]) -> Void
    }

    static let cases = [
        Case(testDescription: "nothing") { _, _ in },
        Case(testDescription: "invalidateAndCancel again") { session, _ in session.invalidateAndCancel() },
        Case(testDescription: "finishTasksAndInvalidate") { session, _ in session.finishTasksAndInvalidate() },
        Case(testDescription: "resumes tasks") { _, tasks in for task in tasks { task.resume() } },
        Case(testDescription: "cancels tasks") { _, tasks in for task in tasks { task.cancel() } },
        Case(testDescription: "suspends tasks") { _, tasks in for task in tasks { task.suspend() } },
        Case(testDescription: "asks for the tasks") { session, _ in session.getAllTasks { _ in } },
    ]

    @Test(arguments: cases) func eachTaskEndsOnceAndThenTheSession(_ meanwhile: Case) async throws {
        try await withTimeout {
            let events = InvalidationRecorder(meanwhile.meanwhile)
            let session = makeSession(events)
            let tasks = (0..<Self.count).map { _ in session.dataTask(with: SilentHandler.url) }
            // The others are made, and wait to be resumed.
            for task in tasks where task.taskIdentifier % 2 == 0 { task.resume() }
            events.tasks = tasks
            session.invalidateAndCancel()
            let ends = await events.ends.contents { $0.last == "invalid" }
            #expect(ends.count == Self.count + 1)
            #expect(Set(ends) == Set(tasks.map { "\($0.taskIdentifier) \(URLError.cancelled.rawValue)" } + ["invalid"]))
            #expect(tasks.allSatisfy { $0.state == .completed })
        }
    }

    /// No task stays `running`, and the task's own delegate, which the session's end does not release, is told.
    enum Kind: CaseIterable {
        case data, upload, download, resumedDownload, stream, webSocket

        func make(_ session: URLSession) -> URLSessionTask {
            let url = URL(fileURLWithPath: "/nowhere")
            return switch self {
            case .data: session.dataTask(with: url)
            case .upload: session.uploadTask(with: URLRequest(url: url), from: Data("a".utf8))
            case .download: session.downloadTask(with: url)
            case .resumedDownload: session.downloadTask(withResumeData: Data())
            case .stream: session.streamTask(withHostName: "localhost", port: 1)
            case .webSocket: session.webSocketTask(with: SilentHandler.url)
            }
        }
    }

    private final class End: NSObject, URLSessionTaskDelegate {
        let codes = Recorder<URLError.Code?>()

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            codes.append((error as? URLError)?.code)
        }
    }

    @Test(arguments: Kind.allCases) func aTaskThatIsResumedWhenTheSessionIsOverEnds(_ kind: Kind) async throws {
        for isMadeBefore in [false, true] {
            try await withTimeout("\(kind)") {
                let (events, end) = (InvalidationRecorder(), End())
                let session = makeSession(events)
                let early = isMadeBefore ? kind.make(session) : nil
                early?.delegate = end
                session.invalidateAndCancel()
                _ = await events.ends.contents { $0.last == "invalid" }
                let task = early ?? kind.make(session)
                if !isMadeBefore { task.delegate = end }
                task.resume()
                #expect(await end.codes.element(at: 0) == .some(.cancelled))
                #expect(task.state == .completed && (task.error as? URLError)?.code == .cancelled)
            }
        }
    }

    @Test func tasksEndInTheOrderInWhichTheyWereMade() async throws {
        try await withTimeout {
            let events = InvalidationRecorder()
            let session = makeSession(events)
            let tasks = (0..<Self.count).map { _ in session.dataTask(with: SilentHandler.url) }
            for task in tasks { task.resume() }
            session.invalidateAndCancel()
            let ends = await events.ends.contents { $0.last == "invalid" }
            #expect(ends == tasks.map { "\($0.taskIdentifier) \(URLError.cancelled.rawValue)" } + ["invalid"])
        }
    }

    @Test func noTaskBeginsOnceTheSessionIsInvalidated() async throws {
        try await withTimeout {
            let events = InvalidationRecorder { session, _ in
                session.dataTask(with: SilentHandler.url) { _, _, error in
                    #expect((error as? URLError)?.code == .cancelled)
                }.resume()
            }
            let session = makeSession(events)
            for _ in 0..<Self.count { session.dataTask(with: SilentHandler.url).resume() }
            session.invalidateAndCancel()
            _ = await events.ends.contents { $0.last == "invalid" }
            await #expect(throws: URLError.self) { try await session.data(from: SilentHandler.url) }
        }
    }

    @Test func tasksThatWereToFinishCanBeCancelled() async throws {
        try await withTimeout {
            let events = InvalidationRecorder()
            let session = makeSession(events)
            for _ in 0..<10 { session.dataTask(with: SilentHandler.url).resume() }
            session.finishTasksAndInvalidate()
            session.invalidateAndCancel()
            let ends = await events.ends.contents { $0.last == "invalid" }
            #expect(ends.count == 11)
        }
    }

    /// A load that fails at once is over before the session's loop has noted the task, where both are done there.
    @Test func aTaskThatEndsAtOnceOnTheSessionsLoopIsNotWaitedFor() async throws {
        let url = try #require(URL(string: "unknown:scheme"))
        try await withTimeout {
            let events = InvalidationRecorder()
            let session = makeSession(events)
            await Task(executorPreference: session.executor) { session.dataTask(with: url).resume() }.value
            session.finishTasksAndInvalidate()
            let ends = await events.ends.contents { $0.last == "invalid" }
            #expect(ends.count == 2)
        }
    }

    /// The load is over, and the session with it, when the delegate suspends the task: its end waits until the program cancels
    /// the session's tasks, or resumes them.
    @Test(arguments: [true, false]) func aTaskWhoseEndWaitsEndsBeforeTheSession(isCancelled: Bool) async throws {
        try await withTimeout {
            let events = Suspender { session in
                session.finishTasksAndInvalidate()
                if isCancelled {
                    session.invalidateAndCancel()
                } else {
                    session.getAllTasks { for task in $0 { task.resume() } }
                }
            }
            let session = makeSession(events)
            let task = session.dataTask(with: ShortHandler.url)
            task.resume()
            let ends = await events.ends.contents { $0.last == "invalid" }
            let code = isCancelled ? URLError.cancelled.rawValue : 0
            #expect(ends == ["\(task.taskIdentifier) \(code)", "invalid"])
            #expect(task.state == .completed)
            await session.finishTasks()
        }
    }

    /// A load that ends by itself while the session cancels its tasks is not among them any longer. The test shows this where
    /// the cancellation takes more than one share of a turn.
    @Test func aTaskThatEndsAndIsSuspendedMeanwhileIsCancelled() async throws {
        ShortLoad.held.removeAll()
        try await withTimeout {
            let loop = EventLoop(name: "busy")
            let events = Suspender { _ in }
            let session = makeSession(events, on: loop)
            for _ in 0..<Self.count { session.dataTask(with: SilentHandler.url).resume() }
            let last = session.dataTask(with: ShortHandler.heldURL)
            last.resume()
            let load = try #require(await ShortLoad.held.element(at: 0))
            session.invalidateAndCancel()
            loop.execute { load.finish() }
            let ends = await events.ends.contents { $0.last == "invalid" }
            #expect(ends.count == Self.count + 2)
            #expect(ends.contains("\(last.taskIdentifier) \(URLError.cancelled.rawValue)"))
        }
    }

    /// The loop that they share does the one's bulk work a share at a time.
    @Test func anotherSessionGoesOnMeanwhile() async throws {
        try await withTimeout {
            let loop = EventLoop(name: "shared")
            let events = InvalidationRecorder()
            let session = makeSession(events, on: loop)
            let tasks = (0..<Self.count).map { _ in session.dataTask(with: SilentHandler.url) }
            for task in tasks { task.resume() }
            session.invalidateAndCancel()
            let running = await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: tasks.count { $0.state == .running }) }
            }
            #expect(running > 0)
            _ = await events.ends.contents { $0.last == "invalid" }
        }
    }

    /// A connection that is let go is not used for the next request, which is about to be cancelled, too.
    @Test func requestsThatWaitAreNotSent() async throws {
        let server = try LoopbackServer { request in
            try request.exchange.waitUntilClientCloses()
            return .text("")
        }
        defer { server.stop() }
        try await withTimeout {
            let events = InvalidationRecorder()
            let session = makeSession(events)
            let url = try #require(URL(string: server.url("/")))
            for _ in 0..<5 { session.dataTask(with: url).resume() }
            _ = await server.requests.element(at: 0)
            session.invalidateAndCancel()
            _ = await events.ends.contents { $0.last == "invalid" }
            _ = await server.endings.count(reaches: 1)
            #expect(server.openings.count == 1)
        }
    }

    /// The session goes on.
    @Test func theMemoryOfManyTasksIsNotKept() async throws {
        try await withTimeout {
            let events = InvalidationRecorder()
            let session = makeSession(events)
            defer { session.invalidateAndCancel() }
            let tasks = (0..<5_000).map { _ in session.dataTask(with: SilentHandler.url) }
            for task in tasks { task.cancel() }
            _ = await events.ends.count(reaches: tasks.count)
            let capacity = Recorder<Int>()
            session.core.loop.execute { capacity.append(session.core.taskCapacity) }
            #expect(await capacity.element(at: 0) == 0)
        }
    }

    private func makeSession(_ delegate: (any URLSessionDelegate)?, on loop: EventLoop = .next()) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [SilentHandler.self, ShortHandler.self]
        configuration.httpMaximumConnectionsPerHost = 1
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil, loop: loop)
    }
}

/// The ends of tasks and of their session, in order.
private class InvalidationRecorder: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // set first
    let ends = Recorder<String>()
    var tasks: [URLSessionTask] = []
    private let meanwhile: @Sendable (URLSession, [URLSessionTask]) -> Void

    init(_ meanwhile: @escaping @Sendable (URLSession, [URLSessionTask]) -> Void = { _, _ in }) {
        self.meanwhile = meanwhile
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.append("\(task.taskIdentifier) \((error as? URLError)?.code.rawValue ?? 0)")
        if ends.count == 1 { meanwhile(session, tasks) }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { ends.append("invalid") }
}

/// Suspends a task that gets data, when its load is over.
private final class Suspender: InvalidationRecorder, URLSessionDataDelegate, @unchecked Sendable {  // as its superclass
    private let proceed: @Sendable (URLSession) -> Void

    init(_ proceed: @escaping @Sendable (URLSession) -> Void) {
        self.proceed = proceed
        super.init { _, _ in }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        // The load ends in the turn of the loop in which it gives the data.
        let isOver = Signal()
        session.core.loop.execute { isOver.fire() }
        isOver.waitBlocking()
        dataTask.suspend()
        proceed(session)
    }
}

/// Never answers, and holds nothing.
private final class SilentHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    static var url: URL { URL(string: "silent:") ?? URL(fileURLWithPath: "/") }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("silent") ?? false }

    static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler { SilentLoad() }
}

private final class SilentLoad: LoopHandler {
    func begin(_ receiver: any LoadReceiver) {}
    func end() {}
    func receiverDidBlock() {}
    func receiverDidBecomeReady() {}
}

/// Answers with a short body.
private final class ShortHandler: URLProtocolHandler, LoopNativeHandler, @unchecked Sendable {  // stateless
    static var url: URL { URL(string: "short:") ?? URL(fileURLWithPath: "/") }
    /// Answers with the body when the test says so.
    static var heldURL: URL { URL(string: "short:held") ?? URL(fileURLWithPath: "/") }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.hasScheme("short") ?? false }

    static func makeLoad(_ request: URLRequest, _ resources: LoadResources) -> any LoopHandler {
        ShortLoad(request.url ?? url)
    }
}

private final class ShortLoad: LoopHandler, @unchecked Sendable {  // confined to its loop
    /// Those that wait for the test.
    static let held = Recorder<ShortLoad>()

    private let url: URL
    private var receiver: (any LoadReceiver)?

    init(_ url: URL) { self.url = url }

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        if receiver.receive(response) == .more { receiverDidBecomeReady() }
    }

    func end() { receiver = nil }
    func receiverDidBlock() {}

    func receiverDidBecomeReady() {
        if url == ShortHandler.heldURL { Self.held.append(self) } else { finish() }
    }

    func finish() {
        _ = receiver?.receive(Data("short".utf8))
        receiver?.finish()
    }
}
