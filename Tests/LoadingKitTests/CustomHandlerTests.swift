import Dispatch
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// Handlers of both shapes, the registry, and forwarding.
@Suite struct CustomHandlerTests {
    private final class Greeting: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }
        override func load(_ load: LoadContext) async throws {
            try await load.receive(
                URLResponse(url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: "utf-8")
            )
            try await load.receive(Data("hel".utf8))
            try await load.receive(Data("lo".utf8))
        }
    }

    /// As people write mocks for Apple's systems.
    private final class Classic: URLProtocol, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "classic.test" }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "text/plain"])
            else { return }
            switch url.path {
            case "/fail": client?.urlProtocol(self, didFailWithError: URLError(.badServerResponse))
            case "/redirect":
                var next = request
                next.url = URL(string: "https://classic.test/")
                client?.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
            default:
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: Data("classic".utf8))
                client?.urlProtocolDidFinishLoading(self)
                client?.urlProtocol(self, didLoad: Data("after the end".utf8))
                client?.urlProtocolDidFinishLoading(self)
            }
        }
        override func stopLoading() {}
    }

    private static func session(
        _ classes: [AnyClass], _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = classes
        configure(configuration)
        return URLSession(configuration: configuration)
    }

    private func expect(_ text: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text == expected, sourceLocation: sourceLocation)
    }

    private static func text(_ session: URLSession, _ url: String) async throws -> String {
        let (data, _) = try await session.data(from: try #require(URL(string: url)))
        return String(decoding: data, as: UTF8.self)
    }

    /// Answers with the initializer that has run, and with the form of its request.
    private final class ForTask: URLProtocol, @unchecked Sendable {  // set by its initializer
        private var initializer = "request"

        required convenience init(
            task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
        ) {
            let request = task.currentRequest ?? URLRequest(url: URL(fileURLWithPath: "/"))
            self.init(request: request, cachedResponse: cachedResponse, client: client)
            initializer = "task"
        }

        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "for-task" }

        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            var request = request
            request.setValue("canonical", forHTTPHeaderField: "X-Form")
            return request
        }

        override func load(_ load: LoadContext) async throws {
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            let forms = [request, load.request].map { $0.value(forHTTPHeaderField: "X-Form") ?? "own" }
            try await load.receive(Data("\(initializer) \(forms.joined(separator: " "))".utf8))
        }
    }

    private struct Changing: LoadInterceptor {
        func load(_ load: LoadContext) async throws {
            var request = load.request
            request.setValue("1", forHTTPHeaderField: "X-Changed")
            try await load.receive(load.next.load(request))
        }
    }

    /// FoundationNetworking makes each handler with `init(task:cachedResponse:client:)`.
    @Test(arguments: [false, true]) func aHandlerIsMadeForItsTask(isChanged: Bool) async throws {
        let session = Self.session([ForTask.self]) { if isChanged { $0.interceptors = [Changing()] } }
        defer { session.invalidateAndCancel() }
        let text = try await Self.text(session, "for-task:x")
        #expect(text == (isChanged ? "request" : "task") + " canonical canonical")
    }

    private struct Forwarder: LoadInterceptor {
        func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }

    /// Passes a response on when the load has given a later one.
    private struct LateForwarder: LoadInterceptor {
        let firsts: Recorder<Int>
        let laters: Recorder<Int>

        func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            firsts.append(firsts.count + 1)
            await laters.count(reaches: firsts.count)
            try await load.receive(loaded)
        }
    }

    /// Who has the first response when the later one comes.
    enum Forwarding: CaseIterable {
        case none
        /// The session has it from an interceptor.
        case atOnce
        /// The interceptor has not passed it on.
        case late
    }

    /// Each recipient of a whole body gets that of the last response, with its head.
    @Test(arguments: Forwarding.allCases) func aLaterResponseReplacesTheBody(_ forwarding: Forwarding) async throws {
        let (firsts, laters) = (Recorder<Int>(), Recorder<Int>())
        let session = Self.session([]) {
            switch forwarding {
            case .none: break
            case .atOnce: $0.interceptors = [Forwarder()]
            case .late: $0.interceptors = [LateForwarder(firsts: firsts, laters: laters)]
            }
            $0.register(
                scheme: "twice",
                loading: { load in
                    let number = laters.count + 1
                    for (length, text) in [(-1, "one"), (5, "three")] {
                        try await load.receive(
                            URLResponse(
                                url: load.url, mimeType: nil, expectedContentLength: length, textEncodingName: nil))
                        try await load.receive(Data(text.utf8))
                        if forwarding != .late {
                            // The session has it.
                            try await waitUntil { load.task.countOfBytesReceived >= 3 }
                        } else if text == "one" {
                            await firsts.count(reaches: number)
                        } else {
                            laters.append(number)
                        }
                    }
                })
        }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "twice:x"))
        try await withTimeout {
            let (data, response) = try await session.data(from: url)
            #expect(data == Data("three".utf8) && response.expectedContentLength == 5)
            let collected = Recorder<(data: Data?, length: Int64?)>()
            session.dataTask(with: url) { data, response, _ in
                collected.append((data, response?.expectedContentLength))
            }.resume()
            let answer = await collected.element(at: 0)
            #expect(answer?.data == Data("three".utf8) && answer?.length == 5)
            let (file, head) = try await session.download(from: url)
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try Data(contentsOf: file) == Data("three".utf8))
            #expect(head.expectedContentLength == 5)
        }
    }

    /// Passes a response on, and gives another one at its end.
    private struct Following: LoadInterceptor {
        var runsOnSessionExecutor: Bool { true }

        func load(_ load: LoadContext) async throws {
            try await load.receive(load.next.load(load.request))
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil))
            try await load.receive(Data("B".utf8))
        }
    }

    /// The first body's bytes wait for the end of the loop's turn, in which the later response comes.
    @Test(arguments: [false, true]) func aLaterResponseHasABodyOfItsOwn(isIncremental: Bool) async throws {
        let recorder = EventRecorder()
        // Of a response that may be stored, the delegate has the body before it decides about that.
        let head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 5\r\n\r\n"
        let peer = try ScriptedPeer([
            .expectRequest, .send(head), .waitFor(recorder.onResponse), .send("hello"), .readUntilClose,
        ])
        defer { peer.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = [Following()]
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: peer.url()))
        try await withTimeout {
            let task = session.dataTask(with: url)
            task.prefersIncrementalDelivery = isIncremental
            task.resume()
            let first = isIncremental ? ["response", "data hello"] : ["response"]
            let events = await recorder.events(upTo: "complete ok")
            #expect(events == ["created"] + first + ["response", "data B", "metrics", "complete ok"])
        }
    }

    /// Notes whether it begins in the thread, and within the call, that resumes its task.
    private final class Reentrant: URLProtocolHandler, @unchecked Sendable {
        static let resuming = Guarded<UInt?>(nil)
        static let isReentered = Guarded(false)

        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "reentrant" }
        override func load(_ load: LoadContext) async throws {
            let thread = UInt(pthread_self())
            let isInside = Self.resuming.withLock { $0 == thread }
            if isInside { Self.isReentered.withLock { $0 = true } }
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        }

        static func resume(_ task: URLSessionTask) {
            let thread = UInt(pthread_self())
            resuming.withLock { $0 = thread }
            task.resume()
            resuming.withLock { $0 = nil }
        }
    }

    /// Whoever resumes a task may have a lock that its handler takes.
    @Test func aTaskIsResumedWithoutItsHandler() async throws {
        let session = Self.session([Reentrant.self])
        try await withTimeout {
            let url = try #require(URL(string: "reentrant://anyone"))
            for _ in 0..<50 {
                await withCheckedContinuation { continuation in
                    Reentrant.resume(session.dataTask(with: url) { _, _, _ in continuation.resume() })
                }
            }
            #expect(!Reentrant.isReentered.withLock { $0 })
        }
        session.invalidateAndCancel()
    }

    /// Notes the threads in which it is asked whether it can load. The URL's host says what happens to the task.
    private final class Asked: URLProtocolHandler, @unchecked Sendable {  // stateless
        static let threads = Guarded<[String: Set<UInt>]>([:])

        override class func canInit(with request: URLRequest) -> Bool {
            guard let url = request.url, url.scheme == "asked" else { return false }
            let thread = UInt(pthread_self())
            threads.withLock { _ = $0[url.host ?? "", default: []].insert(thread) }
            return true
        }

        override func load(_ load: LoadContext) async throws {
            if load.url.host == "redirected", load.url.path != "/next",
                let next = URL(string: "asked://redirected/next"),
                let response = HTTPURLResponse(url: load.url, statusCode: 302, httpVersion: nil, headerFields: nil)
            {
                try await load.redirect(to: URLRequest(url: next), response: response)
            }
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        }
    }

    /// Follows redirects, and lets delayed requests begin, when the loop waits.
    private final class Follower: NSObject, URLSessionTaskDelegate {
        let end = Signal()
        private let loop: EventLoop

        init(_ loop: EventLoop) { self.loop = loop }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            CustomHandlerTests.waitUntilIdle(loop)
            completionHandler(request)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) {
            CustomHandlerTests.waitUntilIdle(loop)
            completionHandler(.continueLoading, nil)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            end.fire()
        }
    }

    /// Returns when the loop waits, so that the next work runs in the calling thread.
    private static func waitUntilIdle(_ loop: EventLoop) {
        let thread = UInt(pthread_self())
        let isHere = Guarded(false)
        while !isHere.withLock({ $0 }) {
            let done = DispatchSemaphore(value: 0)
            loop.perform {
                let isSame = UInt(pthread_self()) == thread
                isHere.withLock { $0 = isSame }
                done.signal()
            }
            done.wait()
        }
    }

    /// Whoever resumes a task, or answers a question, may have a lock that `canInit(with:)` takes.
    @Test(arguments: ["resumed", "suspended", "redirected", "delayed"])
    func handlersAreSearchedForInTheLoopsOwnThread(_ host: String) async throws {
        let loop = EventLoop(name: "asked")
        defer { loop.stop() }
        let follower = Follower(loop)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Asked.self]
        let session = URLSession(configuration: configuration, delegate: follower, delegateQueue: nil, loop: loop)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "asked://\(host)"))
        try await withTimeout {
            let home = await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: UInt(pthread_self())) }
            }
            try await onThread {
                let task = session.dataTask(with: url)
                if host == "delayed" { task.earliestBeginDate = .distantPast }
                if host == "suspended" {
                    // The task is suspended before it begins on the loop.
                    let go = Signal()
                    loop.execute { go.waitBlocking() }
                    task.resume()
                    task.suspend()
                    go.fire()
                }
                Self.waitUntilIdle(loop)
                task.resume()
            }
            await follower.end.wait()
            let threads = Asked.threads.withLock { $0[host] ?? [] }
            #expect(threads == [home])
        }
    }

    /// Reports a redirect in its own thread when the loop waits.
    private final class Redirecting: URLProtocol, @unchecked Sendable {  // stateless
        static let threads = Guarded<Set<UInt>>([])
        static let loop = Guarded<EventLoop?>(nil)

        override class func canInit(with request: URLRequest) -> Bool {
            guard request.url?.scheme == "redirecting" else { return false }
            threads.withLock { _ = $0.insert(UInt(pthread_self())) }
            return true
        }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {
            guard let url = request.url, let loop = Self.loop.withLock({ $0 }),
                let next = URL(string: "redirecting://next"),
                let response = HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil)
            else { return }
            if url.host == "next" {
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocolDidFinishLoading(self)
            } else {
                CustomHandlerTests.waitUntilIdle(loop)
                client?.urlProtocol(self, wasRedirectedTo: URLRequest(url: next), redirectResponse: response)
            }
        }
        override func stopLoading() {}
    }

    /// The handler may have a lock that `canInit(with:)` takes.
    @Test func aRedirectIsNotFollowedInItsHandlersThread() async throws {
        let loop = EventLoop(name: "redirecting")
        defer { loop.stop() }
        Redirecting.loop.withLock { $0 = loop }
        defer { Redirecting.loop.withLock { $0 = nil } }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Redirecting.self]
        let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "redirecting://first"))
        try await withTimeout {
            let home = await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: UInt(pthread_self())) }
            }
            let response = await withCheckedContinuation { continuation in
                session.dataTask(with: url) { _, response, _ in continuation.resume(returning: response) }.resume()
            }
            #expect(response?.url?.host == "next")
            let threads = Redirecting.threads.withLock { $0 }
            #expect(threads == [home])
        }
    }

    @Test func bothShapesLoadAgainAndAgain() async throws {
        let session = Self.session([Greeting.self, Classic.self])
        try await withTimeout {
            for _ in 0..<50 {
                try await expect(Self.text(session, "greeting://world"), "hello")
                try await expect(Self.text(session, "http://classic.test/"), "classic")
            }
            try await expect(Self.text(session, "http://classic.test/redirect"), "classic")
            let error = await #expect(throws: URLError.self) {
                try await Self.text(session, "http://classic.test/fail")
            }
            #expect(error?.code == .badServerResponse)
        }
    }

    @Test func aHandlerThatBlocksHoldsUpNobodyElse() async throws {
        final class Blocking: URLProtocol, @unchecked Sendable {
            static let (started, go) = (Signal(), Signal())
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "blocking" }
            override func startLoading() {
                Self.started.fire()
                Self.go.waitBlocking()
                client?.urlProtocol(self, didFailWithError: URLError(.resourceUnavailable))
            }
            override func stopLoading() {}
        }
        let session = Self.session([Blocking.self, Greeting.self])
        try await withTimeout {
            let blocked = Task { try await Self.text(session, "blocking://x") }
            await Blocking.started.wait()
            try await expect(Self.text(session, "greeting://world"), "hello")
            Blocking.go.fire()
            await #expect(throws: URLError.self) { try await blocked.value }
        }
    }

    /// `resume()` returns at once: its caller may hold a lock, or be the main thread.
    @Test func aHandlerNeverRunsInTheThreadThatResumes() async throws {
        let resumer = Guarded<pthread_t?>(nil)
        let session = Self.session([]) {
            $0.register(
                scheme: "here",
                loading: { load in
                    let isHere = resumer.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
                    try await load.receive(
                        URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                    try await load.receive(Data((isHere ? "here" : "elsewhere").utf8))
                })
        }
        let url = try #require(URL(string: "here://x"))
        try await withTimeout {
            try await expect(Self.text(session, "here://x"), "elsewhere")
            let texts = try await onThread {
                resumer.withLock { $0 = pthread_self() }
                return (0..<100).map { _ in
                    let text = Guarded("")
                    let done = DispatchSemaphore(value: 0)
                    session.dataTask(with: url) { data, _, _ in
                        text.withLock { $0 = String(decoding: data ?? Data(), as: UTF8.self) }
                        done.signal()
                    }.resume()
                    done.wait()
                    return text.withLock { $0 }
                }
            }
            #expect(Set(texts) == ["elsewhere"])
        }
    }

    /// Each load's handler begins in the thread of the one that awaits it, and their stack does not grow for it.
    @Test func aHandlersLoadMayAwaitOthersAsDeepAsItLikes() async throws {
        final class Nested: URLProtocolHandler, @unchecked Sendable {
            static let sessions = Guarded<[URLSession]>([])
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "nested" }
            override func load(_ load: LoadContext) async throws {
                let depth = load.url.host.flatMap { Int($0) } ?? 0
                var body = Data("bottom".utf8)
                if depth > 0, let url = URL(string: "nested://\(depth - 1)/") {
                    let sessions = Self.sessions.withLock { $0 }
                    body = try await sessions[depth % sessions.count].data(from: url).0
                }
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                try await load.receive(body)
            }
        }
        // Of more than one event loop. The outermost load waits as long as all the others take.
        let sessions = (0..<3).map { _ in Self.session([Nested.self]) { $0.timeoutIntervalForRequest = 3600 } }
        Nested.sessions.withLock { $0 = sessions }
        try await withTimeout { try await expect(Self.text(sessions[0], "nested://5000/"), "bottom") }
        Nested.sessions.withLock { $0 = [] }
    }

    @Test func cancellingCancelsTheHandlersTask() async throws {
        let (started, cancelled) = (Signal(), Signal())
        let session = Self.session([]) {
            $0.register(
                scheme: "Slow",
                loading: { _ in
                    started.fire()
                    await withTaskCancellationHandler {
                        await Signal().wait()
                    } onCancel: {
                        cancelled.fire()
                    }
                })
        }
        try await withTimeout {
            let load = Task { try await Self.text(session, "slow://x") }
            await started.wait()
            load.cancel()
            await cancelled.wait()
            await #expect(throws: URLError.self) { try await load.value }
        }
    }

    @Test func aHandlerThatThrowsOrSaysNothingFailsItsLoad() async throws {
        struct Oops: Error {}
        let session = Self.session([]) {
            $0.register(scheme: "throws", loading: { _ in throw Oops() })
            $0.register(scheme: "silent", loading: { _ in })
            $0.register(scheme: "neither") { URLProtocolHandler(request: $0, cachedResponse: nil, client: nil) }
        }
        try await withTimeout {
            for (url, code) in [
                ("silent:x", URLError.badServerResponse), ("neither:x", .unsupportedURL),
                ("nobody:x", .unsupportedURL),
            ] {
                let error = await #expect(throws: URLError.self) { try await Self.text(session, url) }
                #expect(error?.code == code, "\(url)")
                #expect(error?.failingURL?.absoluteString == url)
            }
            await #expect(throws: Oops.self) { try await Self.text(session, "throws:x") }
        }
    }

    /// A caller that gets an error gets no file.
    @Test func aDownloadWithoutAResponseLeavesNoFile() async throws {
        let body = Data(UUID().uuidString.utf8)
        let session = Self.session([]) { $0.register(scheme: "headless", loading: { try await $0.receive(body) }) }
        defer { session.invalidateAndCancel() }
        let (other, _) = try await session.download(from: try #require(URL(string: "data:,x")))
        let folder = other.deletingLastPathComponent()
        try FileManager.default.removeItem(at: other)
        let url = try #require(URL(string: "headless:x"))
        for delegate in [nil, EventRecorder()] {
            let error = await #expect(throws: URLError.self) {
                try await session.download(from: url, delegate: delegate)
            }
            #expect(error?.code == .badServerResponse)
            // Other tests' files are there, too, and go meanwhile.
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
                let path = folder.appendingPathComponent(name).path
                let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
                return size == body.count && FileManager.default.contents(atPath: path) == body
            }
            #expect(left == [])
        }
    }

    @Test func theOrderIsClassesFactoriesRegisteredBuiltIn() async throws {
        let session = Self.session([Greeting.self, Classic.self]) {
            $0.register(scheme: "greeting", loading: { _ in })
        }
        let request = URLRequest(url: try #require(URL(string: "http://classic.test/")))
        let explanation = session.registry.explain(request)
        #expect(explanation.handler == "Classic")
        #expect(explanation.steps.map(\.handler).prefix(3) == ["Greeting", "Classic", "factory of greeting:"])
        #expect(explanation.steps.map(\.handler).contains("HTTPProtocolHandler"))
        #expect(explanation.steps[0].verdict == .passes("canInit(with:) is false"))
        #expect(explanation.steps.last?.verdict == .notAsked)
        #expect(explanation.description.contains("Classic: loads it"))
    }

    @Test func aClassRegisteredForEverySessionIsAsked() async throws {
        final class Everywhere: URLProtocolHandler, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "everywhere" }
            override func load(_ load: LoadContext) async throws {
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
            }
        }
        #expect(URLProtocol.registerClass(Everywhere.self))
        #expect(!URLProtocol.registerClass(NSObject.self))
        try await withTimeout {
            try await expect(Self.text(URLSession.shared, "everywhere://x"), "")
            URLProtocol.unregisterClass(Everywhere.self)
            await #expect(throws: URLError.self) { try await Self.text(URLSession.shared, "everywhere://x") }
        }
    }

    /// As in a test's tear-down. No class is left out, and none is asked twice.
    @Test func aLoadGoesOnThroughTheClassesWithWhichItBegan() async throws {
        final class Target: URLProtocolHandler, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "through" }
            override func load(_ load: LoadContext) async throws {
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 6, textEncodingName: nil))
                try await load.receive(Data("target".utf8))
            }
        }
        final class Other: URLProtocolHandler, @unchecked Sendable {}
        final class Forwarding: URLProtocolHandler, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "through" }
            override func load(_ load: LoadContext) async throws {
                if load.url.host == "register" {
                    URLProtocol.registerClass(Other.self)
                } else {
                    URLProtocol.unregisterClass(Forwarding.self)
                }
                let loaded = try await load.next.load(load.request)
                try await load.receive(loaded.response)
                try await load.receive(Data("<".utf8))
                for try await piece in loaded.body { try await load.receive(piece) }
                try await load.receive(Data(">".utf8))
            }
        }
        defer {
            for type in [Target.self, Other.self, Forwarding.self] as [AnyClass] { URLProtocol.unregisterClass(type) }
        }
        let session = Self.session([])
        try await withTimeout {
            for host in ["unregister", "register"] {
                URLProtocol.registerClass(Target.self)
                URLProtocol.registerClass(Forwarding.self)
                try await expect(Self.text(session, "through://\(host)"), "<target>")
            }
        }
    }

    @Test func anInterceptorForwardsWithoutRecursionAndSeesTheBody() async throws {
        final class Interceptor: URLProtocolHandler, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "http" }
            override func load(_ load: LoadContext) async throws {
                var request = load.request
                request.setValue("yes", forHTTPHeaderField: "X-Intercepted")
                let loaded = try await load.next.load(request)
                try await load.receive(loaded.response)
                try await load.receive(Data("<".utf8))
                for try await piece in loaded.body { try await load.receive(piece) }
                try await load.receive(Data(">".utf8))
            }
        }
        let server = try LoopbackServer { request in
            request.target == "/old" ? .redirect(to: "/moved") : .text("at \(request.target)")
        }
        defer { server.stop() }
        let session = Self.session([Interceptor.self])
        try await withTimeout {
            try await expect(Self.text(session, server.url("/")), "<at />")
            #expect(server.requests.snapshot.first?.fields[name: "X-Intercepted"] == "yes")
            try await expect(Self.text(session, server.url("/old")), "<at /moved>")
            #expect(server.requests.snapshot.map(\.target) == ["/", "/old", "/moved"])
        }
    }

    @Test func theRequestsBodyReachesAHandlerWhateverItsShape() async throws {
        let session = Self.session([]) {
            $0.register(
                scheme: "echo",
                loading: { load in
                    let body = try await load.body.collect()
                    try await load.receive(
                        URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                    try await load.receive(body)
                })
        }
        try await withTimeout {
            var request = URLRequest(url: try #require(URL(string: "echo:x")))
            request.httpBody = Data("as data".utf8)
            #expect(try await session.data(for: request).0 == Data("as data".utf8))
            request.httpBodyStream = InputStream(data: Data(repeating: 7, count: 300_000))
            #expect(try await session.data(for: request).0 == Data(repeating: 7, count: 300_000))
        }
    }

    @Test func aChallengeReachesTheDelegateAndItsAnswerTheHandler() async throws {
        final class Answering: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                let user = challenge.protectionSpace.realm ?? ""
                completionHandler(.useCredential, URLCredential(user: user, password: "p", persistence: .none))
            }
        }
        let session = Self.session([]) {
            $0.register(
                scheme: "door",
                loading: { load in
                    let space = URLProtectionSpace(
                        host: "h", port: 1, protocol: "door", realm: "knock", authenticationMethod: nil)
                    let answer = await load.challenge(
                        URLAuthenticationChallenge(
                            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0,
                            failureResponse: nil,
                            error: nil, sender: SilentSender()))
                    try await load.receive(
                        URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                    try await load.receive(Data((answer.credential?.user ?? "nobody").utf8))
                })
        }
        try await withTimeout {
            try await expect(Self.text(session, "door:x"), "nobody")
            let url = try #require(URL(string: "door:x"))
            let (data, _) = try await session.data(from: url, delegate: Answering())
            #expect(String(decoding: data, as: UTF8.self) == "knock")
        }
    }

    private final class SilentSender: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }
}
