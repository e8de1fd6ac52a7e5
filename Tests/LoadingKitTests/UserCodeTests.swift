import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Synchronization
import TestSupport
import Testing

// Code as users write it in Swift 6 mode, without a word for the compiler's sake: that it compiles is the test.

/// A delegate whose state is behind a lock.
private final class Collector: NSObject, URLSessionDataDelegate {
    private let received = Mutex(Data())
    private let finish: @Sendable (Data, (any Error)?) -> Void

    init(finish: @escaping @Sendable (Data, (any Error)?) -> Void) { self.finish = finish }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received.withLock { $0.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(received.withLock { $0 }, error)
    }
}

/// An actor that counts, and is told by a delegate.
private actor Progresses {
    private(set) var bytes: Int64 = 0
    private(set) var responses: [URLResponse] = []

    func add(_ count: Int64) { bytes += count }
    func add(_ response: URLResponse) { responses.append(response) }

    /// What it loads crosses into the actor and out of it.
    func load(_ request: URLRequest, in session: URLSession) async throws -> (Data, URLResponse) {
        let (data, response) = try await session.data(for: request)
        add(response)
        return (data, response)
    }

    nonisolated func start(_ url: URL, in session: URLSession) -> URLSessionTask {
        let task = session.dataTask(with: url) { data, _, _ in
            let count = Int64(data?.count ?? 0)
            Task { await self.add(count) }
        }
        task.resume()
        return task
    }
}

/// A delegate of the main actor, whose methods are called from elsewhere.
@MainActor private final class Screen: NSObject, URLSessionTaskDelegate {
    private(set) var isFinished = false
    let finished = Signal()

    nonisolated func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        Task { @MainActor in
            isFinished = metrics.redirectCount == 0
            finished.fire()
        }
    }
}

/// A delegate of the main actor, which answers there.
@MainActor private final class Prompt: NSObject, URLSessionDataDelegate {
    private(set) var asked: [String] = []

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        MainActor.assertIsolated()
        asked.append(response.mimeType ?? "")
        return .cancel
    }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) { (.cancelAuthenticationChallenge, nil) }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? { nil }
}

/// An actor that is a delegate itself.
private actor Judge: URLSessionDataDelegate {
    private(set) var statuses: [Int] = []

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        statuses.append((response as? HTTPURLResponse)?.statusCode ?? 0)
        return .cancel
    }

    nonisolated func isEqual(_ object: Any?) -> Bool { (object as AnyObject) === self }
    nonisolated var hash: Int { ObjectIdentifier(self).hashValue }
    nonisolated func `self`() -> Self { self }
    nonisolated func isProxy() -> Bool { false }
    nonisolated var description: String { "a judge" }
}

/// What handlers on one queue and a test share.
private final class Counts: Sendable {
    private let noted = Mutex<[Int]>([])

    var statuses: [Int] { noted.withLock { $0 } }

    func note(_ status: Int?, _ data: Data?, _ error: (any Error)?) {
        if let status, data != nil, error == nil { noted.withLock { $0.append(status) } }
    }
}

@Suite struct UserCodeTests {
    private func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func withServer(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let url = try #require(URL(string: server.url("/hello")))
        try await withTimeout { try await body(url) }
    }

    @Test func aDelegateThatIsAClass() async throws {
        try await withServer { url in
            let text = await withCheckedContinuation { continuation in
                let delegate = Collector { data, _ in
                    continuation.resume(returning: String(decoding: data, as: UTF8.self))
                }
                let session = session(delegate)
                session.dataTask(with: url).resume()
                session.finishTasksAndInvalidate()
            }
            #expect(text == "/hello")
        }
    }

    @Test func actorsAndTheirNonisolatedMethods() async throws {
        try await withServer { url in
            let (progresses, session) = (Progresses(), session())
            let task = progresses.start(url, in: session)
            try await waitUntil { await progresses.bytes != 0 }
            let (data, response) = try await progresses.load(URLRequest(url: url), in: session)
            #expect(task.originalRequest?.url == url && data.count == 6)
            let responses = await progresses.responses
            #expect(responses == [response])
        }
    }

    @Test func aDelegateOfTheMainActor() async throws {
        try await withServer { url in
            let screen = await Screen()
            _ = try await session().data(from: url, delegate: screen)
            await screen.finished.wait()
            #expect(await screen.isFinished)
        }
    }

    @Test func delegatesThatAreActorsAnswer() async throws {
        try await withServer { url in
            let (prompt, judge) = (await Prompt(), Judge())
            for delegate in [prompt, judge] as [any URLSessionDataDelegate] {
                let session = session(delegate)
                let task = session.dataTask(with: url)
                task.resume()
                session.finishTasksAndInvalidate()
                try await waitUntil { task.state == .completed }
                #expect((task.error as? URLError)?.code == .cancelled)
            }
            #expect(await prompt.asked == ["text/plain"])
            #expect(await judge.statuses == [200])
        }
    }

    @Test func handlersThatCaptureState() async throws {
        try await withServer { url in
            let session = session()
            let counts = Counts()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            session.dataTask(with: url) { data, response, error in
                                counts.note((response as? HTTPURLResponse)?.statusCode, data, error)
                                continuation.resume()
                            }.resume()
                        }
                    }
                }
            }
            #expect(counts.statuses == [200, 200, 200, 200])
        }
    }

    @Test func tasksBetweenTasks() async throws {
        try await withServer { url in
            let session = session()
            let (tasks, continuation) = AsyncStream.makeStream(of: URLSessionDataTask.self)
            let consumer = Task {
                var count = 0
                for await task in tasks {
                    task.cancel()
                    count += 1
                }
                return count
            }
            await withTaskGroup(of: URLSessionDataTask.self) { group in
                for _ in 0..<4 { group.addTask { session.dataTask(with: url) } }
                for await task in group { continuation.yield(task) }
            }
            continuation.finish()
            #expect(await consumer.value == 4)
        }
    }

    @Test func valuesBetweenTasks() async throws {
        try await withServer { url in
            var request = URLRequest(url: url)
            request.setValue("1", forHTTPHeaderField: "X-A")
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 300
            let cookie = HTTPCookie(properties: [.name: "n", .value: "v", .domain: "h", .path: "/"])
            let credential = URLCredential(user: "u", password: "p", persistence: .none)
            let space = URLProtectionSpace(
                host: "h", port: 1, protocol: "http", realm: nil, authenticationMethod: nil)
            let loaded = Task { [request] in
                guard let copy = configuration.copy() as? URLSessionConfiguration else { return 0.0 }
                copy.httpCookieStorage?.setCookie(try #require(cookie))
                copy.urlCredentialStorage?.set(credential, for: space)
                let session = URLSession(configuration: copy)
                _ = try await session.data(for: request)
                return session.configuration.timeoutIntervalForRequest
            }
            let timeout = try await loaded.value
            #expect(timeout == 300)
        }
    }
}
