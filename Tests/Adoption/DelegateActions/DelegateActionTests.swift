import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Programs whose delegates cancel, suspend, resume, block, load, enqueue or invalidate in each of their methods, on each kind
/// of queue.
@Suite(.timeLimit(.minutes(10))) struct DelegateActionTests {
    enum Action: String, CaseIterable, Sendable {
        case cancel, suspend, resume, block, load, enqueue, invalidate, finish

        var endsTask: Bool { self == .cancel || self == .invalidate }
        var endsSession: Bool { self == .invalidate || self == .finish }
    }

    @Test("each method", arguments: ActedLoad.all, Action.allCases)
    func table(_ load: ActedLoad, _ action: Action) async throws {
        let servers = try Servers(isSecure: load.isSecure)
        defer { servers.stop() }
        for call in load.calls + ["invalid"] {
            for queue in DelegateQueueTests.Queue.allCases {
                try await Self.check(load, action, in: call, on: queue, servers)
            }
        }
    }

    private static func check(
        _ load: ActedLoad, _ action: Action, in call: String, on queue: DelegateQueueTests.Queue, _ servers: Servers
    ) async throws {
        let program = Program(load, action, in: call, on: queue, servers)
        defer { program.stop() }
        let place = "\(action.rawValue) in \(call) of \(load.testDescription), \(queue.rawValue)"
        try await withTimeout(place) { try await program.start() }
        let calls = program.delegate.calls.snapshot
        let outcomes = Self.outcomes(load, action, in: call)
        #expect(outcomes.contains(calls.filter { $0 != "block" }), "\(place): \(calls)")
        // Of what a queue does two at a time any may be first.
        if action == .enqueue, queue != .limited, let index = calls.firstIndex(where: { $0.hasPrefix(call) }) {
            #expect(calls[index...].dropFirst().first == "block", "\(place): \(calls)")
        }
        #expect(calls.count { $0 == "block" } == (action == .enqueue ? 1 : 0), "\(place)")
        #expect(program.loads.snapshot == program.expectedLoads, "\(place)")
    }

    /// What the delegate may be told.
    private static func outcomes(_ load: ActedLoad, _ action: Action, in call: String) -> [[String]] {
        let whole = load.calls + ["invalid"]
        // It is told before the method that makes the task returns, and so before the program has given the task a date.
        if action == .resume, call == "created" { return [whole, whole.filter { $0 != "delayed" }] }
        // A connection that was closed in order is not cancelled any more, but by the end of its session.
        let isOver = load.isOver(in: call) && !(call == "closed" && action == .invalidate)
        guard action.endsTask, !isOver, let index = load.calls.firstIndex(of: call) else { return [whole] }
        let ended = ["metrics", "end -999", "invalid"]
        let cancelled = Array(load.calls[...index]) + ended
        // What is on disk is told of a task that was cancelled, too.
        let isWritten = load.calls.contains("wrote") && call != "wrote"
        let written = Array(load.calls[...index]) + (isWritten ? ["wrote"] : []) + ended
        guard action == .invalidate else { return [cancelled, written] }
        // The session reaches its tasks after the call: what has come by then is told.
        return load.calls.indices.filter { $0 >= index && !load.isOver(in: load.calls[$0]) }
            .map { Array(load.calls[...$0]) + ended } + [written, whole]
    }

    /// The servers of a test's programs, which run one after the other.
    private final class Servers: Sendable {
        let server: LoopbackServer
        /// Has nothing to do with the load.
        let bystander: LoopbackServer
        private let release: Box<Signal>

        init(isSecure: Bool) throws {
            var options = LoopbackServer.Options()
            if isSecure { options.tls = TLSServerOptions(try CertificateAuthority().issue()) }
            let release = Box(Signal())
            server = try LoopbackServer(options) { try ActedRun.answer($0, release.value) }
            bystander = try LoopbackServer { _ in .text("hello") }
            self.release = release
        }

        /// What lets the server send the rest in the program that begins now.
        func renewRelease() -> Signal {
            let signal = Signal()
            release.value = signal
            return signal
        }

        func stop() {
            server.stop()
            bystander.stop()
        }
    }

    /// A program whose delegate does what it is to do, once.
    private final class Program: Sendable {
        let delegate: ActingDelegate
        /// What came of its other loads.
        let loads = Recorder<String>()
        private let load: ActedLoad
        private let action: Action
        private let call: String
        private let run: ActedRun
        private let bystander: LoopbackServer
        private let told: Box<Program?>
        private let other: URLSession
        private let loop = EventLoop(name: "action")
        private let task = Box<URLSessionTask?>(nil)
        private let isDone = Signal()

        init(
            _ load: ActedLoad, _ action: Action, in call: String, on queue: DelegateQueueTests.Queue, _ servers: Servers
        ) {
            (self.load, self.action, self.call) = (load, action, call)
            bystander = servers.bystander
            let told = Box<Program?>(nil)
            self.told = told
            let isStreamed = load.calls.contains("stream")
            // A stream is sent once the server has said 100 (Continue).
            delegate = ActingDelegate(load.disposition, notes: { !isStreamed || $0 != "informational" }) {
                told.value?.didTell($0, $1, $2)
            }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = URLCache(
                memoryCapacity: load.calls.contains("cache") ? 1 << 20 : 0, diskCapacity: 0)
            configuration.connectionProxyDictionary = [:]
            let session = URLSession(
                configuration: configuration, delegate: delegate, delegateQueue: queue.make(), loop: loop)
            other = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
            run = ActedRun(session, servers.server, servers.renewRelease())
            told.value = self
        }

        func stop() {
            run.session.invalidateAndCancel()
            other.invalidateAndCancel()
            run.release.fire()
            loop.stop()
            told.value = nil
        }

        var expectedLoads: [String] {
            let next = action.endsSession && call != "invalid" ? "next -999" : "next hello"
            switch action {
            case .block: return call == "invalid" ? [next, "other hello"] : ["other hello", next]
            case .load: return call == "invalid" ? [next, "second -999"] : ["second hello", next]
            case .cancel, .suspend, .resume, .enqueue, .invalidate, .finish: return [next]
            }
        }

        func start() async throws {
            let task = try await load.make(run)
            self.task.value = task
            task.resume()
            _ = await delegate.calls.contents { $0.contains { $0.hasPrefix("end") || $0 == "captured" } }
            if call != "invalid" { await isDone.wait() }
            loads.append("next " + (await outcome(in: run.session)))
            if !action.endsSession || call == "invalid" { run.session.finishTasksAndInvalidate() }
            _ = await delegate.calls.contents { $0.contains("invalid") }
            await isDone.wait()
        }

        private func request() throws -> URLRequest {
            URLRequest(url: try #require(URL(string: bystander.url("/hello"))))
        }

        private func outcome(in session: URLSession) async -> String {
            do {
                return String(decoding: try await session.data(for: request()).0, as: UTF8.self)
            } catch {
                return "\((error as? URLError)?.code.rawValue ?? 0)"
            }
        }

        private func begin(_ name: String, in session: URLSession, _ done: @escaping @Sendable () -> Void) {
            guard let request = try? request() else { return }
            session.dataTask(with: request) { [loads] data, _, error in
                let text = data.map { String(decoding: $0, as: UTF8.self) }
                loads.append("\(name) \(text ?? "\((error as? URLError)?.code.rawValue ?? 0)")")
                done()
            }.resume()
        }

        // MARK: In the delegate's methods

        private func didTell(_ name: String, _ session: URLSession, _ told: URLSessionTask?) {
            if name == call, let task = told ?? task.value { act(session, task) }
            guard name == load.hold, name != call || !action.endsTask else { return }
            run.release.fire()
            if name != call || action != .suspend { run.holdIsOver() }
        }

        private func act(_ session: URLSession, _ task: URLSessionTask) {
            switch action {
            case .cancel: task.cancel()
            case .resume: task.resume()
            case .invalidate: session.invalidateAndCancel()
            case .finish: session.finishTasksAndInvalidate()
            case .suspend: return suspend(session, task)
            case .block: block(task)
            case .load: return begin(session)
            case .enqueue:
                return session.delegateQueue.addOperation { [delegate, isDone] in
                    delegate.calls.append("block")
                    isDone.fire()
                }
            }
            isDone.fire()
        }

        /// Another thread resumes the task when the queue had some turns, in which nothing may be told.
        private func suspend(_ session: URLSession, _ task: URLSessionTask) {
            task.suspend()
            let told = delegate.calls.count
            DispatchQueue.global().async { [self] in
                for _ in 0..<3 {
                    let turn = DispatchSemaphore(value: 0)
                    session.delegateQueue.addBarrierBlock { turn.signal() }
                    turn.wait()
                }
                let more = delegate.calls.snapshot.dropFirst(told)
                if !more.isEmpty, !load.isOver(in: call) { loads.append("told of a suspended task: \(more)") }
                task.resume()
                if call == load.hold { run.holdIsOver() }
                isDone.fire()
            }
        }

        /// Waits for another thread, which looks at the task and loads in another session of the same event loop.
        private func block(_ task: URLSessionTask) {
            let event = DispatchSemaphore(value: 0)
            DispatchQueue.global().async { [self] in
                _ = (task.state, task.progress, task.currentRequest, task.response, task.error)
                begin("other", in: other) { event.signal() }
            }
            event.wait()
        }

        /// What its handler waits for is behind this call.
        private func begin(_ session: URLSession) { begin("second", in: session) { [isDone] in isDone.fire() } }
    }
}
