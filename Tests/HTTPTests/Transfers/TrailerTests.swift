import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Fields behind the body, in both versions.
@Suite(.usesPeers) struct TrailerTests {
    /// A body, behind which come fields that a program may see, and others that it may not.
    private static let route: LoopbackServer.Route = { request in
        var response = ServerResponse.text("body of \(request.path)")
        response.trailers.append(name: "X-Digest", value: "1")
        response.trailers.append(name: "x-digest", value: "2")
        response.trailers.append(name: "Server-Timing", value: "db;dur=5")
        switch request.path {
        case "/redirect":
            response.status = 302
            response.fields.append(name: "Location", value: "/end")
        case "/login" where request.fields[.authorization] == nil:
            response.status = 401
            response.fields.append(name: "WWW-Authenticate", value: "Basic realm=r")
        case "/kept": response.fields.append(name: "Cache-Control", value: "max-age=1000")
        case "/plain": response.trailers = HTTPFields()
        case "/coded":
            var coded = try ServerResponse.gzip(Array("coded".utf8))
            coded.trailers = response.trailers
            return coded
        case _: break
        }
        return response
    }

    private static let expected = ["X-Digest: 1", "x-digest: 2", "Server-Timing: db;dur=5"]

    /// HTTP/2 has names in lower case alone.
    private static func texts(_ response: URLResponse?, _ version: String) -> [String] {
        ((response as? HTTPURLResponse)?.trailerFields ?? []).map { "\($0.name): \($0.value)" }
    }

    private static func expected(_ version: String) -> [String] {
        version == "h2" ? expected.map { $0.lowercased() } : expected
    }

