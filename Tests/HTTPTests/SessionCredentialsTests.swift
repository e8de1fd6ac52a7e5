import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Where the credentials go that a session adds to its requests: to the origin that a task was made for, and to no other.
@Suite struct SessionCredentialsTests {
    private static let headers = ["authorization": "Bearer secret", "COOKIE": "a=secret", "X-Own": "own"]
    private static let all = Outcome.ok("authorization cookie x-own")
    private static let harmless = Outcome.ok("x-own")

    /// `/go?<URL>` redirects; all else says which fields came.
    private static let route: LoopbackServer.Route = { request in
        if request.path == "/go" { return .redirect(to: target(request), status: 307) }
        return .text(seen(request))
    }

    private static func target(_ request: ServerRequest) -> String { request.query?.removingPercentEncoding ?? "" }

    private static func seen(_ request: ServerRequest) -> String {
        ["authorization", "cookie", "x-own"].filter { request.fields.contains(name: $0) }.joined(separator: " ")
    }

    private static func url(_ server: LoopbackServer, _ path: String = "/") -> String {
        server.url(path, host: "localhost")
    }

    /// The target of the redirect at `via`.
    private static func go(_ via: LoopbackServer, _ url: String) -> String {
        Self.url(via, "/go?" + (url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
    }

    private static func request(_ url: String) throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

    /// Calls `body` with a session that adds the fields, a server, and one of another origin.
    private static func withServers(
        _ version: String = "http/1.1", other otherRoute: @escaping LoopbackServer.Route = route,
        delegate: (any URLSessionDelegate)? = nil, configure: (URLSessionConfiguration) -> Void = { _ in },
        body: @escaping @Sendable (URLSession, LoopbackServer, LoopbackServer) async throws -> Void
    ) async throws {
        let other = try LoopbackServer(route: otherRoute)
        defer { other.stop() }
        try await BothVersions.withServer(
            version, route, delegate: delegate,
            {
                $0.httpAdditionalHeaders = headers
                configure($0)
            }
        ) { session, server in
            try await body(session, server, other)
        }
    }

    @Test(arguments: BothVersions.all) func redirects(version: String) async throws {
        try await Self.withServers(version) { session, server, other in
            let (here, there) = (Self.url(server), Self.url(other))
            let cases = [
                (here, Self.all), (Self.go(server, there), Self.harmless), (Self.go(server, here), Self.all),
                (Self.go(server, Self.go(other, here)), Self.all), (there, Self.all),
                (Self.go(other, here), Self.harmless), (Self.go(server, there), Self.harmless), (there, Self.all),
            ]
            for isPlain in [true, false] {
                for (index, (url, expected)) in cases.enumerated() {
                    var request = try Self.request(url)
                    if !isPlain { request.setValue("mine", forHTTPHeaderField: "X-Mine") }
                    let outcome = await session.outcome(request)
                    #expect(outcome == expected, "\(index) \(isPlain)")
                }
            }
        }
    }

    /// Gives requests of its own.
    private final class Chooser: NSObject, URLSessionTaskDelegate {
        private let redirected: String?
        private let delayed: String?

        init(redirected: String? = nil, delayed: String? = nil) {
            self.redirected = redirected
            self.delayed = delayed
        }

        private func request(_ url: String?) -> URLRequest? {
            url.flatMap { URL(string: $0) }.map { URLRequest(url: $0) }
        }

        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            if delayed != nil { task.earliestBeginDate = .distantPast }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) { completionHandler(.useNewRequest, self.request(delayed)) }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(self.request(redirected) ?? request) }
    }

    @Test func requestsOfTheDelegate() async throws {
        try await Self.withServers { session, server, other in
            let (here, there) = (Self.url(server), Self.url(other))
            let cases = [
                (Self.go(server, here), Chooser(redirected: there), Self.harmless),
                (Self.go(server, there), Chooser(redirected: here), Self.all),
                (here, Chooser(delayed: there), Self.all),
                (here, Chooser(delayed: Self.go(other, here)), Self.harmless),
            ]
            for (index, (url, delegate, expected)) in cases.enumerated() {
                let outcome = await session.outcome(try Self.request(url), delegate: delegate)
                #expect(outcome == expected, "\(index)")
            }
        }
    }

    /// Loads what the query names in place of `/detour`.
    private final class Detour: URLProtocolHandler, @unchecked Sendable {  // no state of its own
        override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/detour" }

        override func load(_ load: LoadContext) async throws {
            try await SessionCredentialsTests.forward(load, load.url.query?.removingPercentEncoding ?? "")
        }
    }

    private static func forward(_ load: LoadContext, _ url: String) async throws {
        let loaded = try await load.next.load(try request(url))
        try await load.receive(loaded.response)
        for try await piece in loaded.body { try await load.receive(piece) }
    }

    @Test func forwardedLoads() async throws {
        let there = Box("")
        try await Self.withServers(configure: {
            $0.protocolClasses = [Detour.self]
            $0.register(scheme: "own") { load in try await Self.forward(load, there.value) }
        }) { session, server, other in
            there.value = Self.url(other)
            let detour = Self.url(server, "/detour?")
            let cases = [
                (detour + Self.url(server), Self.all), (detour + there.value, Self.harmless),
                ("own:x", Self.harmless),
            ]
            for (url, expected) in cases {
                let outcome = await session.outcome(try Self.request(url))
                #expect(outcome == expected, "\(url)")
            }
        }
    }

