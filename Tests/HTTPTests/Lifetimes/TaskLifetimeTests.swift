import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// The objects that are retained before and after a task's end, while the program keeps the task: see `WhatIsHeld.md`.
@Suite struct TaskLifetimeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: TaskKind
        let end: TaskKind.End
        let version: String
        let hasDelegate: Bool

        var testDescription: String {
            "\(kind), \(end), \(version)\(hasDelegate ? "" : ", without a delegate of the session")"
        }
    }

    static let cases = TaskKind.all.flatMap { kind in
        kind.ends.flatMap { end in
            kind.versions.flatMap { version in
                (kind.needsDelegate ? [true] : [true, false]).map {
                    Case(kind: kind, end: end, version: version, hasDelegate: $0)
                }
            }
        }
    }

    /// The objects that are released when their work is done, which may be before the task's end.
    private static let untilDone: Set = ["who sends", "who pings", "who writes", "the stream"]

    /// Makes and resumes a task, in a session that nobody holds but the task.
    private static func start(
        _ test: Case, _ configuration: URLSessionConfiguration, _ server: LoopbackServer, _ gate: Gate, _ watch: Watch,
        _ tasks: Recorder<URLSessionTask>
    ) throws {
        let ofSession = watch.object("the session")
        configuration.register(scheme: "loading") { request in
            withExtendedLifetime(ofSession) { LoadingHandler(request, gate, watch.object("the scheme's handler")) }
        }
        configuration.register(scheme: "classic") { request in
            withExtendedLifetime(ofSession) { ClassicHandler(request, gate, watch.object("the scheme's handler")) }
        }
        let delegate = test.hasDelegate ? WatchedDelegate(watch.object("the session's delegate"), tasks) : nil
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let request = try BothVersions.request(server, test.kind.path, test.kind.method)
        let made = test.kind.make(TaskMaking(session: session, request: request, watch: watch, tasks: tasks))
        if let made, !test.hasDelegate { tasks.append(made) }
        if test.end != .neverResumed { made?.resume() }
    }

    private static func end(_ task: URLSessionTask, _ end: TaskKind.End, _ gate: Gate) {
        switch end {
        case .success, .failure: gate.release.fire()
        case .cancelled, .neverResumed: task.cancel()
        }
    }

    @Test(arguments: cases) func anEndedTaskLetsGo(_ test: Case) async throws {
        let gate = Gate(fails: test.end == .failure)
        let watch = Watch()
        let tasks = Recorder<URLSessionTask>()
        try await BothVersions.withServer(test.version, gate.route) { session, server in
            try Self.start(test, session.configuration, server, gate, watch, tasks)
            let task = try #require(await tasks.element(at: 0))
            if test.end != .neverResumed { await gate.begun.wait() }
            let gone = watch.gone.filter { !Self.untilDone.contains($0) }
            #expect(gone == [], "before the end")
            let engine = try await WeakEngine(of: task)
            Self.end(task, test.end, gate)
            try await watch.allGone()
            try await waitUntil { !engine.isThere }
            #expect(task.state == .completed && task.delegate == nil && task.session == nil)
            #expect((task.error == nil) == (test.end == .success), "\(String(describing: task.error))")
            withExtendedLifetime(tasks) {}
            gate.release.fire()
        }
    }

    // MARK: What goes on for longer than the task

    /// A `load(_:)` that does not return holds what it was given, and nothing of the session.
    @Test func aLoadThatNeverReturnsHoldsItselfAlone() async throws {
        let (watch, begun, release) = (Watch(), Signal(), Signal())
        let start = { @Sendable () throws -> URLSessionTask in
            let configuration = URLSessionConfiguration.ephemeral
            let ofSession = watch.object("the session")
            configuration.register(scheme: "unused") {
                withExtendedLifetime(ofSession) {}
                return URLProtocolHandler(request: $0, cachedResponse: nil, client: nil)
            }
            configuration.register(scheme: "stuck") { _ in
                begun.fire()
                await Self.wait(for: release)
            }
            let held = watch.object("the handler")
            let session = URLSession(configuration: configuration)
            let task = session.dataTask(with: try #require(URL(string: "stuck://host"))) { _, _, _ in
                withExtendedLifetime(held) {}
            }
            task.resume()
            return task
        }
        try await withTimeout {
            let task = try start()
            await begun.wait()
            let engine = try await WeakEngine(of: task)
            task.cancel()
            try await watch.allGone()
            try await waitUntil { !engine.isThere }
        }
        release.fire()
    }

    /// The same of a delegate's method: of its session it holds the object that it was given.
    @Test func aDelegateThatNeverAnswersHoldsItsArgumentsAlone() async throws {
        final class Silent: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // constants
            let asked = Signal()
            let ended = Signal()
            let release = Signal()

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
            ) async -> URLSession.ResponseDisposition {
                asked.fire()
                await TaskLifetimeTests.wait(for: release)
                return .allow
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                ended.fire()
            }
        }
        let (watch, delegate) = (Watch(), Silent())
        try await BothVersions.withServer("h2", { _ in .text("hello") }, delegate: delegate) { session, server in
            let request = try BothVersions.request(server, "/", "POST")
            let task = session.uploadTask(with: request, from: watch.data("the body"))
            task.resume()
            await delegate.asked.wait()
            let engine = try await WeakEngine(of: task)
            #expect(engine.isThere && watch.gone == [])
            task.cancel()
            await delegate.ended.wait()
            try await watch.allGone()
            try await waitUntil { !engine.isThere }
        }
        delegate.release.fire()
    }

    private static func wait(for signal: Signal) async {
        // Not cancelled with the caller.
        await Task.detached { await signal.wait() }.value
    }

    // MARK: Tasks that others take the place of

    @Test(arguments: [URLSession.ResponseDisposition.becomeDownload, .becomeStream])
    func aTaskThatBecameAnotherLetsGo(_ disposition: URLSession.ResponseDisposition) async throws {
        final class Changing: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
            // Constants.
            let disposition: URLSession.ResponseDisposition
            let tasks: Recorder<URLSessionTask>
            let watched: Watch.Watched

            init(
                _ disposition: URLSession.ResponseDisposition, _ tasks: Recorder<URLSessionTask>,
                _ watched: Watch.Watched
            ) { (self.disposition, self.tasks, self.watched) = (disposition, tasks, watched) }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
            ) async -> URLSession.ResponseDisposition { disposition }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
            ) { tasks.append(downloadTask) }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
            ) {
                streamTask.readData(ofMinLength: 100, maxLength: 100, timeout: 0) { _, _, _ in }
                tasks.append(streamTask)
            }

            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
            ) {}
        }
        let (watch, tasks) = (Watch(), Recorder<URLSessionTask>())
        try await BothVersions.withServer("http/1.1", { _ in .text("hello") }) { session, server in
            let start = {
                let task = session.dataTask(with: try BothVersions.request(server, "/"))
                task.delegate = Changing(disposition, tasks, watch.object("the task's delegate"))
                tasks.append(task)
                task.resume()
            }
            try start()
            _ = await tasks.count(reaches: 2)
            try await watch.allGone()
            for task in tasks.snapshot {
                let engine = try await WeakEngine(of: task)
                try await waitUntil { !engine.isThere }
                #expect(task.state == .completed && task.delegate == nil && task.session == nil)
            }
        }
    }

    // MARK: What can be asked of a task that is over

    @Test func whatIsAskedLaterIsAnsweredAndLetGo() async throws {
        let watch = Watch()
        let kept = Recorder<URLSessionTask>()
        try await BothVersions.withServer("http/1.1", { _ in .text("hello") }) { session, server in
            let request = try BothVersions.request(server, "/")
            let start = {
                let session = URLSession(configuration: session.configuration)
                let download = session.downloadTask(with: request)
                let socket = session.webSocketTask(with: request)
                let stream = session.streamTask(withHostName: "localhost", port: 1)
                for task in [download, socket, stream] as [URLSessionTask] {
                    task.cancel()
                    kept.append(task)
                }
                return (download, socket, stream)
            }
            let (download, socket, stream) = start()
            for task in kept.snapshot { try await waitUntil { task.session == nil } }
            let data = await download.cancelByProducingResumeData()
            #expect(data == nil)
            await #expect(throws: URLError.self) { try await socket.receive() }
            await #expect(throws: URLError.self) { try await socket.send(.string("hello")) }
            await #expect(throws: URLError.self) { try await socket.sendPing() }
            await #expect(throws: URLError.self) { try await stream.write(Data(), timeout: 0) }
            let ask = {
                let held = (0..<4).map { watch.object("\($0)") }
                download.cancel { _ in withExtendedLifetime(held[0]) {} }
                socket.receive { _ in withExtendedLifetime(held[1]) {} }
                socket.sendPing { _ in withExtendedLifetime(held[2]) {} }
                stream.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { _, _, _ in
                    withExtendedLifetime(held[3]) {}
                }
            }
            ask()
            try await watch.allGone()
        }
    }

    /// The data is for whoever asked; the task does not keep who that was.
    @Test func whoeverAskedForResumeDataIsLetGo() async throws {
        let gate = Gate(fails: false)
        let watch = Watch()
        try await BothVersions.withServer("http/1.1", gate.route) { session, server in
            let task = session.downloadTask(with: try BothVersions.request(server, "/"))
            task.resume()
            await gate.begun.wait()
            let ask = {
                let held = watch.object("who asked")
                task.cancel { _ in withExtendedLifetime(held) {} }
            }
            ask()
            try await watch.allGone()
            gate.release.fire()
        }
    }

    /// A progress that the program keeps holds no task.
    @Test func aProgressHoldsNoTask() async throws {
        let (watch, kept) = (Watch(), Box<[Progress]>([]))
        let start = {
            let ofSession = watch.object("the session")
            let session = makeSession {
                $0.register(scheme: "unused") {
                    withExtendedLifetime(ofSession) {}
                    return URLProtocolHandler(request: $0, cachedResponse: nil, client: nil)
                }
            }
            let task = session.dataTask(with: try #require(URL(string: "data:,hello")))
            kept.update { $0.append(task.progress) }
            // Until then its session holds it.
            task.cancel()
        }
        try start()
        try await watch.allGone()
        #expect(kept.value.count == 1)
    }

    // MARK: What is replaced

    /// Uses its task when it is released.
    private final class Parting: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
        private let task: URLSessionTask
        private let states: Recorder<URLSessionTask.State>

        init(_ task: URLSessionTask, _ states: Recorder<URLSessionTask.State>) {
            (self.task, self.states) = (task, states)
        }

        deinit { states.append(task.state) }
    }

    private final class PartingStream: InputStream {
        private let parting: Parting

        init(_ parting: Parting) {
            self.parting = parting
            super.init(data: Data())
        }
    }

    private struct PartingError: Error {
        let parting: Parting
    }

    /// The task holds no lock when its program's object is released.
    @Test func whatIsReplacedMayUseItsTask() throws {
        let url = try #require(URL(string: "data:,hello"))
        let replacements: [(name: String, replace: (URLSessionWebSocketTask, () -> Parting) -> Void)] = [
            (
                "a delegate",
                { task, parting in
                    task.delegate = parting()
                    task.delegate = nil
                }
            ),
            (
                "a request",
                { task, parting in
                    task.currentRequest?.httpBodyStream = PartingStream(parting())
                    task.currentRequest = nil
                }
            ),
            (
                "a stream at the end",
                { task, parting in
                    task.currentRequest?.httpBodyStream = PartingStream(parting())
                    task.releaseResources()
                }
            ),
            (
                "an error",
                { task, parting in
                    task.error = PartingError(parting: parting())
                    task.error = nil
                }
            ),
            (
                "an error at the load's end",
                { task, parting in
                    task.error = PartingError(parting: parting())
                    _ = task.loadDidFinish(nil, completes: true)
                }
            ),
            (
                "an error at the task's end",
                { task, parting in
                    task.error = PartingError(parting: parting())
                    task.settle(nil, heedsCancellation: false)
                }
            ),
        ]
        for (name, replace) in replacements {
            // Of the tasks it has the most that can be replaced.
            let task = URLSessionWebSocketTask()
            task.currentRequest = URLRequest(url: url)
            let states = Recorder<URLSessionTask.State>()
            replace(task) { Parting(task, states) }
            #expect(states.snapshot == [task.state], "\(name)")
        }
    }

    /// Uses its mailbox when it is released.
    private final class PartingTask: MailboxTask {
        let identifier = 1
        var delivery: MailboxDelivery { .goesOn }
        private let mailbox: DelegateMailbox
        private let counts: Recorder<Int>

        init(_ mailbox: DelegateMailbox, _ counts: Recorder<Int>) { (self.mailbox, self.counts) = (mailbox, counts) }

        deinit { counts.append(mailbox.tasks.count) }
    }

    /// A task that is resumed while its end waits for turns of the loop gets its end before them. The mailbox, which
    /// holds it until then, releases it without the lock.
    @Test func aTaskThatItsMailboxReleasesMayUseTheMailbox() async throws {
        let loop = EventLoop(name: "mailbox")
        defer { loop.stop() }
        let mailbox = DelegateMailbox(nil, loop)
        let counts = Recorder<Int>()
        try await withTimeout {
            let turn = Signal()
            loop.execute { turn.waitBlocking() }
            try await onThread {
                let makeCalls: @Sendable () -> Void = {
                    let areMade = Signal()
                    mailbox.post { areMade.fire() }
                    areMade.waitBlocking()
                }
                let task = PartingTask(mailbox, counts)
                mailbox.postEnd(of: task, isFirst: true) {}
                for _ in 0..<2 {
                    makeCalls()
                    mailbox.release(task)
                }
                makeCalls()
            }
            turn.fire()
            #expect(await counts.element(at: 0) == 0)
        }
    }

    @Test func theMemoryOfManyCallsIsNotKept() async throws {
        let loop = EventLoop(name: "mailbox")
        defer { loop.stop() }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let mailbox = DelegateMailbox(queue, loop)
        for _ in 0..<10_000 { mailbox.post {} }
        #expect(mailbox.hasMuchMemory)
        queue.isSuspended = false
        try await onThread { queue.waitUntilAllOperationsAreFinished() }
        #expect(!mailbox.hasMuchMemory)
    }

    // MARK: Sessions

    /// Of a session that is invalidated, and which the program keeps, with its tasks.
    @Test(arguments: [true, false]) func anInvalidatedSessionLetsGo(_ cancels: Bool) async throws {
        let gate = Gate(fails: false)
        let (watch, tasks) = (Watch(), Recorder<URLSessionTask>())
        try await BothVersions.withServer("h2", gate.route) { outer, server in
            let request = try BothVersions.request(server, "/")
            let start = {
                let session = URLSession(
                    configuration: outer.configuration,
                    delegate: WatchedDelegate(watch.object("the session's delegate"), tasks), delegateQueue: nil)
                let held = watch.object("the handler")
                for _ in 0..<2 {
                    _ = session.dataTask(with: request) { _, _, _ in withExtendedLifetime(held) {} }
                }
                tasks[0]?.resume()
                return session
            }
            let session = start()
            await gate.begun.wait()
            _ = await session.allTasks
            #expect(watch.gone == [])
            if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
            gate.release.fire()
            // A task that is never resumed is waited for.
            if !cancels { tasks[1]?.cancel() }
            try await watch.allGone()
            #expect(session.delegate == nil && tasks.snapshot.allSatisfy { $0.session == nil })
        }
    }
}

/// The engine of a task, without holding it.
private final class WeakEngine: @unchecked Sendable {  // only read
    private weak var engine: (any TaskRunner)?

    private init(_ engine: (any TaskRunner)?) { self.engine = engine }

    var isThere: Bool { engine != nil }

    convenience init(of task: URLSessionTask) async throws {
        let loop = try #require(task.mailbox?.loop)
        let made = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: WeakEngine(task.engine)) }
        }
        self.init(made.engine)
    }
}
