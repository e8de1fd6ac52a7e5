import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import TestSupport
import Testing

@testable import LoadingKitUnixSockets

/// Loads from servers on Unix-domain sockets.
@Suite(.timeLimit(.minutes(5))) struct UnixSocketLoadTests {
    /// A folder whose sockets have short paths.
    private final class Sockets {
        let folder: URL

        init() throws {
            folder = URL(fileURLWithPath: "/tmp/lk-\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

        func url(_ name: String, _ rest: String = "/", scheme: String = "http") throws -> URL {
            let host = path(name).replacing("/", with: "%2F")
            return try #require(URL(string: "\(scheme)+unix://\(host)\(rest)"))
        }
    }

    private static func session(
        _ delegate: (any URLSessionDelegate)? = nil, _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        UnixSockets().install(in: configuration)
        configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private static func server(
        _ path: String, tls: TLSServerOptions? = nil, speaksHTTP2: Bool = false,
        route: @escaping LoopbackServer.Route = Self.route
    ) throws -> LoopbackServer {
        var options = LoopbackServer.Options(.unix(path: path), tls: tls)
        options.speaksHTTP2 = speaksHTTP2
        return try LoopbackServer(options, route: route)
    }

    private static let route: LoopbackServer.Route = { request in
        switch request.path {
        case "/old": return .redirect(to: "/new?a=1")
        case "/away": return .redirect(to: "http://127.0.0.1:1/")
        case "/whole": return .bytes([UInt8](repeating: 7, count: 300_000))
        case "/cookie":
            var response = ServerResponse.text(request.fields[.cookie] ?? "none")
            response.fields.append(.setCookie, "a=\(request.path); Path=/")
            return response
        default: return .text("\(request.fields[.host] ?? "") \(request.target) \(request.bodyText)")
        }
    }

    @Test func aProgramSeesItsOwnURLs() async throws {
        let sockets = try Sockets()
        let server = try Self.server(sockets.path("s"))
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let url = try sockets.url("s", "/x?y")
        var (data, response) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "localhost /x?y ")
        #expect(response.url == url && response.expectedContentLength == 15)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "localhost /x?y streamed")
        (data, response) = try await session.data(from: try sockets.url("s", "/old"))
        #expect(String(decoding: data, as: UTF8.self) == "localhost /new?a=1 ")
        #expect(response.url?.scheme == "http+unix" && response.url?.path == "/new")
        // One connection served them all.
        #expect(server.openings.count == 1)
    }

    /// Two sockets are two hosts: neither cookies nor connections are shared.
    @Test func twoSocketsShareNothing() async throws {
        let sockets = try Sockets()
        let servers = try ["one", "two"].map { try Self.server(sockets.path($0)) }
        defer { for server in servers { server.stop() } }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        for (name, cookie) in [("one", "none"), ("one", "a=/cookie"), ("two", "none"), ("two", "a=/cookie")] {
            let (data, _) = try await session.data(from: try sockets.url(name, "/cookie"))
            #expect(String(decoding: data, as: UTF8.self) == cookie, "\(name)")
        }
        #expect(servers.map(\.requests.count) == [2, 2])
    }

    /// Two sessions give one host to different sockets, and each its own server name to the same URL.
    @Test func twoSessionsShareNothing() async throws {
        let sockets = try Sockets()
        let servers = try ["one", "two"].map { try Self.server(sockets.path($0)) }
        defer { for server in servers { server.stop() } }
        let sessions = ["one", "two"].map { name in
            let path = sockets.path(name)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.unixSocket = { $0 == "docker" ? UnixSocket(path: path, serverName: name) : nil }
            UnixSockets(serverName: "named-\(name)").install(in: configuration)
            return URLSession(configuration: configuration)
        }
        defer { for session in sessions { session.invalidateAndCancel() } }
        let (mapped, named) = (try #require(URL(string: "http://docker/x")), try sockets.url("one", "/x"))
        for _ in 0..<2 {
            for (session, name) in zip(sessions, ["one", "two"]) {
                for (url, host) in [(mapped, name), (named, "named-\(name)")] {
                    let (data, _) = try await session.data(from: url)
                    #expect(String(decoding: data, as: UTF8.self) == "\(host) /x ")
                }
            }
        }
        #expect(servers.map(\.requests.count) == [6, 2])
    }

    /// The loads of one session go to several sockets and paths in turn; URLs whose beginnings are alike differ.
    @Test func manyURLs() async throws {
        let sockets = try Sockets()
        let servers = try ["s", "s2"].map { try Self.server(sockets.path($0)) }
        defer { for server in servers { server.stop() } }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            for name in ["s", "s2"] {
                for rest in ["/x", "/x?y", "", "/x#z", "?q"] {
                    let url = try sockets.url(name, rest)
                    let (data, response) = try await session.data(from: url)
                    let target = rest.prefix { $0 != "#" }
                    #expect(
                        String(decoding: data, as: UTF8.self) == "localhost \(target.first == "/" ? "" : "/")\(target) "
                    )
                    #expect(response.url == url)
                }
            }
        }
        #expect(servers.map(\.requests.count) == [10, 10])
    }

    /// A session's credentials are for the socket that a task was made for, and not for what its server redirects to.
    @Test func theSessionsCredentials() async throws {
        let sockets = try Sockets()
        let route: LoopbackServer.Route = { .text($0.fields[.authorization] ?? "none") }
        let elsewhere = try LoopbackServer(route: route)
        let away = elsewhere.url("/")
        let server = try Self.server(sockets.path("s")) { request in
            switch request.path {
            case "/old": .redirect(to: "/new")
            case "/away": .redirect(to: away)
            default: try route(request)
            }
        }
        defer {
            server.stop()
            elsewhere.stop()
        }
        let session = Self.session { $0.httpAdditionalHeaders = ["Authorization": "secret"] }
        defer { session.invalidateAndCancel() }
        for (path, expected) in [("/x", "secret"), ("/old", "secret"), ("/away", "none")] {
            let (data, _) = try await session.data(from: try sockets.url("s", path))
            #expect(String(decoding: data, as: UTF8.self) == expected, "\(path)")
        }
    }

    /// A server redirects with its own name to itself: at its socket, with the fields of the request.
    @Test(arguments: [("localhost", "localhost"), ("Docker", "docker")])
    func aServerNamesItself(serverName: String, location: String) async throws {
        let sockets = try Sockets()
        let server = try Self.server(sockets.path("s")) { request in
            switch request.path {
            case "/dir": .redirect(to: "http://\(location)/dir/?a")
            case "/sent": .redirect(to: "http://\(location)/dir/", status: 307)
            default:
                .text(
                    [request.target, request.method, request.fields[.authorization] ?? "none", request.bodyText]
                        .joined(separator: " "))
            }
        }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        UnixSockets(serverName: serverName).install(in: configuration)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        for (path, answer) in [("/dir", "/dir/?a GET secret "), ("/sent", "/dir/ POST secret body")] {
            var request = URLRequest(url: try sockets.url("s", path))
            request.setValue("secret", forHTTPHeaderField: "Authorization")
            if path == "/sent" {
                request.httpMethod = "POST"
                request.httpBody = Data("body".utf8)
            }
            let (data, response) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == answer)
            #expect(response.url?.scheme == "http+unix" && response.url?.path(percentEncoded: true) == "/dir/")
        }
        #expect(server.requests.snapshot.allSatisfy { $0.fields[.host] == serverName } && server.requests.count == 4)
    }

    /// A program that loads its users' URLs, and allows `http` alone, gives them no socket, whether it has loaded from it or not.
    @Test func noPlainURLLeadsToASocket() async throws {
        let sockets = try Sockets()
        let socket = try Self.server(sockets.path("s")) { _ in .text("socket") }
        let network = try LoopbackServer { _ in .text("network") }
        defer {
            socket.stop()
            network.stop()
        }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let url = try sockets.url("s")
        let (data, _) = try await session.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "socket")
        let path = sockets.path("s").utf8.map { String(format: "%02x", $0) }.joined()
        let port = try #require(URL(string: network.url())?.port)
        for host in ["unix-\(path)", "unix-\(String(repeating: "0", count: 32))-\(path)", "unix--\(path)"] {
            for (loads, redirects) in [(session, false), (Self.session(), false), (session, true)] {
                defer { if loads !== session { loads.invalidateAndCancel() } }
                let target = "http://\(host).localhost:\(port)/"
                let elsewhere = try LoopbackServer { _ in .redirect(to: target) }
                defer { elsewhere.stop() }
                let plain = try #require(URL(string: redirects ? elsewhere.url() : target))
                let (data, _) = try await loads.data(from: plain)
                #expect(String(decoding: data, as: UTF8.self) == "network", "\(plain)")
            }
        }
        #expect(socket.requests.count == 1)
    }

    /// Neither by the plugin's scheme nor by the host that stands for a socket.
    @Test func noServerElsewhereRedirectsToASocket() async throws {
        let sockets = try Sockets()
        let servers = try ["one", "two"].map { try Self.server(sockets.path($0)) }
        defer { for server in servers { server.stop() } }
        let hidden = try UnixSocketURL(try sockets.url("two")).loadedURL()
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        for target in [hidden, try sockets.url("two")] {
            let text = target.absoluteString
            let elsewhere = try LoopbackServer { _ in .redirect(to: text) }
            let socket = try Self.server(sockets.path("three")) { _ in .redirect(to: text) }
            defer {
                elsewhere.stop()
                socket.stop()
            }
            for url in [try #require(URL(string: elsewhere.url())), try sockets.url("three")] {
                let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                #expect(error?.code == .redirectToNonExistentLocation, "\(url) to \(text)")
            }
        }
        #expect(servers.map(\.requests.count) == [0, 0])
    }

    @Test func http2AndTLS() async throws {
        let sockets = try Sockets()
        let authority = try CertificateAuthority()
        let secure = try Self.server(
            sockets.path("tls"), tls: TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"]))
        defer { secure.stop() }
        let metrics = Metrics()
        let session = Self.session(metrics) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try sockets.url("tls", "/x", scheme: "https"))
        #expect(String(decoding: data, as: UTF8.self).hasSuffix(" /x "))
        let transaction = await metrics.collected.element(at: 0)?.transactionMetrics.first
        #expect(transaction?.networkProtocolName == "h2")
        #expect(transaction?.remoteAddress == sockets.path("tls"))
        // A certificate for another name is refused.
        let named = URLSessionConfiguration.ephemeral
        UnixSockets(serverName: "other.example").install(in: named)
        named.tlsTrustRoots = .pem(authority.certificatePEM)
        let wrong = URLSession(configuration: named)
        defer { wrong.invalidateAndCancel() }
        await #expect(throws: URLError.self) {
            try await wrong.data(from: try sockets.url("tls", "/x", scheme: "https"))
        }
    }

    private final class Metrics: NSObject, URLSessionTaskDelegate {
        let collected = Recorder<URLSessionTaskMetrics>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            collected.append(metrics)
        }
    }

    @Test func http2ByPriorKnowledge() async throws {
        let sockets = try Sockets()
        let server = try Self.server(sockets.path("s"), speaksHTTP2: true)
        defer { server.stop() }
        let metrics = Metrics()
        let session = Self.session(metrics) { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try sockets.url("s", "/x"))
        #expect(String(decoding: data, as: UTF8.self).hasSuffix(" /x "))
        let transaction = await metrics.collected.element(at: 0)?.transactionMetrics.first
        #expect(transaction?.networkProtocolName == "h2")
    }

    @Test func webSockets() async throws {
        let sockets = try Sockets()
        let server = try Self.server(sockets.path("s")) { request in .webSocket(request) { try $0.echo() } }
        defer { server.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(with: try sockets.url("s", "/chat", scheme: "ws"))
        task.resume()
        try await task.send(.string("hello"))
        guard case .string(let text) = try await task.receive() else { throw URLError(.badServerResponse) }
        #expect(text == "hello")
        task.cancel()
    }

    /// A usual URL whose host is mapped to a socket; a server elsewhere cannot redirect there.
    @Test func aHostOfASocket() async throws {
        let sockets = try Sockets()
        let server = try Self.server(sockets.path("s"))
        let elsewhere = try LoopbackServer { _ in .redirect(to: "http://docker/x") }
        defer {
            server.stop()
            elsewhere.stop()
        }
        let path = sockets.path("s")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.unixSocket = { $0 == "docker" ? UnixSocket(path: path) : nil }
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(from: try #require(URL(string: "http://Docker/x")))
        #expect(String(decoding: data, as: UTF8.self) == "docker /x ")
        #expect(response.url?.host == "Docker")
        let error = await #expect(throws: URLError.self) {
            try await session.data(from: try #require(URL(string: elsewhere.url())))
        }
        #expect(error?.code == .redirectToNonExistentLocation)
        #expect(server.requests.count == 1)
        // From a socket a server may redirect to itself, and to the network.
        _ = try await session.data(from: try #require(URL(string: "http://docker/old")))
        let away = await #expect(throws: URLError.self) {
            try await session.data(from: try #require(URL(string: "http://docker/away")))
        }
        #expect(away?.code == .cannotConnectToHost)
    }

    /// What is wrong is said: no socket there, a file that is none, a path that is too long.
    @Test func failures() async throws {
        let sockets = try Sockets()
        try Data().write(to: URL(fileURLWithPath: sockets.path("file")))
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        for name in ["missing", "file"] {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try sockets.url(name)) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.localizedDescription.contains(sockets.path(name)) == true, "\(String(describing: error))")
        }
        let long = try #require(URL(string: "http+unix://\(String(repeating: "p", count: 200))/"))
        await #expect(throws: UnixSocketURLError.self) { try await session.data(from: long) }
        let mapped = URLSessionConfiguration.ephemeral
        mapped.unixSocket = { _ in UnixSocket(path: String(repeating: "p", count: 200)) }
        let other = URLSession(configuration: mapped)
        defer { other.invalidateAndCancel() }
        await #expect(throws: URLError.self) { try await other.data(from: try #require(URL(string: "http://h/"))) }
    }

    @Test func nginx() async throws {
        let sockets = try Sockets()
        let body = [UInt8](repeating: 5, count: 1 << 20)
        let nginx = try NginxServer(files: ["a": body], directives: "listen unix:\(sockets.path("n"));")
        defer { nginx.stop() }
        let session = Self.session()
        defer { session.invalidateAndCancel() }
        let url = try sockets.url("n", "/a")
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { try await session.data(from: url).0 == Data(body) } }
            for try await isRight in group { #expect(isRight) }
        }
        let (file, _) = try await session.download(from: url)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data(body))
    }

    @Test func theContractOfHandlers() async throws {
        let sockets = try Sockets()
        let server = try Self.server(sockets.path("s"))
        defer { server.stop() }
        var upload = URLRequest(url: try sockets.url("s", "/upload"))
        upload.httpMethod = "POST"
        let report = await HandlerConformance([
            .resource(try sockets.url("s", "/whole")), .upload(upload), .redirect(try sockets.url("s", "/old")),
            .failure(try sockets.url("missing")),
        ]) { UnixSockets().install(in: $0) }.run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.checks.count > 30)
    }
}
