import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import Synchronization
import TestSupport
import Testing

/// Random loads that are suspended, resumed and cancelled from several threads, in sessions that are invalidated
/// meanwhile. Each load ends once, and nothing is left.
///
/// `make stress` runs many more of them, under the sanitizers.
@Suite struct StressTests {
    private static let loads =
        ProcessInfo.processInfo.environment["LOADINGKIT_STRESS_LOADS"].flatMap { Int($0) } ?? 1500
    private static let workers = 8

    @Test(arguments: StressVersion.allCases) func everyLoadEndsOnceAndNothingIsLeft(version: StressVersion) async throws
    {
        let server = try StressServer(version)
        defer { server.stop() }
        let ledger = StressLedger()
        let sessions = StressSessions(ledger, trusting: server.certificate, pipelining: version == .pipelined)
        try await withTimeout(seconds: 600) {
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<Self.workers {
                    group.addTask {
                        var stress = StressWorker(UInt64(worker), sessions, server, ledger)
                        for _ in 0..<(Self.loads / Self.workers) { await stress.loadOnce() }
                    }
                }
            }
            sessions.invalidateAll()
        }
        try await reaches("invalidations", ledger.invalidations, sessions.made)
        try await reaches("ends of loads", ledger.ends, ledger.begun.load(ordering: .relaxed))
        // A delegate of its own is held by its task, and its end tells of the task's.
        try await reaches("ends of tasks", ledger.tasksGone, ledger.withDelegates.load(ordering: .relaxed))
        // A session's end closes its connections.
        try await reaches("ends of connections", server.endings, server.openings.count)
        #expect(ledger.endedTwice.snapshot.isEmpty)
        #expect(ledger.unexpected.snapshot.isEmpty)
    }

    private func reaches(_ what: String, _ recorder: Recorder<Int>, _ count: Int) async throws {
        do {
            try await withTimeout { _ = await recorder.count(reaches: count) }
        } catch {
            Issue.record("\(recorder.count) of \(count) \(what): \(error)")
        }
    }
}

enum StressVersion: CaseIterable { case http1, pipelined, http2 }

/// What has happened to the loads.
final class StressLedger: Sendable {
    let begun = Atomic<Int>(0)
    let withDelegates = Atomic<Int>(0)
    let ends = Recorder<Int>()
    let endedTwice = Recorder<Int>()
    let tasksGone = Recorder<Int>()
    let invalidations = Recorder<Int>()
    let unexpected = Recorder<String>()

    func begin() -> Int { begun.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// One load's end, which comes once.
final class StressTicket: NSObject, URLSessionDataDelegate {
    private let ledger: StressLedger
    private let number: Int
    private let hasEnded = Atomic<Bool>(false)
    private let tellsOfTask: Bool

    init(_ ledger: StressLedger, tellsOfTask: Bool = false) {
        self.ledger = ledger
        self.tellsOfTask = tellsOfTask
        number = ledger.begin()
        if tellsOfTask { ledger.withDelegates.wrappingAdd(1, ordering: .relaxed) }
    }

    deinit { if tellsOfTask { ledger.tasksGone.append(number) } }

    func end(_ error: (any Error)?) {
        if hasEnded.exchange(true, ordering: .relaxed) { ledger.endedTwice.append(number) }
        switch (error as? URLError)?.code {
        case nil where error == nil: break
        case .cancelled, .networkConnectionLost: break
        case _: ledger.unexpected.append("\(error.map { "\($0)" } ?? "")")
        }
        ledger.ends.append(number)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(error)
    }
}

/// The sessions that are in use, each with a delegate that tells of its invalidation.
final class StressSessions: Sendable {
    private final class Delegate: NSObject, URLSessionDataDelegate {
        private let ledger: StressLedger
        init(_ ledger: StressLedger) { self.ledger = ledger }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            ledger.invalidations.append(1)
        }
    }

    private struct State {
        var sessions: [URLSession] = []
        var made = 0
    }

    private let ledger: StressLedger
    private let certificate: String
    private let pipelines: Bool
    private let state = Guarded(State())

    init(_ ledger: StressLedger, trusting certificate: String, pipelining: Bool) {
        self.ledger = ledger
        pipelines = pipelining
        self.certificate = certificate
        for _ in 0..<3 { add() }
    }

    var made: Int { state.withLock { $0.made } }

    func add() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = pipelines ? 1 : 4
        configuration.httpShouldUsePipelining = pipelines
        configuration.tlsTrustRoots = .pem(certificate)
        configuration.timeoutIntervalForRequest = 300
        configuration.register(scheme: "stress") { load in
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            for _ in 0..<20 {
                try await load.receive(Data(repeating: 1, count: 1000))
                await Task.yield()
            }
            if load.url.host == "hang" { try await Task.sleep(for: .seconds(3600)) }
        }
        let session = URLSession(configuration: configuration, delegate: Delegate(ledger), delegateQueue: nil)
        state.withLock {
            $0.sessions.append(session)
            $0.made += 1
        }
    }

    func any(_ number: Int) -> URLSession { state.withLock { $0.sessions[number % $0.sessions.count] } }

    func replaceOne(cancelling: Bool) {
        add()
        let session = state.withLock { $0.sessions.removeFirst() }
        if cancelling { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
    }

    func invalidateAll() {
        let all = state.withLock { state in
            defer { state.sessions = [] }
            return state.sessions
        }
        for session in all { session.invalidateAndCancel() }
    }
}

/// Origins that answer, dawdle, redirect, break off and never answer.
final class StressServer: Sendable {
    /// A server that waits for one request's end would hold up the others of its connection where they share it; and
    /// where it breaks a connection off, nothing is pipelined any more.
    let paths: [String]
    /// What its clients have to trust.
    let certificate: String
    private let server: LoopbackServer
    var openings: Recorder<Int> { server.openings }
    var endings: Recorder<Int> { server.endings }

