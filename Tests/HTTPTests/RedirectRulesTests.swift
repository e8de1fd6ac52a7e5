import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The targets of redirects, the fields that go along, and the program's decision, over both versions of HTTP.
@Suite struct RedirectRulesTests {
    /// Says of each redirect what it is asked about, and decides.
    private final class Guide: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
        let seen = Recorder<String>()
        let metrics = Recorder<URLSessionTaskMetrics>()
        private let decide: @Sendable (URLRequest) -> URLRequest?
        private let bodies: @Sendable () -> InputStream?

        init(
            _ decide: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
            bodies: @escaping @Sendable () -> InputStream? = { nil }
        ) {
            self.decide = decide
            self.bodies = bodies
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            seen.append("\(response.statusCode) \(request.httpMethod ?? "-") \(request.url?.path ?? "-")")
            completionHandler(decide(request))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            seen.append("body")
            completionHandler(bodies())
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self.metrics.append(metrics)
        }
    }

    /// `/<status>?<location>` redirects; all else says what was received.
    private static let route: LoopbackServer.Route = { request in
        if let status = Int(request.path.dropFirst()) {
            let location = request.query?.removingPercentEncoding ?? ""
            return ServerResponse.text("the redirect's own body", status: status).adding("Location", location)
        }
        return .text("\(request.method) \(request.target) \(request.bodyText)")
    }

    @Test(arguments: BothVersions.all) func locations(version: String) async throws {
        let cases: [(location: String, outcome: Outcome)] = [
            ("/new?a=b", .ok("GET /new?a=b ")),
            ("new", .ok("GET /new ")),
            ("/a b", .ok("GET /a%20b ")),
            ("/a%20b c", .ok("GET /a%20b%20c ")),
            ("/x?q=100%&x=a%20b", .ok("GET /x?q=100%25&x=a%20b ")),
            ("/a/./b/../c%2F", .ok("GET /a/c%2F ")),
            ("", .loaded(status: 302, body: "the redirect's own body")),
            ("file:///etc/passwd", .failed(.redirectToNonExistentLocation)),
            ("data:,x", .failed(.redirectToNonExistentLocation)),
            ("own:x", .failed(.redirectToNonExistentLocation)),
            ("myapp://callback?code=1", .failed(.unsupportedURL)),
            ("https://", .failed(.redirectToNonExistentLocation)),
            ("http://public.example/", .failed(.appTransportSecurityRequiresSecureConnection)),
        ]
        try await BothVersions.withServer(
            version, Self.route, { $0.register(scheme: "own", loading: { try await $0.receive(Data("own".utf8)) }) }
        ) { session, server in
            for (location, expected) in cases {
                var components = try #require(URLComponents(string: server.url("/302", host: "localhost")))
                components.percentEncodedQuery = location.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
                let outcome = await session.outcome(URLRequest(url: try #require(components.url)))
                #expect(outcome == expected, "\(location)")
            }
        }
    }

    /// The program may follow, change or decline; each hop is a transaction.
    @Test(arguments: BothVersions.all) func decisions(version: String) async throws {
        let guides: [(Guide, Outcome, transactions: [Int])] = [
            (Guide(), .ok("GET /new "), [302, 200]),
            (Guide { _ in nil }, .loaded(status: 302, body: "the redirect's own body"), [302]),
            (
                Guide { request in
                    var request = request
                    request.url?.append(path: "more")
                    request.httpMethod = "POST"
                    request.httpBody = Data("mine".utf8)
                    return request
                }, .ok("POST /new/more mine"), [302, 200]
            ),
        ]
        try await BothVersions.withServer(version, Self.route) { session, server in
            for (guide, expected, statuses) in guides {
                let (data, response) = try await session.data(
                    for: try BothVersions.request(server, "/302?/new"), delegate: guide)
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                #expect(Outcome.loaded(status: status, body: String(decoding: data, as: UTF8.self)) == expected)
                #expect(guide.seen.snapshot == ["302 GET /new"])
                let transactions = await guide.metrics.element(at: 0)?.transactionMetrics ?? []
                #expect(transactions.map { ($0.response as? HTTPURLResponse)?.statusCode } == statuses)
            }
        }
    }

    /// The form of ``Guide`` that awaits, and decides the same.
    private final class AwaitingGuide: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
        let seen = Recorder<String>()
        private let decide: @Sendable (URLRequest) -> URLRequest?

        init(_ decide: @escaping @Sendable (URLRequest) -> URLRequest?) { self.decide = decide }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            seen.append("\(response.statusCode) \(request.url?.absoluteString ?? "-")")
            return decide(request)
        }
    }

    /// The program hears of a redirect that cannot be followed: it may have the redirect's response, or load something else.
    /// Following it as it is fails. The second time the redirect comes from the cache.
    @Test(arguments: BothVersions.all) func whatCannotBeFollowedIsTold(version: String) async throws {
        let declined = Outcome.loaded(status: 302, body: "the redirect's own body")
        let locations: [(String, URLError.Code)] = [
            ("myapp://callback?code=1", .unsupportedURL), ("mailto:me@h", .unsupportedURL),
            ("file:///etc/passwd", .redirectToNonExistentLocation), ("data:,x", .redirectToNonExistentLocation),
            ("own:x", .redirectToNonExistentLocation), ("https://", .redirectToNonExistentLocation),
        ]
        let route: LoopbackServer.Route = {
            try Self.route($0).adding("Cache-Control", $0.path == "/302" ? "max-age=60" : "no-store")
        }
        try await BothVersions.withServer(
            version, route, { $0.register(scheme: "own", loading: { try await $0.receive(Data("own".utf8)) }) }
        ) { session, server in
            for (location, code) in locations {
                let elsewhere = URL(string: server.url("/elsewhere", host: "localhost"))
                let decisions: [@Sendable (URLRequest) -> URLRequest?] = [
                    { _ in nil }, { $0 }, { _ in elsewhere.map { URLRequest(url: $0) } },
                ]
                let outcomes = [declined, .failed(code), .ok("GET /elsewhere ")]
                var components = try #require(URLComponents(string: server.url("/302", host: "localhost")))
                components.percentEncodedQuery = location.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
                let request = URLRequest(url: try #require(components.url))
                for (decide, expected) in zip(decisions, outcomes) {
                    let (guide, other) = (AwaitingGuide(decide), Guide(decide))
                    #expect(await session.outcome(request, delegate: guide) == expected, "\(location)")
                    #expect(guide.seen.snapshot == ["302 \(location)"])
                    #expect(await session.outcome(request, delegate: other) == expected, "\(location)")
                }
            }
        }
    }

    /// The error names the URL that could not be loaded, as a sign-in that ends in the program's own scheme needs it.
    @Test func theErrorNamesWhereTheRedirectLeads() async throws {
        try await BothVersions.withServer("http/1.1", Self.route) { session, server in
            let error = await #expect(throws: URLError.self) {
                try await session.data(for: try BothVersions.request(server, "/302?myapp://callback"))
            }
            #expect(error?.code == .unsupportedURL && error?.failingURL?.absoluteString == "myapp://callback")
        }
    }

    /// A body from a stream is asked for anew where it goes along, once the program has agreed to the redirect.
    @Test(arguments: BothVersions.all) func streams(version: String) async throws {
        let again: @Sendable () -> InputStream? = { InputStream(data: Data("again".utf8)) }
        let cases: [(Int, Guide, Outcome, seen: [String])] = [
            (307, Guide(bodies: again), .ok("POST /new again"), ["307 POST /new", "body"]),
            (308, Guide(bodies: again), .ok("POST /new again"), ["308 POST /new", "body"]),
            (303, Guide(bodies: again), .ok("GET /new "), ["303 GET /new"]),
            (302, Guide(bodies: again), .ok("GET /new "), ["302 GET /new"]),
            (307, Guide(), .failed(.requestBodyStreamExhausted), ["307 POST /new", "body"]),
            (
                307, Guide({ _ in nil }, bodies: again), .loaded(status: 307, body: "the redirect's own body"),
                ["307 POST /new"]
            ),
            (
                307,
                Guide(
                    { request in
                        var request = request
                        request.httpBodyStream = InputStream(data: Data("own".utf8))
                        return request
                    }, bodies: again), .ok("POST /new own"), ["307 POST /new"]
            ),
        ]
        try await BothVersions.withServer(version, Self.route) { session, server in
            for (status, guide, expected, seen) in cases {
                let request = try BothVersions.request(
                    server, "/\(status)?/new", "POST", body: Data("first".utf8), isStreamed: true)
                let outcome = await session.outcome(request, delegate: guide)
                #expect(outcome == expected, "\(status)")
                #expect(guide.seen.snapshot == seen, "\(status)")
            }
        }
    }

    /// A stream of unknown length that the redirect drops, and a task that never had a body.
    @Test(arguments: BothVersions.all) func noMoreIsExpectedOfADroppedBody(version: String) async throws {
        let cases: [(body: Data?, count: Int64)] = [(Data("first".utf8), 5), (nil, 0)]
        try await BothVersions.withServer(version, Self.route) { session, server in
            for (body, count) in cases {
                let request = try BothVersions.request(
                    server, "/303?/new", body == nil ? "GET" : "POST", body: body, isStreamed: true)
                let (task, recorder) = (session.dataTask(with: request), TransferRecorder())
                task.delegate = recorder
                task.resume()
                #expect(await recorder.all().last == "complete ok")
                #expect(task.countOfBytesSent == count && task.countOfBytesExpectedToSend == count)
            }
        }
    }

    /// A body from a file is read anew: for a redirect, and for a server that asks who is there.
    @Test(arguments: BothVersions.all) func files(version: String) async throws {
        let folder = try TemporaryFolder()
        let file = BodyFile(try folder.write("of the file", to: "body"))
        let cases: [(path: String, Outcome)] = [
            ("/307?/new", .ok("POST /new of the file")), ("/308?/new", .ok("POST /new of the file")),
            ("/303?/new", .ok("GET /new ")), ("/login", .ok("POST /login of the file")),
        ]
        let route: LoopbackServer.Route = { request in
            guard request.path == "/login", !request.fields.contains(.authorization) else {
                return try Self.route(request)
            }
            return ServerResponse.text("", status: 401).adding("WWW-Authenticate", "Basic realm=r")
        }
        try await BothVersions.withServer(version, route, delegate: ChallengeAnswerer("u", "p")) { session, server in
            for (path, expected) in cases {
                var request = try BothVersions.request(server, path, "POST")
                request.bodyFile = file
                #expect(await session.outcome(request) == expected, "\(path)")
            }
        }
    }

    /// Fields for one origin stay there: another port is another origin.
    @Test(arguments: BothVersions.all) func originsOwn(version: String) async throws {
        let other = try LoopbackServer { request in
            .text(
                ["authorization", "cookie", "proxy-authorization", "x-own"].filter { request.fields.contains(name: $0) }
                    .joined(separator: " "))
        }
        defer { other.stop() }
        let address = other.url("/", host: "localhost")
        let route: LoopbackServer.Route = { request in
            if request.path == "/first" { return .redirect(to: "/second", status: 302) }
            let names = ["authorization", "cookie", "x-own"].filter { request.fields.contains(name: $0) }
            guard names.count == 3 else { return .text("lost within the origin: \(names)") }
            return .redirect(to: address, status: 307)
        }
        try await BothVersions.withServer(version, route) { session, server in
            var request = try BothVersions.request(server, "/first")
            for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Own"] {
                request.setValue("secret", forHTTPHeaderField: name)
            }
            #expect(await session.outcome(request) == .ok("x-own"))
        }
    }

    /// As many as Apple's, and a loop.
    @Test(arguments: BothVersions.all) func tooMany(version: String) async throws {
        try await BothVersions.withServer(
            version,
            { request in
                let number = Int(request.query ?? "") ?? 0
                return number == 0
                    ? .text("end") : .redirect(to: "/?\(request.path == "/" ? number - 1 : number)", status: 302)
            }
        ) { session, server in
            #expect(await session.outcome(server, "/?20") == .ok("end"))
            #expect(await session.outcome(server, "/?21") == .failed(.httpTooManyRedirects))
        }
    }
}
