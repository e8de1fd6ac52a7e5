import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import Logging
import TestSupport
import Testing

/// Nothing that is secret is in logs, in records and in errors.
@Suite struct SecretsTests {
    /// The beginning of each secret, and what stands for it in Basic credentials.
    private static let secret = "s3cr3t"

    /// What a session has told: its log, its record, and its errors.
    private struct Told: Sendable {
        let lines = Recorder<KeptLog.Line>()
        let texts = Recorder<String>()

        /// The errors' texts, without the URL, which the program has given.
        func tell(_ error: any Error) {
            let keys = [NSURLErrorFailingURLErrorKey, "NSErrorFailingURLStringKey"]
            let information = (error as NSError).userInfo.filter { !keys.contains($0.key) }
            texts.append("\(error.localizedDescription) \(information) \((error as? URLError)?.loadRecord ?? "")")
        }

        func tell(_ session: URLSession) async { texts.append(await session.flightRecord) }

        var all: [String] { texts.snapshot + lines.snapshot.map(\.description) }
    }

    private static func expectNoSecrets(_ told: Told) {
        let coded = ["name:\(secret)-password", "proxy:\(secret)-proxy"].map { Data($0.utf8).base64EncodedString() }
        for text in told.all {
            #expect(!text.contains(secret) && coded.allSatisfy { !text.contains($0) }, "\(text)")
        }
    }

    private static let paths = ["/start", "/cut", "/login", "/refuses", "/nowhere", "/nothing"]

    private static func answer(_ request: ServerRequest) -> ServerResponse {
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/start":
            .redirect(to: "/end?token=\(secret)-location").adding("Set-Cookie", "sid=\(secret)-cookie")
                .adding("Set-Cookie", "other=\(secret)-refused; Domain=example.com")
                .adding("Set-Cookie", "mark=\u{301}\(secret)-mark")
        case "/login" where request.fields[name: "Authorization"] == nil:
            .text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/cut": .text("\(secret)-answer").adding("Content-Encoding", "gzip")
        case "/nowhere":
            .redirect(to: "https://ada:\(secret)-user@localhost:99999/?code=\(secret)-code")
        case "/nothing": .redirect(to: "http://[::1/?code=\(secret)-code")
        case "/refuses": .text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case _: .text("\(secret)-answer").adding("Cache-Control", "max-age=1000")
        }
    }

    /// Requests with a secret in each place that can have one.
    private static func requests(_ server: String) throws -> [URLRequest] {
        try paths.flatMap { path -> [URLRequest] in
            let url = try #require(URL(string: "\(server)\(path)?query=\(secret)-query#\(secret)-fragment"))
            var get = URLRequest(url: url)
            get.setValue("Bearer \(secret)-field", forHTTPHeaderField: path == "/start" ? "Authorization" : "X-Token")
            var form = get
            form.httpMethod = "POST"
            form.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            form.httpBody = Data("password=\(secret)-form".utf8)
            var json = form
            json.setValue("application/json", forHTTPHeaderField: "Content-Type")
            json.httpBody = Data("{\"password\": \"\(secret)-json\"}".utf8)
            var invalid = get
            invalid.setValue("\(secret)-value\r\nX: y", forHTTPHeaderField: "X-Invalid")
            return [get, form, json, invalid]
        }
    }

    private static func load(_ requests: [URLRequest], _ session: URLSession, _ told: Told) async {
        let answerer = ChallengeAnswerer { challenge in
            guard challenge.previousFailureCount == 0 else { return (.cancelAuthenticationChallenge, nil) }
            return (
                .useCredential,
                URLCredential(user: "name", password: "\(secret)-password", persistence: .forSession)
            )
        }
        for request in requests {
            do { _ = try await session.data(for: request, delegate: answerer) } catch { told.tell(error) }
        }
        await told.tell(session)
    }

    @Test(arguments: BothVersions.all)
    func loadsTellNoSecrets(version: String) async throws {
        let told = Told()
        try await BothVersions.withServer(
            version, { Self.answer($0) }, { $0.logger = KeptLog.logger(told.lines, .trace) }
        ) { session, server in
            let authority = "//\(Self.secret)-user:\(Self.secret)-inURL@"
            let url = server.url("", host: "localhost").replacingOccurrences(of: "//", with: authority)
            await Self.load(try Self.requests(url), session, told)
            let plain = try Self.requests(server.url("", host: "localhost"))
            await Self.load(plain, session, told)
            #expect(told.texts.snapshot.count > 6, "errors")
            #expect(told.lines.snapshot.count > 100, "log")
        }
        Self.expectNoSecrets(told)
    }

    @Test(arguments: ["\(secret)-proxy", "\(secret)-wrong"])
    func loadsThroughAProxyTellNoSecrets(password: String) async throws {
        let told = Told()
        let credential = "Basic " + Data("proxy:\(Self.secret)-proxy".utf8).base64EncodedString()
        let proxy = try RelayProxy(.http, credential: credential)
        defer { proxy.stop() }
        try await BothVersions.withServer(
            "http/1.1", { Self.answer($0) },
            {
                $0.logger = KeptLog.logger(told.lines, .trace)
                $0.appTransportSecurity.allowsArbitraryLoads = true
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "HTTPSEnable": 1,
                    "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port), kCFProxyUsernameKey: "proxy",
                    kCFProxyPasswordKey: password, "ExcludeSimpleHostnames": 0, "ExceptionsList": [String](),
                ]
            }
        ) { session, server in
            await Self.load(try Self.requests(server.url("", host: "localhost")), session, told)
            await Self.load(try Self.requests("http://site.example"), session, told)
        }
        #expect(!told.lines.snapshot.isEmpty)
        Self.expectNoSecrets(told)
    }

    @Test(arguments: BothVersions.all)
    func messagesAreNotTold(version: String) async throws {
        let told = Told()
        try await WebSocketServing.withSession(
            version, { .webSocket($0) { try $0.echo() } }, delegate: WebSocketRecorder(),
            { $0.logger = KeptLog.logger(told.lines, .trace) }
        ) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            for _ in 0..<3 {
                try await task.send(.string("\(Self.secret)-message"))
                _ = try await task.receive()
            }
            task.cancel(with: .goingAway, reason: Data("\(Self.secret)-reason".utf8))
            do { _ = try await task.receive() } catch { told.tell(error) }
            await told.tell(session)
        }
        #expect(told.lines.snapshot.count > 5)
        Self.expectNoSecrets(told)
    }

    @Test func aClientCertificatesPasswordIsNotTold() throws {
        let identity = try CertificateAuthority().issue()
        let file = try IdentityFiles.pkcs12(
            identity.certificatePEM, key: identity.privateKeyPEM, password: "\(Self.secret)-identity")
        let told = Told()
        do {
            _ = try ClientIdentity(pkcs12Representation: Data(file), password: "\(Self.secret)-wrong")
            Issue.record("the password is wrong")
        } catch {
            told.tell(error)
        }
        Self.expectNoSecrets(told)
    }
}