    init(_ version: StressVersion) throws {
        let authority = try CertificateAuthority()
        certificate = authority.certificatePEM
        let tls = version == .http2 ? TLSServerOptions(try authority.issue(), applicationProtocols: ["h2"]) : nil
        let more: [String] =
            switch version {
            case .http1: ["/reset", "/hang"]
            case .pipelined: []
            case .http2: ["/reset"]
            }
        paths = ["/short", "/long", "/gzip", "/chunks", "/redirect", "/close"] + more
        var options = LoopbackServer.Options(tls: tls)
        options.recordsRequests = false
        let long = [UInt8](repeating: 7, count: 200_000)
        server = try LoopbackServer(options) { request in
            switch request.path {
            case "/long": return .bytes(long)
            case "/gzip": return try .gzip(long)
            case "/chunks":
                return .stream { writer in for _ in 0..<50 { try writer.write([UInt8](repeating: 1, count: 100)) } }
            case "/redirect": return .redirect(to: "/short")
            case "/reset": try request.exchange.reset()
            case "/close": return ServerResponse.text("last").closing()
            case "/hang":
                try request.exchange.waitUntilClientCloses()
                return .text("")
            default: return .text("short")
            }
        }
    }

    func stop() { server.stop() }

    func url(_ path: String) -> URL {
        URL(string: server.url(path)) ?? URL(fileURLWithPath: "/")
    }
}

/// Makes loads and interferes with them.
struct StressWorker {
    private static let others = ["data:,abc", "stress:ok", "stress://hang/"]

    private var random: SeededGenerator
    private let sessions: StressSessions
    private let server: StressServer
    private let ledger: StressLedger

    init(_ seed: UInt64, _ sessions: StressSessions, _ server: StressServer, _ ledger: StressLedger) {
        random = SeededGenerator(seed: seed)
        self.sessions = sessions
        self.server = server
        self.ledger = ledger
    }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func url() -> (URL, hangs: Bool) {
        let paths = server.paths
        let number = pick(paths.count + Self.others.count)
        if number < paths.count { return (server.url(paths[number]), paths[number] == "/hang") }
        let text = Self.others[number - paths.count]
        return (URL(string: text) ?? server.url("/"), text.contains("hang"))
    }

    mutating func loadOnce() async {
        if pick(100) == 0 { sessions.replaceOne(cancelling: pick(2) == 0) }
        let session = sessions.any(pick(100))
        let (url, hangs) = url()
        switch pick(4) {
        case 0: await withDelegate(session, url, hangs)
        case 1: await withCompletion(session, url, hangs)
        case 2: await asynchronously(session, url, hangs)
        default: await byteByByte(session, url)
        }
    }

    private mutating func withDelegate(_ session: URLSession, _ url: URL, _ hangs: Bool) async {
        let task = session.dataTask(with: url)
        task.delegate = StressTicket(ledger, tellsOfTask: true)
        await interfere(with: task, hangs)
    }

    private mutating func withCompletion(_ session: URLSession, _ url: URL, _ hangs: Bool) async {
        let ticket = StressTicket(ledger)
        let task = session.dataTask(with: url) { _, _, error in ticket.end(error) }
        await interfere(with: task, hangs)
    }

    /// Calls from this thread and another; in the end the task is running or cancelled.
    private mutating func interfere(with task: URLSessionTask, _ hangs: Bool) async {
        let (mine, others) = (acts(6), acts(4))
        let meanwhile = Task { Self.act(others, on: task) }
        Self.act(mine, on: task)
        await meanwhile.value
        if pick(20) == 0 { _ = await sessions.any(0).allTasks }
        if hangs || pick(4) == 0 { task.cancel() }
        while task.state == .suspended { task.resume() }
    }

    private mutating func acts(_ most: Int) -> [Int] { (0..<pick(most)).map { _ in pick(5) } }

    private static func act(_ acts: [Int], on task: URLSessionTask) {
        for act in acts {
            switch act {
            case 0: task.suspend()
            case 1: task.resume()
            case 2: task.priority = 0.9
            case 3: _ = (task.countOfBytesReceived, task.response, task.progress.fractionCompleted)
            default: if task.taskIdentifier % 7 == 0 { task.cancel() } else { task.resume() }
            }
        }
    }

    private mutating func asynchronously(_ session: URLSession, _ url: URL, _ hangs: Bool) async {
        let ticket = StressTicket(ledger)
        let load = Task {
            do {
                _ = try await session.data(from: url)
                ticket.end(nil)
            } catch {
                ticket.end(error)
            }
        }
        for _ in 0..<pick(10) { await Task.yield() }
        if hangs || pick(2) == 0 { load.cancel() }
        await load.value
    }

    private mutating func byteByByte(_ session: URLSession, _ url: URL) async {
        let ticket = StressTicket(ledger)
        let most = pick(5000)
        let load = Task {
            do {
                var count = 0
                for try await _ in try await session.bytes(from: url).0 {
                    count += 1
                    if count == most { break }
                }
                ticket.end(nil)
            } catch {
                ticket.end(error)
            }
        }
        if pick(2) == 0 || url.path == "/hang" || url.host == "hang" {
            for _ in 0..<pick(10) { await Task.yield() }
            load.cancel()
        }
        await load.value
    }
}