    @Test(arguments: BothVersions.all) func theResponseThatACallerGetsHasThem(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            for path in ["/", "/coded"] {
                let (_, response) = try await session.data(for: try BothVersions.request(server, path))
                #expect(Self.texts(response, version) == Self.expected(version))
                let http = try #require(response as? HTTPURLResponse)
                #expect(http.value(forHTTPTrailerField: "X-DIGEST") == "1, 2")
                #expect(http.value(forHTTPTrailerField: "X-Other") == nil)
                #expect(http.value(forHTTPHeaderField: "X-Digest") == nil)
            }
            let (_, plain) = try await session.data(for: try BothVersions.request(server, "/plain"))
            #expect(Self.texts(plain, version) == [])
            let (file, downloaded) = try await session.download(for: try BothVersions.request(server, "/"))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(Self.texts(downloaded, version) == Self.expected(version))
            let sent = try BothVersions.request(server, "/", "POST", body: Data("sent".utf8))
            #expect(Self.texts(try await session.data(for: sent).1, version) == Self.expected(version))
        }
    }

    @Test(arguments: BothVersions.all) func bytesHaveThemAtTheirEnd(_ version: String) async throws {
        let mayEnd = Signal()
        let route: LoopbackServer.Route = { _ in
            .stream { writer in
                try writer.write("first")
                try writer.wait(for: mayEnd)
                writer.trailers.append(name: "x-late", value: "yes")
            }
        }
        try await BothVersions.withServer(version, route) { session, server in
            let (bytes, response) = try await session.bytes(for: try BothVersions.request(server, "/"))
            #expect(Self.texts(response, version) == [])
            var count = 0
            for try await _ in bytes {
                count += 1
                if count == 5 {
                    #expect(Self.texts(response, version) == [])
                    mayEnd.fire()
                }
            }
            #expect(count == 5 && Self.texts(response, version) == ["x-late: yes"])
            #expect(Self.texts(bytes.task.response, version) == ["x-late: yes"])
        }
    }

    @Test(arguments: BothVersions.all) func eachTransactionOfTheMetricsHasItsOwn(_ version: String) async throws {
        let delegate = TransferRecorder()
        try await BothVersions.withServer(version, Self.route, delegate: delegate) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/redirect"))
            task.resume()
            _ = await delegate.all()
            #expect(Self.texts(task.response, version) == Self.expected(version))
            let metrics = try #require(delegate.metrics.snapshot.first)
            #expect(metrics.transactionMetrics.count == 2)
            #expect(Self.texts(metrics.transactionMetrics.last?.response, version) == Self.expected(version))
        }
    }

    @Test(arguments: BothVersions.all) func anAnsweredChallengeDoesNotLendItsOwn(_ version: String) async throws {
        let route: LoopbackServer.Route = { request in
            var response = try Self.route(request)
            if request.fields[.authorization] != nil {
                response.trailers = HTTPFields()
                response.trailers.append(name: "x-accepted", value: "yes")
            }
            return response
        }
        try await BothVersions.withServer(version, route) {
            let storage = URLCredentialStorage()
            $0.urlCredentialStorage = storage
        } body: { session, server in
            let request = try BothVersions.request(server, "/login")
            let refused = try await session.data(for: request).1
            #expect((refused as? HTTPURLResponse)?.statusCode == 401)
            #expect(Self.texts(refused, version) == Self.expected(version))
            let space = URLProtectionSpace(
                host: "localhost", port: try #require(request.url?.port), protocol: "https", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            session.configuration.urlCredentialStorage?.setDefaultCredential(
                URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
            #expect(Self.texts(try await session.data(for: request).1, version) == ["x-accepted: yes"])
        }
    }

    @Test(arguments: BothVersions.all) func aDeclinedRedirectHasThem(_ version: String) async throws {
        final class Declining: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
                newRequest request: URLRequest
            ) async -> URLRequest? { nil }
        }
        try await BothVersions.withServer(version, Self.route) { session, server in
            let request = try BothVersions.request(server, "/redirect")
            let (data, response) = try await session.data(for: request, delegate: Declining())
            #expect(String(decoding: data, as: UTF8.self) == "body of /redirect")
            #expect(Self.texts(response, version) == Self.expected(version))
        }
    }

    @Test(arguments: BothVersions.all) func theyAreNotStored(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            let request = try BothVersions.request(server, "/kept")
            #expect(Self.texts(try await session.data(for: request).1, version) == Self.expected(version))
            var stored = request
            stored.cachePolicy = .returnCacheDataDontLoad
            let (data, response) = try await session.data(for: stored)
            #expect(String(decoding: data, as: UTF8.self) == "body of /kept")
            #expect(Self.texts(response, version) == [])
            let kept = session.configuration.urlCache?.cachedResponse(for: request)
            #expect(kept != nil && Self.texts(kept?.response, version) == [])
        }
    }

    /// RFC 9110 §6.5.1.
    @Test(arguments: BothVersions.all) func whatHasToComeBeforeTheBodyIsLeftOut(_ version: String) async throws {
        let fields = [
            "Content-Type", "Content-Encoding", "Content-Range", "Set-Cookie", "Cache-Control", "Location", "Vary",
            "WWW-Authenticate", "Authorization", "Strict-Transport-Security", "Age", "Expires", "Host",
        ]
        let text = fields.map { "\($0): x=1\r\n" }.joined() + "X-Kept: yes\r\n"
        if version == "http/1.1" {
            let peer = try ScriptedPeer([
                .forever([
                    .expectRequest,
                    .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\(text)\r\n"),
                ])
            ])
            defer { peer.stop() }
            try await withTimeout {
                let session = makeSession()
                defer { session.invalidateAndCancel() }
                let url = try #require(URL(string: peer.url("/")))
                let response = try await session.data(from: url).1
                #expect(Self.texts(response, version) == ["X-Kept: yes"])
                #expect(session.configuration.httpCookieStorage?.cookies?.isEmpty != false)
            }
        } else {
            let route: LoopbackServer.Route = { _ in
                var response = ServerResponse.text("ok")
                for name in fields { response.trailers.append(name: name, value: "x=1") }
                response.trailers.append(name: "x-kept", value: "yes")
                return response
            }
            try await BothVersions.withServer(version, route) { session, server in
                let response = try await session.data(for: try BothVersions.request(server, "/")).1
                #expect(Self.texts(response, version) == ["x-kept: yes"])
                #expect(session.configuration.httpCookieStorage?.cookies?.isEmpty != false)
            }
        }
    }

    @Test(arguments: BothVersions.all) func theyPassThroughHandlersAndInterceptors(_ version: String) async throws {
        struct Plain: LoadInterceptor {
            func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
        }
        struct Adapting: LoadAdapter {
            func adapt(_ request: URLRequest) -> URLRequest { request }
            func adapt(_ response: URLResponse, to request: URLRequest) -> URLResponse {
                let http = response as? HTTPURLResponse
                return http?.replacingHeaderFields(by: [("X-Made", "yes")]) ?? response
            }
        }
        for interceptor in [Plain(), Adapting()] as [any LoadInterceptor] {
            try await BothVersions.withServer(version, Self.route) {
                $0.interceptors = [interceptor]
            } body: { session, server in
                let response = try await session.data(for: try BothVersions.request(server, "/")).1
                #expect(Self.texts(response, version) == Self.expected(version), "\(interceptor)")
            }
        }
    }

    @Test func aHandlerOfAProgramSetsThem() async throws {
        try await withTimeout {
            let session = makeSession {
                $0.register(scheme: "made") { load in
                    let response = HTTPURLResponse(url: load.url, statusCode: 200, headerFields: [])
                    try await load.receive(response)
                    try await load.receive(Data("made".utf8))
                    response.setTrailerFields([("X-Sum", "4"), ("Content-Length", "3")])
                }
            }
            defer { session.invalidateAndCancel() }
            let (data, response) = try await session.data(from: try #require(URL(string: "made://h/")))
            #expect(data == Data("made".utf8) && Self.texts(response, "") == ["X-Sum: 4"])
        }
    }

    @Test func anArchiveHasThem() throws {
        let response = HTTPURLResponse(
            url: try #require(URL(string: "http://h/")), statusCode: 200, headerFields: [("A", "b")])
        let same = response.replacingURL(by: try #require(URL(string: "http://other/")))
        response.setTrailerFields([("X-Sum", "4")])
        #expect(same.value(forHTTPTrailerField: "x-sum") == "4")
        let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPURLResponse.self, from: data)
        #expect(decoded == response && decoded?.value(forHTTPTrailerField: "X-Sum") == "4")
    }

    @Test(arguments: BothVersions.all) func nginxSendsThem(_ version: String) async throws {
        let authority = try CertificateAuthority()
        let server = try await onThread {
            try NginxServer(
                files: ["a.txt": Array("0123456789".utf8)], identity: try authority.issue(),
                speaksHTTP2: version == "h2", directives: "add_trailer X-Served \"$bytes_sent of nginx\";")
        }
        defer { server.stop() }
        try await withTimeout {
            let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            let url = try #require(server.secureURL("/a.txt").flatMap { URL(string: $0) })
            let (data, response) = try await session.data(from: url)
            #expect(data.count == 10)
            let field = (response as? HTTPURLResponse)?.value(forHTTPTrailerField: "X-Served")
            #expect(field?.hasSuffix(" of nginx") == true, "\(field ?? "none")")
        }
    }

    @Test func nghttpdSendsThem() async throws {
        let authority = try CertificateAuthority()
        let server = try await onThread {
            try HTTP2Server(.nghttpd, files: ["a": Array("0123456789".utf8)], identity: try authority.issue())
        }
        defer { server.stop() }
        try await withTimeout {
            let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            let (data, response) = try await session.data(from: try #require(URL(string: server.url("/a"))))
            #expect(data.count == 10)
            #expect((response as? HTTPURLResponse)?.value(forHTTPTrailerField: "X-Trailer") == "nghttpd")
        }
    }
}
