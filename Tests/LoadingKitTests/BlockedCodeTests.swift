import Dispatch
import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// Code of the program's that blocks, on as many threads as it likes, holds up nothing else.
@Suite(.serialized) struct BlockedCodeTests {
    /// Where blocked code says that it has begun, and waits until it may end.
    private final class Hold: Sendable {
        let begun = Recorder<Int>()
        let go = Signal()

        func block() {
            begun.append(1)
            go.waitBlocking()
        }
    }

    private static let hold = Guarded(Hold())

    /// Blocks in `startLoading()`.
    private class Blocking: URLProtocol, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "blocking" }
        override func startLoading() {
            BlockedCodeTests.hold.withLock { $0 }.block()
            guard let url = request.url else { return }
            client?.urlProtocol(
                self,
                didReceive: URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
                cacheStoragePolicy: .notAllowed)
            client?.urlProtocolDidFinishLoading(self)
        }
        override func stopLoading() {}
    }

    /// Has both shapes: blocks in `startLoading()`, and goes on in `load(_:)`.
    private final class Mixed: URLProtocolHandler, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "mixed" }
        override func startLoading() {
            BlockedCodeTests.hold.withLock { $0 }.block()
            super.startLoading()
        }
        override func load(_ load: LoadContext) async throws {
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        }
    }

    /// Reads the request's body.
    private final class Reading: URLProtocolHandler, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "reading" }
        override func load(_ load: LoadContext) async throws {
            let body = try await load.body.collect()
            try await load.receive(
                URLResponse(
                    url: load.url, mimeType: nil, expectedContentLength: body.count, textEncodingName: nil))
        }
    }

    private enum Kind: CaseIterable {
        case startLoading, startLoadingAndLoad, streamOfHandler, streamOfUpload
    }

    private static func session(
        on loop: EventLoop = .next(), _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [Blocking.self, Mixed.self, Reading.self]
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = 100
        configuration.urlCache = nil
        configure(configuration)
        return URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
    }

    private static func request(_ kind: Kind, _ hold: Hold, _ server: LoopbackServer) throws -> URLRequest {
        let url =
            switch kind {
            case .startLoading: "blocking://x"
            case .startLoadingAndLoad: "mixed://x"
            case .streamOfHandler: "reading://x"
            case .streamOfUpload: server.url("/upload")
            }
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        // The server says nothing before it has the body.
        request.setValue("", forHTTPHeaderField: "Expect")
        if kind == .streamOfHandler || kind == .streamOfUpload {
            // Its first byte takes its time.
            request.httpBodyStream = FunctionStream { _, _ in
                hold.block()
                return 0
            }
        }
        return request
    }

    /// Loads of every kind that are to go on: what they use waits for no code of the program's.
    private static func loadEverything(_ server: LoopbackServer, _ folder: TemporaryFolder) async throws {
        let cache = URLCache(
            memoryCapacity: 0, diskCapacity: 10 << 20, directory: folder.url.appendingPathComponent("cache"))
        let session = session {
            $0.urlCache = cache
            $0.appTransportSecurity.allowsArbitraryLoads = true
        }
        defer { session.invalidateAndCancel() }
        let text = { (url: String) in
            String(decoding: try await session.data(from: try #require(URL(string: url))).0, as: UTF8.self)
        }
        // The disk's cache and cookies, stored and looked up.
        let asked = server.requests.snapshot.count
        for _ in 0..<2 { #expect(try await text(server.url("/cached")) == "kept") }
        #expect(server.requests.snapshot.count == asked + 1)
        _ = try await text(server.url("/cookie"))
        #expect(try await text(server.url("/cookies")).contains("flavour=oatmeal"))
        // A download, and its file loaded.
        let (file, _) = try await session.download(from: try #require(URL(string: server.url("/long"))))
        #expect(try Data(contentsOf: file).count == 300_000)
        let (data, _) = try await session.data(from: file)
        #expect(data.count == 300_000)
        try FileManager.default.removeItem(at: file)
        #expect(try await text("data:," + String(repeating: "x", count: 100_000)).utf8.count == 100_000)
        // A name that the system looks up, in vain.
        let error = await #expect(throws: URLError.self) { try await text("http://nonexistent.invalid/") }
        #expect(error?.localizedDescription.contains("Looking up nonexistent.invalid") == true)
    }

    private static func answer(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/cached": .text("kept").adding("Cache-Control", "max-age=1000")
        case "/cookie": .text("").adding("Set-Cookie", "flavour=oatmeal; Max-Age=1000")
        case "/cookies": .text(request.fields[.cookie] ?? "")
        case "/long": .bytes([UInt8](repeating: 7, count: 300_000))
        default: .text("hello")
        }
    }

    @Test(arguments: Kind.allCases, [16, 64, 600])
    private func nothingElseWaits(_ kind: Kind, _ count: Int) async throws {
        // Each upload has a thread of the server's, too.
        let count = kind == .streamOfUpload ? min(count, 64) : count
        let (server, folder, hold) = (try LoopbackServer(route: Self.answer), try TemporaryFolder(), Hold())
        Self.hold.withLock { $0 = hold }
        let session = Self.session()
        defer {
            hold.go.fire()
            session.invalidateAndCancel()
            server.stop()
        }
        let ended = Recorder<String>()
        for _ in 0..<count {
            session.dataTask(with: try Self.request(kind, hold, server)) { _, _, error in
                ended.append(error.map { "\($0)" } ?? "")
            }.resume()
        }
        try await withTimeout {
            // The process has so many threads for it at most; other tests may use some of them.
            _ = await hold.begun.element(at: min(count, 450) - 1)
            try await Self.loadEverything(server, folder)
            #expect(ended.snapshot.isEmpty)
            hold.go.fire()
            _ = await ended.element(at: count - 1)
            #expect(Set(ended.snapshot) == [""])
        }
    }

    /// An observer of notifications may wait for the main thread, which waits for a load.
    @Test func observersHoldUpNoLoad() async throws {
        let (server, hold) = (try LoopbackServer(route: Self.answer), Hold())
        let session = Self.session { $0.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage }
        let storage = try #require(session.configuration.httpCookieStorage)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSHTTPCookieManagerCookiesChanged, object: storage, queue: nil
        ) { _ in hold.block() }
        defer {
            hold.go.fire()
            NotificationCenter.default.removeObserver(observer)
            session.invalidateAndCancel()
            server.stop()
        }
        try await withTimeout {
            _ = try await session.data(from: try #require(URL(string: server.url("/cookie"))))
            _ = await hold.begun.element(at: 0)
            let (data, _) = try await session.data(from: try #require(URL(string: server.url("/cookies"))))
            #expect(String(decoding: data, as: UTF8.self) == "flavour=oatmeal")
        }
    }

    /// Blocks where it is asked for a task's cookies.
    private final class BlockedCookies: HTTPCookieStorage, @unchecked Sendable {  // a constant
        private let hold: Hold

        init(_ hold: Hold) {
            self.hold = hold
            super.init()
        }

        override func getCookiesFor(
            _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {
            hold.block()
            completionHandler(nil)
        }
    }

    /// A program's own cookie storage may take its time, as with a database: other loads of the loop go on, and its own
    /// can be cancelled.
    @Test func cookieStoragesHoldUpNoLoad() async throws {
        let (server, hold) = (try LoopbackServer(route: Self.answer), Hold())
        let loop = EventLoop(name: "cookies")
        let held = Self.session(on: loop) { $0.httpCookieStorage = BlockedCookies(hold) }
        let free = Self.session(on: loop) { $0.httpCookieStorage = nil }
        defer {
            hold.go.fire()
            held.invalidateAndCancel()
            free.invalidateAndCancel()
            server.stop()
            loop.stop()
        }
        try await withTimeout {
            let url = try #require(URL(string: server.url("/")))
            let ended = Recorder<String>()
            let tasks = (0..<2).map { index in
                held.dataTask(with: url) { _, _, error in
                    ended.append("\(index) \((error as? URLError)?.code.rawValue ?? 0)")
                }
            }
            for task in tasks { task.resume() }
            _ = await hold.begun.element(at: 1)
            let (data, _) = try await free.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "hello")
            tasks[0].cancel()
            #expect(await ended.element(at: 0) == "0 \(URLError.cancelled.rawValue)")
            hold.go.fire()
            #expect(await ended.element(at: 1) == "1 0")
            #expect(server.requests.snapshot.count == 2)
        }
    }

    /// Synchronous code on top of the session, which waits for a load in a load.
    @Test func loadsWaitForEachOther() async throws {
        final class Nested: URLProtocol, @unchecked Sendable {  // stateless
            static let session = Guarded<URLSession?>(nil)
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "nested" }
            override func startLoading() {
                guard let url = request.url, let depth = url.host.flatMap({ Int($0) }) else { return }
                let body = Guarded(Data("bottom".utf8))
                if depth > 0, let next = URL(string: "nested://\(depth - 1)/") {
                    let done = DispatchSemaphore(value: 0)
                    Self.session.withLock { $0 }?.dataTask(with: next) { data, _, _ in
                        body.withLock { $0 = data ?? Data() }
                        done.signal()
                    }.resume()
                    done.wait()
                }
                let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
                client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
                client?.urlProtocol(self, didLoad: body.withLock { $0 })
                client?.urlProtocolDidFinishLoading(self)
            }
            override func stopLoading() {}
        }
        let session = Self.session { $0.protocolClasses = [Nested.self] }
        Nested.session.withLock { $0 = session }
        try await withTimeout {
            let url = try #require(URL(string: "nested://64/"))
            let (data, _) = try await session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "bottom")
        }
        Nested.session.withLock { $0 = nil }
        session.invalidateAndCancel()
    }

    /// While a load waits for a thread its idle time does not run, the time for the whole load does; and one that has ended
    /// by then is never started.
    @Test func loadsThatWaitForAThread() async throws {
        final class Later: URLProtocol, @unchecked Sendable {  // stateless
            static let started = Recorder<String>()
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "later" }
            override func startLoading() {
                Self.started.append(request.url?.host ?? "")
                client?.urlProtocol(self, didFailWithError: URLError(.resourceUnavailable))
            }
            override func stopLoading() {}
        }
        let hold = Hold()
        Self.hold.withLock { $0 = hold }
        let time = ManualTime()
        let loop = EventLoop(name: "waits", time: .manual(time))
        defer { loop.stop() }
        let (session, hasty) = (
            Self.session(on: loop) { $0.protocolClasses = [Blocking.self, Later.self] },
            Self.session(on: loop) {
                $0.protocolClasses = [Later.self]
                $0.timeoutIntervalForResource = 0.1
            }
        )
        defer {
            hold.go.fire()
            session.invalidateAndCancel()
            hasty.invalidateAndCancel()
        }
        let silent = try LoopbackServer { _ in
            hold.go.waitBlocking()
            return .text("")
        }
        defer { silent.stop() }
        let blocked = try #require(URL(string: "blocking://x"))
        for _ in 0..<600 { session.dataTask(with: blocked) { _, _, _ in }.resume() }
        try await withTimeout {
            _ = await hold.begun.element(at: 449)
            let outcomes = Recorder<String>()
            let start = { (session: URLSession, url: String, name: String) throws -> URLSessionTask in
                var request = URLRequest(url: try #require(URL(string: url)))
                if name != "hasty" { request.timeoutInterval = 0.1 }
                let task = session.dataTask(with: request) { _, _, error in
                    outcomes.append("\(name) \((error as? URLError)?.code.rawValue ?? 0)")
                }
                task.resume()
                return task
            }
            _ = try start(session, "later://patient", "patient")
            try start(session, "later://cancelled", "cancelled").cancel()
            #expect(await outcomes.element(at: 0) == "cancelled \(URLError.cancelled.rawValue)")
            _ = try start(hasty, "later://hasty", "hasty")
            _ = await hasty.allTasks
            time.advance(by: .seconds(1))
            #expect(await outcomes.element(at: 1) == "hasty \(URLError.timedOut.rawValue)")
            // Of the same session, and begun later: where this one's idle time is over, that one's would be.
            _ = try start(session, silent.url("/"), "silent")
            _ = await session.allTasks
            time.advance(by: .seconds(1))
            #expect(await outcomes.element(at: 2) == "silent \(URLError.timedOut.rawValue)")
            hold.go.fire()
            #expect(await outcomes.element(at: 3) == "patient \(URLError.resourceUnavailable.rawValue)")
            #expect(Later.started.snapshot == ["patient"])
        }
    }
}