    /// The fields of the loaded request that a handler's redirect still has, and those that the handler has set.
    @Test func redirectsOfHandlers() async throws {
        let there = Box("")
        try await Self.withServers(configure: {
            $0.httpAdditionalHeaders = nil
            $0.register(scheme: "own") { load in
                var next = load.request
                next.url = URL(string: load.url.host == "in" ? "own://out/" : there.value)
                if load.url.host == "new" { next.setValue("another", forHTTPHeaderField: "Authorization") }
                try await load.redirect(
                    to: next,
                    response: URLResponse(url: load.url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
                )
            }
        }) { session, _, other in
            there.value = Self.url(other)
            for (host, expected) in [("same", "x-own"), ("new", "authorization x-own"), ("in", "x-own")] {
                var request = try Self.request("own://\(host)/")
                for name in ["Authorization", "Cookie", "X-Own"] {
                    request.setValue("secret", forHTTPHeaderField: name)
                }
                let outcome = await session.outcome(request)
                #expect(outcome == .ok(expected), "\(host)")
            }
        }
    }

    /// The request is sent again when the server has asked who is there.
    @Test func challenges() async throws {
        let guarded: LoopbackServer.Route = { request in
            guard let sent = request.fields[.authorization] else {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=r")
            }
            return .text("\(sent) \(request.fields[.cookie] ?? "-")")
        }
        try await Self.withServers(other: guarded, delegate: ChallengeAnswerer("u", "p")) { session, server, other in
            let outcome = await session.outcome(try Self.request(Self.go(server, Self.url(other))))
            #expect(outcome == .ok("Basic dTpw -"))
        }
    }

    @Test func webSockets() async throws {
        let echo: LoopbackServer.Route = { request in
            if request.path == "/go" { return try Self.route(request) }
            return .webSocket(request) { try $0.send(Self.seen(request)) }
        }
        let (first, second) = (try LoopbackServer(route: echo), try LoopbackServer(route: echo))
        defer {
            first.stop()
            second.stop()
        }
        try await withTimeout {
            let session = makeSession { $0.httpAdditionalHeaders = Self.headers }
            defer { session.invalidateAndCancel() }
            for (server, expected) in [(first, Self.all), (second, Self.harmless)] {
                let target = try WebSocketServing.url(server).absoluteString
                let path = Self.go(first, target).drop { $0 != ":" }
                let task = session.webSocketTask(with: try #require(URL(string: "ws" + path)))
                task.resume()
                guard case .string(let seen) = try await task.receive() else { throw URLError(.cannotParseResponse) }
                #expect(Outcome.ok(seen) == expected)
                task.cancel()
            }
        }
    }

    /// A resumed download is loaded from the URL to which the first load was redirected.
    @Test func resumedDownloads() async throws {
        let resource = RangedResource(RangedResource.bytes(300_000))
        try await Self.withServers(other: { resource.answer($0) }) { session, server, other in
            for (url, isSent) in [(Self.url(other, "/file"), true), (Self.go(server, Self.url(other, "/file")), false)]
            {
                other.requests.removeAll()
                resource.change { $0.breaksAfter = 100_000 }
                var data: Data?
                do { _ = try await session.download(for: try Self.request(url)) } catch let error as URLError {
                    data = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
                }
                resource.change { $0.breaksAfter = nil }
                let (location, _) = try await session.download(resumeFrom: try #require(data))
                try FileManager.default.removeItem(at: location)
                let sent = other.requests.snapshot.map { $0.fields.contains(.authorization) }
                #expect(sent == [isSent, isSent])
            }
        }
    }

    /// Our own upgrade to https is no redirect of a server's.
    @Test(arguments: BothVersions.all) func securedRequests(version: String) async throws {
        let strict: LoopbackServer.Route = { request in
            try Self.route(request).adding("Strict-Transport-Security", "max-age=600")
        }
        try await BothVersions.withServer(version, strict, { $0.httpAdditionalHeaders = Self.headers }) {
            session, server in
            let secured = Self.url(server)
            let cleartext = secured.replacing("https:", with: "http:")
            for url in [secured, cleartext, Self.go(server, cleartext), Self.go(server, secured)] {
                let outcome = await session.outcome(try Self.request(url))
                #expect(outcome == Self.all, "\(url)")
                let upgraded = await session.outcome(try Self.request(url.replacing("https:", with: "http:")))
                #expect(upgraded == Self.all, "\(url)")
            }
        }
    }

    /// A stale response that answered is validated after its task has ended.
    @Test func validationsInTheBackground() async throws {
        let stale: LoopbackServer.Route = { request in
            .text(Self.seen(request)).adding("Cache-Control", "max-age=0, stale-while-revalidate=1000, public")
        }
        try await Self.withServers(other: stale) { session, server, other in
            let request = try Self.request(Self.go(server, Self.url(other)))
            for _ in 0..<2 {
                let outcome = await session.outcome(request)
                #expect(outcome == Self.harmless)
            }
            let validated = try #require(await other.requests.element(at: 1))
            #expect(Self.seen(validated) == "x-own")
        }
    }
}
