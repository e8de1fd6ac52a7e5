import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitHAR
import LoadingKitLoopbackServer
import Synchronization
import TestSupport
import Testing

@testable import LoadingKitS3

@Suite(.timeLimit(.minutes(5))) struct CredentialsTests {
    // MARK: Files

    @Test func profileFiles() throws {
        let text = """
            # a comment
            [default]\r
            aws_access_key_id = AKID\r
            AWS_SECRET_ACCESS_KEY= a/b+c=#d ; a comment
            s3 =
              addressing_style = path
              region = nested

            [profile not-here]
            region = eu-west-1
            [ other ]  # a comment
            region=eu-west-2
            """
        let config = try ProfileFile(text.replacingOccurrences(of: "[ other ]", with: "[profile other]"), .config)
        #expect(config.profiles["default"]?["aws_access_key_id"] == "AKID")
        #expect(config.profiles["default"]?["aws_secret_access_key"] == "a/b+c=#d")
        #expect(config.profiles["default"]?["region"] == nil)
        #expect(config.profiles["not-here"]?["region"] == "eu-west-1")
        #expect(config.profiles["other"]?["region"] == "eu-west-2")
        let credentials = try ProfileFile("[ other ]\nregion=x\n[default]\n", .credentials)
        #expect(credentials.profiles == ["other": ["region": "x"], "default": [:]])
        #expect(try ProfileFile("[sso-session x]\na=b\n[other]\na=b", .config).profiles == [:])
    }

    @Test func profileFilesWithErrors() {
        let cases: [(text: String, line: Int)] = [
            ("a = b", 1), ("[default\n", 1), ("[default] x", 1), ("[default]\nsecret", 2), ("[default]\n= x", 2),
            ("[profile a]", 1),
        ]
        let wrong = cases.filter { sample in
            do throws(ProfileFile.ParseError) {
                _ = try ProfileFile(sample.text, .credentials)
                return true
            } catch {
                return error.line != sample.line || error.reason.contains("secret")
            }
        }
        #expect(wrong.map(\.text) == [])
    }

    @Test func profiles() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            [default]
            region = eu-west-1
            aws_access_key_id = CONFIG
            aws_secret_access_key = secret
            [profile role]
            role_arn = arn:aws:iam::1:role/x
            [profile half]
            aws_access_key_id = HALF
            [profile empty]
            region = eu-west-1
            """, to: ".aws/config")
        try folder.write(
            "[default]\naws_access_key_id = FILE\naws_session_token = token\n", to: ".aws/credentials")
        let home = ["HOME": folder.path]
        let merged = try await S3ProfileCredentials(environment: home).credentials()
        #expect(merged == S3Credentials(accessKeyID: "FILE", secretAccessKey: "secret", sessionToken: "token"))
        let cases: [(profile: String, isInUse: Bool, text: String)] = [
            ("role", true, "role_arn"), ("half", true, "aws_secret_access_key"), ("none", true, "no such profile"),
            ("empty", false, "aws_access_key_id"),
        ]
        for sample in cases {
            let error = await #expect(throws: S3CredentialsError.self) {
                try await S3ProfileCredentials(environment: home.merging(["AWS_PROFILE": sample.profile]) { $1 })
                    .credentials()
            }
            #expect(error?.isNotConfigured != sample.isInUse && error?.description.contains(sample.text) == true)
        }
        // The client uses the profile's region, unless the options have one.
        var options = S3Options()
        options.environment = home
        #expect(try S3Client(options: options).settings().region == "eu-west-1")
    }

    @Test func filesAtOtherPlaces() async throws {
        let folder = try TemporaryFolder()
        try folder.write("[a]\naws_access_key_id = A\naws_secret_access_key = s\n", to: "keys")
        let environment = [
            "HOME": folder.path, "AWS_SHARED_CREDENTIALS_FILE": "~/keys", "AWS_CONFIG_FILE": "/nowhere",
            "AWS_PROFILE": "a",
        ]
        #expect(try await S3ProfileCredentials(environment: environment).credentials().accessKeyID == "A")
        try folder.write([0xFF, 0xFE], to: "keys")
        await #expect(throws: S3CredentialsError.self) {
            try await S3ProfileCredentials(environment: environment).credentials()
        }
        try folder.write([UInt8](repeating: 10, count: 1 << 21), to: "keys")
        await #expect(throws: S3CredentialsError.self) {
            try await S3ProfileCredentials(environment: environment).credentials()
        }
    }

    @Test func environment() async throws {
        let keys = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]
        #expect(
            try await S3EnvironmentCredentials(environment: keys).credentials()
                == S3Credentials(accessKeyID: "A", secretAccessKey: "s"))
        let temporary = keys.merging(["AWS_SESSION_TOKEN": "t"]) { $1 }
        #expect(try await S3EnvironmentCredentials(environment: temporary).credentials().sessionToken == "t")
        await #expect(throws: S3CredentialsError.self) {
            try await S3EnvironmentCredentials(environment: ["AWS_ACCESS_KEY_ID": "A"]).credentials()
        }
    }

    // MARK: Containers and instances

    @Test func containerEndpoints() throws {
        let full = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
        let relative = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
        let good: [(String, String, String)] = [
            (relative, "/v2/x?id=1", "http://169.254.170.2/v2/x?id=1"),
            (full, "https://any.example/x", "https://any.example/x"),
            (full, "http://127.0.0.1:1234/x", "http://127.0.0.1:1234/x"),
            (full, "http://127.9.9.9/x", "http://127.9.9.9/x"),
            (full, "http://localhost/x", "http://localhost/x"), (full, "http://[::1]/x", "http://[::1]/x"),
            (full, "http://169.254.170.23/v1", "http://169.254.170.23/v1"),
            (full, "http://[fd00:ec2::23]/v1", "http://[fd00:ec2::23]/v1"),
        ]
        #expect(
            try good.filter { try ContainerEndpoint(environment: [$0.0: $0.1])?.url.absoluteString != $0.2 }.isEmpty)
        let bad = [
            (relative, "http://evil.example/"), (relative, "x"), (full, "http://evil.example/"),
            (full, "http://127.evil.example/"),
            (full, "http://127.0.0.1.evil.example/"), (full, "http://169.254.169.254/"), (full, "ftp://localhost/"),
            (full, "/x"), (full, "http://10.0.0.1/"),
        ]
        for (name, value) in bad {
            #expect(throws: S3CredentialsError.self) { try ContainerEndpoint(environment: [name: value]) }
        }
        #expect(try ContainerEndpoint(environment: [:]) == nil)
    }

    @Test func containerTokens() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("Bearer from-file\n", to: "token")
        let base = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://localhost/"]
        func authorization(_ more: [String: String]) throws -> String? {
            try ContainerEndpoint(environment: base.merging(more) { $1 })?.authorization()
        }
        #expect(try authorization([:]) == nil)
        #expect(try authorization(["AWS_CONTAINER_AUTHORIZATION_TOKEN": "plain"]) == "plain")
        let both = ["AWS_CONTAINER_AUTHORIZATION_TOKEN": "plain", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file.path]
        #expect(try authorization(both) == "Bearer from-file")
        for token in ["a\r\nX: y", "ü"] {
            let error = #expect(throws: S3CredentialsError.self) {
                try authorization(["AWS_CONTAINER_AUTHORIZATION_TOKEN": token])
            }
            #expect(error?.description.contains(token) == false)
        }
        #expect(throws: S3CredentialsError.self) {
            try authorization(["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": folder.path + "/none"])
        }
    }

    private static let document = """
        {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "ASIA", "SecretAccessKey": "very-secret", "Token": "tok",
        "Expiration": "2030-01-01T00:00:00Z"}
        """
    private static let documented = S3Credentials(
        accessKeyID: "ASIA", secretAccessKey: "very-secret", sessionToken: "tok",
        expiry: Date(timeIntervalSince1970: 1_893_456_000))

    @Test func documents() throws {
        #expect(try CredentialsDocument.credentials(Data(Self.document.utf8), source: "x") == Self.documented)
        for text in [
            "", "[]", "{}", "{\"Code\": \"Failed\"}", "{\"AccessKeyId\": \"a\"}", "{\"AccessKeyId\": 1}",
            "{\"AccessKeyId\": \"a\", \"SecretAccessKey\": \"very-secret\", \"Expiration\": \"soon\"}",
        ] {
            let error = #expect(throws: S3CredentialsError.self) {
                try CredentialsDocument.credentials(Data(text.utf8), source: "x")
            }
            #expect(error?.description.contains("very-secret") == false)
        }
    }

    @Test func aContainer() async throws {
        let server = try LoopbackServer { request in
            request.fields[name: "Authorization"] == "token" ? .text(Self.document) : .text("no", status: 401)
        }
        defer { server.stop() }
        let environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url("/role"), "AWS_CONTAINER_AUTHORIZATION_TOKEN": "token",
        ]
        // The environment's proxy is not used: the request reaches the server directly.
        let source = S3ContainerCredentials(environment: environment, timeout: 30)
        #expect(try await source.credentials() == Self.documented)
        let refused = S3ContainerCredentials(
            environment: environment.merging(["AWS_CONTAINER_AUTHORIZATION_TOKEN": "x"]) { $1 }, timeout: 30)
        await #expect(
            throws: S3CredentialsError.failed(source: "the container's endpoint", reason: "it answered with status 401")
        ) {
            try await refused.credentials()
        }
    }

    /// The token is not sent to the target of a redirect, and a long answer is not read.
    @Test func aContainerThatMisbehaves() async throws {
        let other = try LoopbackServer { _ in .text(Self.document) }
        defer { other.stop() }
        let server = try LoopbackServer { request in
            request.path == "/long" ? .bytes([UInt8](repeating: 32, count: 1 << 20)) : .redirect(to: other.url("/"))
        }
        defer { server.stop() }
        for path in ["/redirect", "/long"] {
            let environment = [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url(path), "AWS_CONTAINER_AUTHORIZATION_TOKEN": "token",
            ]
            await #expect(throws: S3CredentialsError.self) {
                try await S3ContainerCredentials(environment: environment, timeout: 30).credentials()
            }
        }
        #expect(other.requests.snapshot.isEmpty)
    }

    /// The metadata service, version 2: a request without the token is refused.
    private static func metadataService(role: String?) throws -> LoopbackServer {
        try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("PUT", "/latest/api/token"):
                let seconds = request.fields[name: "X-aws-ec2-metadata-token-ttl-seconds"].flatMap { Int($0) }
                return seconds == nil ? .text("", status: 400) : .text("the-token")
            case _ where request.fields[name: "X-aws-ec2-metadata-token"] != "the-token": return .text("", status: 401)
            case (_, "/latest/meta-data/iam/security-credentials/"):
                return role.map { .text($0 + "\n") } ?? .text("", status: 404)
            case (_, "/latest/meta-data/iam/security-credentials/my-role"): return .text(Self.document)
            default: return .text("", status: 404)
            }
        }
    }

    @Test func anInstance() async throws {
        let server = try Self.metadataService(role: "my-role")
        defer { server.stop() }
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("/")]
        let source = S3InstanceMetadataCredentials(environment: environment, timeout: 30)
        #expect(try await source.credentials() == Self.documented)
        #expect(server.requests.snapshot.map(\.method) == ["PUT", "GET", "GET"])
        let roleless = try Self.metadataService(role: nil)
        defer { roleless.stop() }
        let disabled = environment.merging(["AWS_EC2_METADATA_DISABLED": "TRUE"]) { $1 }
        for environment in [["AWS_EC2_METADATA_SERVICE_ENDPOINT": roleless.url("/")], disabled] {
            let error = await #expect(throws: S3CredentialsError.self) {
                try await S3InstanceMetadataCredentials(environment: environment, timeout: 30).credentials()
            }
            #expect(error?.isNotConfigured == true)
        }
    }

    /// The token is a body without a name by which it could be hidden.
    @Test func credentialsAreInNoRecording() async throws {
        let server = try Self.metadataService(role: "my-role")
        defer { server.stop() }
        let urls = Recorder<URL?>()
        let rules = HARRules(.program, .standard, bodyLimit: nil)
        let recording = LoadRecording(rules, on: OrderedWork()) { moment, notes in
            if moment == .began { urls.append(notes.request.url) }
        }
        let followed = Recorder<SessionCore>()
        let number = LiveSessions.follow { session in
            guard let core = session as? SessionCore else { return }
            core.add(recording)
            followed.append(core)
        }
        defer {
            LiveSessions.unfollow(number)
            for core in followed.snapshot { core.remove(recording) }
        }
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("/")]
        let source = S3InstanceMetadataCredentials(environment: environment, timeout: 30)
        #expect(try await source.credentials() == Self.documented)
        // Other sessions are recorded; those of other tests may be, too.
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration)
        _ = try await session.data(from: try #require(URL(string: server.url("/other"))))
        let recorded = urls.snapshot.compactMap { $0?.absoluteString }
        #expect(recorded.filter { $0.hasPrefix(server.url("/")) } == [server.url("/other")])
    }

    @Test func theChain() async throws {
        let server = try Self.metadataService(role: "my-role")
        let endpoint = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("/")]
        let last = try await S3CredentialsChain(environment: endpoint).credentials()
        #expect(last == Self.documented)
        let first = try await S3CredentialsChain(
            environment: endpoint.merging(["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]) { $1 }
        ).credentials()
        #expect(first.accessKeyID == "A")
        // A source that is in use and malformed ends the chain.
        await #expect(throws: S3CredentialsError.self) {
            try await S3CredentialsChain(environment: endpoint.merging(["AWS_ACCESS_KEY_ID": "A"]) { $1 }).credentials()
        }
        // So does one that is not supported: the machine's role is not the program's. Keys are used in its place.
        let identity = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/x"]
        let unsupported = endpoint.merging(identity) { $1 }
        let reason = "it has AWS_WEB_IDENTITY_TOKEN_FILE, which is not supported; export keys for it, or name a profile"
        await #expect(throws: S3CredentialsError.failed(source: "the environment", reason: reason)) {
            try await S3CredentialsChain(environment: unsupported).credentials()
        }
        let keys = try await S3CredentialsChain(
            environment: unsupported.merging(["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]) { $1 }
        ).credentials()
        #expect(keys.accessKeyID == "A")
        // A profile that is named was chosen.
        let folder = try TemporaryFolder()
        try folder.write("[other]\naws_access_key_id = P\naws_secret_access_key = s\n", to: "keys")
        let chosen = [
            "AWS_PROFILE": "other", "AWS_SHARED_CREDENTIALS_FILE": folder.file("keys").path,
            "AWS_CONFIG_FILE": "/nowhere",
        ]
        let ofProfile = try await S3CredentialsChain(environment: unsupported.merging(chosen) { $1 }).credentials()
        #expect(ofProfile.accessKeyID == "P")
        server.stop()
        let error = await #expect(throws: S3CredentialsError.self) {
            try await S3CredentialsChain(environment: endpoint).credentials()
        }
        #expect(error?.reasons.count == 4)
    }

    // MARK: Refreshing

    @Test func states() {
        let start = Date(timeIntervalSince1970: 1_000_000)
        let old = S3Credentials(accessKeyID: "old", secretAccessKey: "s", expiry: start + 1000)
        func state(failedAt: Date? = nil) -> CredentialsState {
            var state = CredentialsState()
            state.refreshDidEnd(old, at: start)
            if let failedAt { state.refreshDidEnd(nil, at: failedAt) }
            return state
        }
        let cases: [(name: String, state: CredentialsState, at: TimeInterval, step: CredentialsState.Step)] = [
            ("none", CredentialsState(), 0, .wait(begins: true)), ("fresh", state(), 699, .use(old, begins: false)),
            ("early", state(), 701, .use(old, begins: true)), ("late", state(), 941, .wait(begins: true)),
            ("over", state(), 1001, .wait(begins: true)),
            ("failed", state(failedAt: start + 710), 720, .use(old, begins: false)),
            ("failed long ago", state(failedAt: start + 710), 741, .use(old, begins: true)),
            ("failed late", state(failedAt: start + 950), 960, .use(old, begins: false)),
            ("failed and over", state(failedAt: start + 999), 1001, .wait(begins: true)),
        ]
        let wrong = cases.filter { sample in
            var state = sample.state
            return state.next(at: start + sample.at) != sample.step
        }
        #expect(wrong.map(\.name) == [])
        #expect(state().rest(at: start + 999) == old && state().rest(at: start + 1000) == nil)
        #expect(CredentialsState().rest(at: start) == nil)
        var rejected = state()
        rejected.reject(S3Credentials(accessKeyID: "other", secretAccessKey: "s"))
        #expect(rejected.next(at: start) == .use(old, begins: false))
        rejected.reject(old)
        #expect(rejected.rest(at: start) == nil)
        #expect(rejected.next(at: start) == .wait(begins: true) && rejected.next(at: start) == .wait(begins: false))
        rejected.refreshDidEnd(old, at: start)
        #expect(rejected.next(at: start) == .use(old, begins: false))
    }

    /// Returns credentials when the test permits it, and counts the calls.
    private final class SlowSource: S3CredentialsProvider {
        let calls = Recorder<Int>()
        let gate = Signal()
        private let result: Result<S3Credentials, S3CredentialsError>

        init(_ result: Result<S3Credentials, S3CredentialsError>) { self.result = result }

        func credentials() async throws -> S3Credentials {
            calls.append(1)
            await gate.wait()
            return try result.get()
        }
    }

    @Test(arguments: [true, false]) func askedOnceForAll(succeeds: Bool) async throws {
        let given = S3Credentials(accessKeyID: "A", secretAccessKey: "s")
        let failure = S3CredentialsError.failed(source: "x", reason: "y")
        let source = SlowSource(succeeds ? .success(given) : .failure(failure))
        let cached = S3CachedCredentials(source)
        let results = try await withThrowingTaskGroup(of: Result<S3Credentials, any Error>.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do { return .success(try await cached.credentials()) } catch { return .failure(error) }
                }
            }
            // The others still wait after one caller was cancelled.
            let cancelled = Task { try await cached.credentials() }
            try await waitUntil { cached.waitingCount >= 51 }
            cancelled.cancel()
            #expect(await (cancelled.result).isCancelled)
            source.gate.fire()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 50 && source.calls.snapshot.count == 1)
        #expect(results.allSatisfy { result in (try? result.get()) == (succeeds ? given : nil) })
        _ = try? await cached.credentials()
        #expect(source.calls.snapshot.count == (succeeds ? 1 : 2))
    }

    @Test func keysThatNoFieldCanHave() async {
        let bad = [
            S3Credentials(accessKeyID: "", secretAccessKey: "s"),
            S3Credentials(accessKeyID: "A\r\nX: y", secretAccessKey: "s"),
            S3Credentials(accessKeyID: "A", secretAccessKey: "s", sessionToken: "a b"),
            S3Credentials(accessKeyID: "A", secretAccessKey: ""),
        ]
        for credentials in bad {
            await #expect(throws: S3CredentialsError.self) { try await S3CachedCredentials(credentials).credentials() }
        }
    }

    @Test func descriptions() {
        let credentials = S3Credentials(accessKeyID: "AKID", secretAccessKey: "the-secret", sessionToken: "the-token")
        var text = "\(credentials) \(String(reflecting: credentials)) \(credentials.debugDescription)"
        dump(credentials, to: &text)
        dump([credentials], to: &text)
        dump(S3Client(credentials: credentials), to: &text)
        let environment = ["AWS_SECRET_ACCESS_KEY": "the-secret", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "the-token"]
        var options = S3Options()
        options.environment = environment
        let holders: [Any] = [
            options, S3Client(options: options), S3CredentialsChain(environment: environment),
            S3ContainerCredentials(environment: environment), S3EnvironmentCredentials(environment: environment),
        ]
        for holder in holders {
            text += "\(holder) \(String(reflecting: holder))"
            dump(holder, to: &text)
        }
        #expect(text.contains("AKID") && !text.contains("the-secret") && !text.contains("the-token"))
    }
}

extension S3CredentialsError {
    fileprivate var isNotConfigured: Bool { if case .notConfigured = self { true } else { false } }
    fileprivate var reasons: [String] { if case .noneFound(let reasons) = self { reasons } else { [] } }
}

extension Result {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
}
