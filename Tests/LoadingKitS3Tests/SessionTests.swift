import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import Synchronization
import TestSupport
import Testing

@testable import LoadingKitS3

/// Against servers whose answers a test determines.
@Suite(.timeLimit(.minutes(5))) struct SessionTests {
    static func error(_ code: String, _ status: Int, more: String = "") -> ServerResponse {
        let body = "<Error><Code>\(code)</Code><Message>m</Message>\(more)<RequestId>R</RequestId></Error>"
        return .bytes(Array(body.utf8), type: "application/xml", status: status)
    }

    private static func region(_ request: ServerRequest) -> String? {
        request.fields[name: "Authorization"]?.split(separator: "/").dropFirst(2).first.map(String.init)
    }

    // MARK: What is sent

    /// The path is the unchanged key, and the sent request is the signed one.
    @Test func targets() async throws {
        let server = try LoopbackServer { _ in .text("") }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        let cases = [
            ("s3://bucket/a//b/../c/./d", "/bucket/a//b/../c/./d"), ("s3://bucket/a+b%20c", "/bucket/a%2Bb%20c"),
            ("s3://bucket/%C3%BC", "/bucket/%C3%BC"),
            ("s3://bucket/k?versionId=a+b/c", "/bucket/k?versionId=a%2Bb%2Fc"),
            ("s3://bucket", "/bucket?list-type=2"),
            ("s3://bucket/?prefix=a&list-type=1", "/bucket?prefix=a&list-type=1"),
            ("s3://bucket/?acl", "/bucket?acl="), ("s3://bucket/a!'()*", "/bucket/a%21%27%28%29%2A"),
        ]
        for (url, _) in cases { _ = try await session.load("GET", url) }
        #expect(server.requests.snapshot.map(\.target) == cases.map(\.1))
    }

    /// The program's own fields do not replace those of the signature.
    @Test func fields() async throws {
        let server = try LoopbackServer { _ in .text("") }
        defer { server.stop() }
        let date = Date(timeIntervalSince1970: 1_440_938_160)
        let session = try URLSession.s3(server.url(), change: { $0.clock = S3Clock(date: { date }, sleep: { _ in }) })
        _ = try await session.load(
            "PUT", "s3://bucket/k", body: Data("hello".utf8),
            fields: [
                "Authorization": "mine", "X-Amz-Date": "mine", "x-amz-security-token": "mine", "x-amz-acl": "private",
            ])
        let request = try #require(server.requests.snapshot.first)
        #expect(request.fields[name: "X-Amz-Date"] == "20150830T123600Z")
        #expect(request.fields[name: "X-Amz-Security-Token"] == "the-token")
        #expect(request.fields[name: "X-Amz-Content-Sha256"] == Digest.hex(of: Data("hello".utf8)))
        let names = "content-type;host;x-amz-acl;x-amz-content-sha256;x-amz-date;x-amz-security-token"
        let authorization = try #require(request.fields[name: "Authorization"])
        let scope = "AKIDTESTS/20150830/us-east-1/s3/aws4_request"
        #expect(authorization.hasPrefix("AWS4-HMAC-SHA256 Credential=\(scope), SignedHeaders=\(names), Signature="))
        #expect(request.fields[name: "Content-Type"] == "application/octet-stream")
        #expect(!authorization.contains("the-secret") && request.bodyText == "hello")
    }

    @Test func anonymous() async throws {
        let server = try LoopbackServer { _ in .text("public") }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        S3Client.anonymous(options: try .forServer(server.url())).install(in: configuration)
        let session = URLSession(configuration: configuration)
        #expect(try await session.load("GET", "s3://bucket/k").data == Data("public".utf8))
        let fields = try #require(server.requests.snapshot.first).fields
        #expect(fields[name: "Authorization"] == nil && fields[name: "X-Amz-Date"] == nil)
    }

    /// Two sessions with two accounts, and a third without a client.
    @Test func accounts() async throws {
        let server = try LoopbackServer { .text($0.fields[name: "Authorization"] ?? "none") }
        defer { server.stop() }
        let sessions = try ["FIRST", "SECOND"].map { name in
            try URLSession.s3(server.url(), S3Credentials(accessKeyID: name, secretAccessKey: "s"))
        }
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let (data, _) = try await sessions[number % 2].load("GET", "s3://bucket/k")
                    return String(decoding: data, as: UTF8.self).contains(number % 2 == 0 ? "=FIRST/" : "=SECOND/")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 40 && answers.allSatisfy { $0 })
        await #expect(throws: URLError.self) {
            try await URLSession(configuration: .ephemeral).load("GET", "s3://bucket/k")
        }
    }

    @Test func urlsThatAreNone() async throws {
        let server = try LoopbackServer { _ in .text("") }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        for url in ["s3:///key", "s3://bucket/a#b", "s3://user:pw@bucket/a"] {
            await #expect(throws: S3AddressError.self, "\(url)") { try await session.load("GET", url) }
        }
        #expect(server.requests.count == 0)
    }

    // MARK: Corrections

    /// A server whose clock is 20 minutes ahead refuses one request; the next one has the corrected date.
    @Test func clockSkew() async throws {
        let server = try LoopbackServer { request in
            guard request.fields[name: "X-Amz-Date"] == "20150830T125600Z" else {
                return Self.error("RequestTimeTooSkewed", 403).adding("Date", "Sun, 30 Aug 2015 12:56:00 GMT")
            }
            return .text(request.bodyText)
        }
        defer { server.stop() }
        let date = Date(timeIntervalSince1970: 1_440_938_160)
        let session = try URLSession.s3(server.url(), change: { $0.clock = S3Clock(date: { date }, sleep: { _ in }) })
        #expect(try await session.load("PUT", "s3://bucket/k", body: Data("body".utf8)).data == Data("body".utf8))
        _ = try await session.load("GET", "s3://bucket/k")
        #expect(server.requests.count == 3)
    }

    @Test func clockSkewThatStays() async throws {
        let server = try LoopbackServer { _ in
            Self.error("RequestTimeTooSkewed", 403).adding("Date", "Sun, 30 Aug 2015 12:56:00 GMT")
        }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        #expect(await s3Error { try await session.load("GET", "s3://bucket/k") }?.kind == .clockSkewed)
        #expect(server.requests.count == 2)
    }

    /// Each of these answers contains the region; the next request to the bucket is signed for it at once.
    @Test(arguments: ["301", "301 to HEAD", "400"]) func otherRegion(kind: String) async throws {
        let server = try LoopbackServer { request in
            if Self.region(request) == "eu-west-1" || request.path == "/other/k" { return .text("") }
            switch kind {
            case "301": return Self.error("PermanentRedirect", 301).adding("x-amz-bucket-region", "eu-west-1")
            case "400": return Self.error("AuthorizationHeaderMalformed", 400, more: "<Region>eu-west-1</Region>")
            default: return ServerResponse(301).adding("x-amz-bucket-region", "eu-west-1")
            }
        }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        let method = kind == "301 to HEAD" ? "HEAD" : "GET"
        _ = try await session.load(method, "s3://bucket/k")
        _ = try await session.load(method, "s3://bucket/k")
        _ = try await session.load(method, "s3://other/k")
        #expect(
            server.requests.snapshot.compactMap(Self.region) == ["us-east-1", "eu-west-1", "eu-west-1", "us-east-1"])
    }

    /// A 307 with a `Location` at the endpoint is signed again; no request is sent to another host.
    @Test func redirects() async throws {
        let other = try LoopbackServer { _ in .text("stolen") }
        defer { other.stop() }
        let hasRedirected = Box(false)
        let server = try LoopbackServer { request in
            switch (request.path, hasRedirected.value) {
            case ("/bucket/once", false):
                hasRedirected.value = true
                return .redirect(to: "/bucket/once", status: 307)
            case ("/bucket/once", true): return .text(request.bodyText)
            case ("/bucket/ever", _): return .redirect(to: "/bucket/ever", status: 307)
            default: return .redirect(to: other.url("/"), status: 307)
            }
        }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        let (data, response) = try await session.load("PUT", "s3://bucket/once", body: Data("body".utf8))
        #expect(data == Data("body".utf8) && response.url?.absoluteString == "s3://bucket/once")
        #expect(await s3Error { try await session.load("GET", "s3://bucket/ever") }?.kind == .wrongRegion)
        #expect(await s3Error { try await session.load("GET", "s3://bucket/away") }?.kind == .wrongRegion)
        #expect(other.requests.count == 0)
    }

    /// A session that continues an upload learns the region from the answer to a part, whose stream it cannot send
    /// again: the part gets a new one.
    @Test(arguments: [301, 400]) func otherRegionOfAContinuedUpload(status: Int) async throws {
        let server = try Self.multipartServer(fails: { _, request in
            guard Self.region(request) != "eu-west-1" else { return nil }
            return status == 400
                ? Self.error("AuthorizationHeaderMalformed", 400, more: "<Region>eu-west-1</Region>")
                : Self.error("PermanentRedirect", 301).adding("x-amz-bucket-region", "eu-west-1")
        })
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write(content(250_000), to: "file")
        let upload = S3Upload(
            url: try #require(URL(string: "s3://bucket/k")), uploadID: "u/1", size: 250_000, partSize: 100_000,
            parts: [])
        var options = S3UploadOptions()
        options.partsAtOnce = 1
        options.clock = S3Clock(date: { Date() }, sleep: { _ in })
        let object = try await S3(try URLSession.s3(server.url()))
            .continueUpload(upload, fromFile: file, options: options)
        #expect(object.eTag == "\"whole\"")
        let requests = server.requests.snapshot
        #expect(requests.map(\.method) == ["PUT", "PUT", "PUT", "PUT", "POST"])
        #expect(requests.compactMap(Self.region) == ["us-east-1"] + [String](repeating: "eu-west-1", count: 4))
    }

    /// Returns other credentials each time.
    private final class Rotating: S3CredentialsProvider {
        let count = Mutex(0)
        func credentials() async throws -> S3Credentials {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return S3Credentials(accessKeyID: "KEY\(number)", secretAccessKey: "s")
        }
    }

    @Test(arguments: [("ExpiredToken", 400), ("InvalidAccessKeyId", 403)])
    func credentialsThatAreOver(code: String, status: Int) async throws {
        let server = try LoopbackServer { request in
            request.fields[name: "Authorization"]?.contains("=KEY2/") == true
                ? .text("") : Self.error(code, status)
        }
        defer { server.stop() }
        let source = Rotating()
        let session = try URLSession.s3(server.url(), source)
        _ = try await session.load("GET", "s3://bucket/k")
        _ = try await session.load("GET", "s3://bucket/k")
        #expect(source.count.withLock { $0 } == 2 && server.requests.count == 3)
    }

    /// The source has no others.
    @Test(arguments: [("ExpiredToken", 400), ("InvalidAccessKeyId", 403)])
    func credentialsThatAreOverAndStay(code: String, status: Int) async throws {
        let server = try LoopbackServer { _ in Self.error(code, status) }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        #expect(await s3Error { try await session.load("GET", "s3://bucket/k") }?.code == code)
        #expect(server.requests.count == 1)
    }

    // MARK: Errors

    @Test func errors() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/bucket/slow": Self.error("SlowDown", 503).adding("Retry-After", "5")
            case "/bucket/html": .bytes(Array("<html><body>no</body>".utf8), type: "text/html", status: 502)
            case "/bucket/long": .bytes([UInt8](repeating: 60, count: 1 << 20), type: "application/xml", status: 500)
            default: Self.error("AccessDenied", 403)
            }
        }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        let slow = await s3Error { try await session.load("GET", "s3://bucket/slow") }
        #expect(slow?.kind == .slowDown && slow?.retryAfter == 5 && slow?.requestID == "R")
        #expect(await s3Error { try await session.load("GET", "s3://bucket/html") }?.kind == .serverFailure)
        #expect(await s3Error { try await session.load("GET", "s3://bucket/long") }?.kind == .serverFailure)
        let denied = await s3Error { try await session.load("GET", "s3://bucket/k") }
        let text = "\(String(describing: denied)) \(denied?.localizedDescription ?? "")"
        #expect(denied?.kind == .accessDenied && !text.contains("the-secret") && !text.contains("the-token"))
    }

    /// The status is known when the time for the body is over.
    @Test func anErrorWhoseBodyDoesNotCome() async throws {
        let isClosed = Signal()
        let server = try LoopbackServer { _ in
            let body = ServerResponse.Body.stream(.length(1000)) { writer in
                try writer.write("<Error>")
                try writer.waitUntilClientCloses()
                isClosed.fire()
            }
            return ServerResponse(503, body: body)
        }
        defer { server.stop() }
        let session = try URLSession.s3(server.url(), change: { $0.waitForErrorBody = {} })
        try await withTimeout {
            #expect(await s3Error { try await session.load("GET", "s3://bucket/k") }?.kind == .slowDown)
            // The rest of the body is not waited for elsewhere, either.
            await isClosed.wait()
        }
    }

    /// A copy takes time: the server sends the status before it has ended, and then the result or an error.
    @Test func copies() async throws {
        let result = "<?xml version=\"1.0\"?>\n  <CopyObjectResult><ETag>\"e\"</ETag></CopyObjectResult>"
        let error = "<Error><Code>InternalError</Code><RequestId>R</RequestId></Error>"
        let server = try LoopbackServer { request in
            if request.fields[name: "x-amz-copy-source"] == "/other/good" {
                return .bytes(Array(result.utf8), type: "application/xml").adding("x-amz-version-id", "v")
            }
            return .stream(.chunked, type: "application/xml") { body in
                try body.write("<?xml version=\"1.0\"?>\n  ")
                try body.write(error)
            }
        }
        defer { server.stop() }
        let session = try URLSession.s3(server.url())
        let (data, response) = try await session.load(
            "PUT", "s3://bucket/k", fields: ["x-amz-copy-source": "/other/good"])
        #expect(String(decoding: data, as: UTF8.self) == result && response.statusCode == 200)
        #expect(response.value(forHTTPHeaderField: "x-amz-version-id") == "v")
        #expect(response.url?.absoluteString == "s3://bucket/k")
        for url in ["s3://bucket/k", "s3://bucket/k?partNumber=1&uploadId=u"] {
            let failed = await s3Error {
                try await session.load("PUT", url, fields: ["X-Amz-Copy-Source": "/other/bad"])
            }
            #expect(failed?.code == "InternalError" && failed?.statusCode == 200 && failed?.requestID == "R")
        }
        // The content of an object may look like an error document.
        #expect(try await session.load("GET", "s3://bucket/k").data.count > error.utf8.count)
    }

    @Test func noCredentials() async throws {
        let server = try LoopbackServer { _ in .text("") }
        defer { server.stop() }
        let chain = S3CredentialsChain(environment: ["AWS_EC2_METADATA_DISABLED": "true"])
        let session = try URLSession.s3(server.url(), chain)
        await #expect(throws: S3CredentialsError.self) { try await session.load("GET", "s3://bucket/k") }
        #expect(server.requests.count == 0)
    }

    // MARK: Uploads

    /// A server of multipart uploads. `fails` determines which parts fail, `completes` the answer to a completion, and
    /// `object` the answer to a HEAD.
    static func multipartServer(
        fails: @escaping @Sendable (_ part: Int, _ request: ServerRequest) -> ServerResponse? = { _, _ in nil },
        completion: String = "<CompleteMultipartUploadResult><ETag>\"whole\"</ETag></CompleteMultipartUploadResult>",
        completes: @escaping @Sendable (ServerRequest) throws -> ServerResponse? = { _ in nil },
        object: ServerResponse = ServerResponse(404), tls: TLSServerOptions? = nil
    ) throws -> LoopbackServer {
        try LoopbackServer(LoopbackServer.Options(tls: tls)) { request in
            let items = CanonicalRequest.QueryItem.items(of: request.query ?? "")
            let number = items.first { $0.encodedName == "partNumber" }.flatMap {
                Int(String(decoding: $0.value, as: UTF8.self))
            }
            switch (request.method, number) {
            case ("PUT", let number?):
                return fails(number, request) ?? ServerResponse().adding("ETag", "\"p\(number)\"")
            case ("POST", _) where request.query == "uploads=":
                return .text("<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>")
            case ("POST", _): return try completes(request) ?? .text(completion)
            case ("DELETE", _): return ServerResponse(204)
            case ("HEAD", _): return object
            default: return ServerResponse().adding("ETag", "\"single\"")
            }
        }
    }

    /// A session that divides bodies into parts of 100,000 bytes.
    static func inParts(_ server: LoopbackServer, change: (inout S3Options) -> Void = { _ in }) throws -> URLSession {
        try URLSession.s3(
            server.url(),
            change: {
                $0.partSize = 100_000
                change(&$0)
            })
    }

    static func put(_ body: Data, fields: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "s3://bucket/k")))
        request.httpMethod = "PUT"
        request.httpBodyStream = InputStream(data: body)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    @Test func partsOfAStream() async throws {
        let server = try Self.multipartServer()
        defer { server.stop() }
        let session = try Self.inParts(server)
        let fields = ["x-amz-meta-a": "b", "If-None-Match": "*"]
        let (_, response) = try await session.load(try Self.put(content(250_000), fields: fields))
        #expect(response.statusCode == 200 && response.value(forHTTPHeaderField: "ETag") == "\"whole\"")
        let requests = server.requests.snapshot
        #expect(requests.map(\.method) == ["POST", "PUT", "PUT", "PUT", "POST"])
        #expect(requests.dropFirst().dropLast().flatMap(\.body) == Array(content(250_000)))
        #expect(requests.dropFirst().map(\.query).first == "partNumber=1&uploadId=u%2F1")
        #expect(requests.map { $0.fields[name: "x-amz-meta-a"] } == ["b", nil, nil, nil, nil])
        #expect(requests.map { $0.fields[name: "If-None-Match"] } == [nil, nil, nil, nil, "*"])
        #expect(requests.last?.bodyText.contains("<PartNumber>3</PartNumber><ETag>&quot;p3&quot;</ETag>") == true)
    }

    /// A body with a checksum is sent in one request, so that the server verifies it. A body that must be divided is
    /// refused.
    @Test(arguments: ["Content-MD5", "x-amz-checksum-crc32"]) func checksums(field: String) async throws {
        let server = try Self.multipartServer()
        defer { server.stop() }
        let session = try Self.inParts(server) { $0.multipartThreshold = 150_000 }
        let fields = [field: "c"]
        _ = try await session.load("PUT", "s3://bucket/k", body: content(250_000), fields: fields)
        _ = try await session.load(try Self.put(content(1_000), fields: fields))
        let requests = server.requests.snapshot
        #expect(requests.map(\.method) == ["PUT", "PUT"] && requests.map(\.body.count) == [250_000, 1_000])
        #expect(requests.allSatisfy { $0.fields[name: field] == "c" })
        let error = await #expect(throws: S3UploadError.self) {
            try await session.load(try Self.put(content(250_000), fields: fields))
        }
        let text = error?.localizedDescription.lowercased()
        #expect(text?.hasPrefix("\(field.lowercased()) is a checksum of the whole body") == true)
        let folder = try TemporaryFolder()
        let (file, url) = (try folder.write(content(1_000), to: "file"), try #require(URL(string: "s3://bucket/k")))
        var options = S3UploadOptions()
        options.fields = fields
        let checked = options
        await #expect(throws: S3UploadError.self) {
            try await S3(session).upload(fromFile: file, to: url, options: checked)
        }
        let upload = S3Upload(url: url, uploadID: "u", size: 1_000, partSize: 1_000, parts: [])
        await #expect(throws: S3UploadError.self) {
            try await S3(session).continueUpload(upload, fromFile: file, options: checked)
        }
        #expect(server.requests.count == 2)
    }

    /// A failed part is sent again after a wait; then the upload fails, and is aborted.
    @Test func partsThatFail() async throws {
        let failures = Box(0)
        let server = try Self.multipartServer(fails: { number, request in
            guard number == 2,
                failures.next() < 3
            else { return nil }
            return Self.error("InternalError", 500)
        })
        defer { server.stop() }
        let pauses = Recorder<TimeInterval>()
        let clock = S3Clock(date: { Date() }, sleep: { pauses.append($0) })
        func session(_ attempts: Int) throws -> URLSession {
            try URLSession.s3(
                server.url(),
                change: {
                    $0.partSize = 100_000
                    $0.partAttempts = attempts
                    $0.clock = clock
                })
        }
        _ = try await session(3).load(try Self.put(content(250_000)))
        #expect(pauses.count == 2 && !server.requests.snapshot.contains { $0.method == "DELETE" })
        failures.value = 0
        let failed = try session(2)
        #expect(await s3Error { try await failed.load(try Self.put(content(250_000))) }?.kind == .serverFailure)
        try await withTimeout { try await waitUntil { server.requests.snapshot.contains(where: Self.isAbort) } }
    }

    /// The place where a program trusts a server.
    enum TrustPlace: CaseIterable {
        case session, sessionForTasks, task

        fileprivate var delegates: (session: (any URLSessionDelegate)?, task: (any URLSessionTaskDelegate)?) {
            switch self {
            case .session: (SessionTrust(), nil)
            case .sessionForTasks: (TaskTrust(), nil)
            case .task: (nil, TaskTrust())
            }
        }
    }

    /// Replaces the signatures of requests that pass it.
    private struct Unsigning: LoadInterceptor {
        func canIntercept(_ request: URLRequest) -> Bool { request.url?.scheme == "https" }

        func load(_ load: LoadContext) async throws {
            var request = load.request
            request.setValue("replaced", forHTTPHeaderField: "Authorization")
            try await load.receive(load.next.load(request))
        }
    }

    /// An upload is aborted with what the session was given after the client was installed, and as its delegates answer.
    /// An interceptor gets the abort as little as the upload's other requests.
    @Test(arguments: TrustPlace.allCases) func anAbortIsSentAsInTheSession(_ place: TrustPlace) async throws {
        let server = try Self.multipartServer(
            fails: { number, _ in number == 2 ? Self.error("AccessDenied", 403) : nil },
            tls: TLSServerOptions(try CertificateAuthority().issue()))
        defer { server.stop() }
        var options = try S3Options.forServer(server.url())
        options.partSize = 100_000
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        S3Client(credentials: S3Credentials.ofTests, options: options).install(in: configuration)
        configuration.httpAdditionalHeaders = ["X-Later": "yes"]
        configuration.interceptors = [Unsigning()]
        let delegates = place.delegates
        let session = URLSession(configuration: configuration, delegate: delegates.session, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let error = await s3Error {
            try await session.data(for: try Self.put(content(250_000)), delegate: delegates.task)
        }
        #expect(error?.kind == .accessDenied)
        try await withTimeout {
            try await waitUntil {
                server.requests.snapshot.contains { Self.isAbort($0) && $0.fields[name: "X-Later"] == "yes" }
            }
        }
        #expect(server.requests.snapshot.allSatisfy { $0.fields[name: "Authorization"] != "replaced" })
    }

    private static func isAbort(_ request: ServerRequest) -> Bool {
        request.method == "DELETE" && request.query == "uploadId=u%2F1" && request.fields[name: "Authorization"] != nil
    }

    /// The status is 200, and the body an error.
    @Test func aCompletionThatFails() async throws {
        let server = try Self.multipartServer(completion: "<Error><Code>InvalidPart</Code></Error>")
        defer { server.stop() }
        let session = try Self.inParts(server)
        let error = await s3Error { try await session.load(try Self.put(content(250_000))) }
        #expect(error?.code == "InvalidPart" && error?.statusCode == 200)
        try await withTimeout { try await waitUntil { server.requests.snapshot.contains(where: Self.isAbort) } }
    }

    /// The server fails after it has sent status 200: the completion is requested again, and the upload is not aborted.
    @Test(arguments: ["InternalError", "SlowDown", "ServiceUnavailable", "OperationAborted"])
    func aCompletionThatFailsOnce(code: String) async throws {
        let completions = Box(0)
        let server = try Self.multipartServer(completes: { _ in
            completions.next() == 1 ? Self.error(code, 200) : nil
        })
        defer { server.stop() }
        let session = try Self.inParts(server) { $0.clock = S3Clock(date: { Date() }, sleep: { _ in }) }
        let (_, response) = try await session.load(try Self.put(content(250_000)))
        #expect(response.value(forHTTPHeaderField: "ETag") == "\"whole\"" && completions.value == 2)
        #expect(server.requests.snapshot.map(\.method) == ["POST", "PUT", "PUT", "PUT", "POST", "POST"])
    }

    /// The status is 200, but the answer does not confirm that the object is stored.
    @Test(arguments: ["", " \n", "<html/>", "<CompleteMultipartUploadResult>", "<a></b>"])
    func aCompletionThatSaysNothing(_ completion: String) async throws {
        let server = try Self.multipartServer(completion: completion)
        defer { server.stop() }
        let session = try Self.inParts(server)
        let error = await #expect(throws: S3UploadError.self) { try await session.load(try Self.put(content(250_000))) }
        #expect(error?.localizedDescription.contains("did not say that the object is stored") == true)
        try await withTimeout { try await waitUntil { server.requests.snapshot.contains(where: Self.isAbort) } }
        let folder = try TemporaryFolder()
        let (file, url) = (try folder.write(content(250_000), to: "file"), try #require(URL(string: "s3://bucket/k")))
        var options = S3UploadOptions()
        options.partSize = 100_000
        do {
            _ = try await S3(session).upload(fromFile: file, to: url, options: options)
            Issue.record("the upload is no success")
        } catch S3UploadError.interrupted(let upload, S3UploadError.unexpectedAnswer) {
            #expect(upload.parts.count == 3)
        }
    }

    /// A body that has another length than its request states is not stored: neither in parts, nor in one request.
    @Test(arguments: [700_000, 999_999, 1_000_001, 2_000_000])
    func aStreamOfAnotherLengthThanStated(length: Int) async throws {
        let server = try Self.multipartServer()
        defer { server.stop() }
        let session = try URLSession.s3(server.url(), change: { $0.partSize = 100_000 })
        let request = try Self.put(content(1_000_000), fields: ["Content-Length": "\(length)"])
        let error = await #expect(throws: URLError.self) { try await session.load(request) }
        #expect(error?.code == .requestBodyStreamExhausted)
        try await withTimeout { try await waitUntil { server.requests.snapshot.contains(where: Self.isAbort) } }
        #expect(server.requests.snapshot.filter { $0.method == "POST" }.map(\.query) == ["uploads="])
    }

    @Test(arguments: ["s3://bucket/k", "s3://bucket/k?tagging"], [999, 1_001])
    func aShortStreamOfAnotherLengthThanStated(url: String, length: Int) async throws {
        let server = try Self.multipartServer()
        defer { server.stop() }
        let session = try URLSession.s3(server.url(), change: { $0.partSize = 100_000 })
        var request = try Self.put(content(1_000), fields: ["Content-Length": "\(length)"])
        request.url = URL(string: url)
        let sent = request
        let error = await #expect(throws: URLError.self) { try await session.load(sent) }
        #expect(error?.code == .requestBodyStreamExhausted && server.requests.count == 0)
    }

    /// The task is cancelled while a part is sent.
    @Test func aStreamThatIsCancelled() async throws {
        let arrived = Signal()
        let server = try Self.multipartServer(fails: { number, request in
            guard number == 1 else { return nil }
            arrived.fire()
            try? request.exchange.waitUntilClientCloses()
            return nil
        })
        defer { server.stop() }
        let session = try Self.inParts(server)
        let request = try Self.put(content(250_000))
        let task = Task { try await session.load(request) }
        await arrived.wait()
        task.cancel()
        #expect(((await task.result).failure as? URLError)?.code == .cancelled)
        try await withTimeout { try await waitUntil { server.requests.snapshot.contains(where: Self.isAbort) } }
    }

    /// A part is refused while the program writes nothing more to the stream.
    @Test func aPartThatIsRefusedWhileTheStreamIsQuiet() async throws {
        let server = try Self.multipartServer(fails: { _, _ in Self.error("AccessDenied", 403) })
        defer { server.stop() }
        let session = try Self.inParts(server)
        let (goOn, bytesRead) = (Signal(), Box(0))
        defer { goOn.fire() }
        var request = try Self.put(Data())
        request.httpBodyStream = FunctionStream { buffer, room in
            let piece = bytesRead.update { done in
                let piece = min(room, 150_000 - done)
                buffer.update(repeating: 0, count: piece)
                done += piece
                return piece
            }
            if piece == 0 { goOn.waitBlocking() }
            return piece
        }
        let sent = request
        let error = await s3Error { try await session.load(sent) }
        #expect(error?.kind == .accessDenied)
        try await withTimeout { try await waitUntil { server.requests.snapshot.contains(where: Self.isAbort) } }
    }

    /// The stream goes on when the upload has failed: the read that was under way is the last one.
    @Test func aStreamThatGoesOnAfterARefusal() async throws {
        let (waits, goOn, bytesRead) = (Signal(), Signal(), Box(0))
        defer { goOn.fire() }
        let server = try Self.multipartServer(fails: { _, request in
            try? request.exchange.wait(for: waits)
            return Self.error("AccessDenied", 403)
        })
        defer { server.stop() }
        let session = try Self.inParts(server)
        var request = try Self.put(Data())
        request.httpBodyStream = FunctionStream { buffer, room in
            let done = bytesRead.value
            // Of the second part the half is there, and the rest would take 50 reads.
            let piece = done < 150_000 ? min(room, 150_000 - done) : 1_000
            if done >= 150_000 {
                waits.fire()
                goOn.waitBlocking()
            }
            buffer.update(repeating: 0, count: piece)
            bytesRead.update { $0 += piece }
            return piece
        }
        let sent = request
        let error = await s3Error { try await session.load(sent) }
        #expect(error?.kind == .accessDenied)
        goOn.fire()
        try await withTimeout { try await waitUntil { bytesRead.value >= 151_000 } }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(bytesRead.value == 151_000)
    }

    /// An endless stream is read at most two parts ahead of the server.
    @Test func atMostTwoParts() async throws {
        let arrived = Signal()
        let goOn = Signal()
        let server = try Self.multipartServer(fails: { number, request in
            guard number == 1 else { return nil }
            arrived.fire()
            try? request.exchange.wait(for: goOn)
            return nil
        })
        defer { server.stop() }
        let session = try Self.inParts(server)
        let bytesRead = Box(0)
        let stream = FunctionStream { buffer, room in
            bytesRead.update { done in
                let piece = min(room, 1_000_000 - done)
                buffer.update(repeating: 0, count: piece)
                done += piece
                return piece
            }
        }
        var request = try Self.put(Data())
        request.httpBodyStream = stream
        let sent = request
        let task = Task { try await session.load(sent) }
        await arrived.wait()
        // The second part is read to its end, and a piece of the third to know that it is not the last.
        try await withTimeout { try await waitUntil { bytesRead.value >= 200_001 } }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(bytesRead.value <= 200_000 + 64 << 10)
        goOn.fire()
        _ = try await task.value
        #expect(bytesRead.value == 1_000_000)
    }

    /// Over TLS, a stream of known length is sent unsigned in one request; data is signed.
    @Test func streamsOverTLS() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue()) { _ in ServerResponse().adding("ETag", "\"e\"") }
        defer { server.stop() }
        let session = try URLSession.s3(server.url(host: "localhost")) { _ in
        } configure: {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
        }
        _ = try await session.load(try Self.put(content(10_000), fields: ["Content-Length": "10000"]))
        _ = try await session.load(try Self.put(content(10_000)))
        let requests = server.requests.snapshot
        #expect(
            requests.map { $0.fields[name: "X-Amz-Content-Sha256"] } == [
                "UNSIGNED-PAYLOAD", Digest.hex(of: content(10_000)),
            ])
        #expect(requests.map(\.body) == [Array(content(10_000)), Array(content(10_000))])
        #expect(requests.allSatisfy { $0.fields[name: "Transfer-Encoding"] == nil })
    }

    /// The file of an upload task is digested, and sent in one request or in parts.
    @Test func files() async throws {
        let server = try Self.multipartServer()
        defer { server.stop() }
        let session = try Self.inParts(server) { $0.multipartThreshold = 150_000 }
        let folder = try TemporaryFolder()
        for (count, methods) in [(150_000, ["PUT"]), (150_001, ["POST", "PUT", "PUT", "POST"])] {
            let before = server.requests.count
            var request = URLRequest(url: try #require(URL(string: "s3://bucket/k")))
            request.httpMethod = "PUT"
            _ = try await session.upload(for: request, fromFile: try folder.write(content(count), to: "file"))
            let requests = Array(server.requests.snapshot.dropFirst(before))
            #expect(requests.map(\.method) == methods)
            #expect(requests.filter { $0.method == "PUT" }.flatMap(\.body) == Array(content(count)))
            #expect(requests.allSatisfy { $0.fields[name: "X-Amz-Content-Sha256"] == Digest.hex(of: Data($0.body)) })
        }
    }

    // MARK: Listings

    private static func page(_ content: String, next: Int) -> String {
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>\(next)</NextContinuationToken>\(content)"
            + "</ListBucketResult>"
    }

    /// Each page of parts says that another follows, and has none.
    @Test(arguments: [1, 0]) func partsThatDoNotEnd(step: Int) async throws {
        let numbers = Box(0)
        let server = try LoopbackServer { _ in
            .text(
                "<ListPartsResult><UploadId>u</UploadId><IsTruncated>true</IsTruncated>"
                    + "<NextPartNumberMarker>\(numbers.next() * step + 9_990)</NextPartNumberMarker></ListPartsResult>")
        }
        defer { server.stop() }
        let upload = S3Upload(
            url: try #require(URL(string: "s3://bucket/k")), uploadID: "u", size: 5, partSize: 5, parts: [])
        let s3 = S3(try URLSession.s3(server.url()))
        await #expect(throws: S3UploadError.self) { try await s3.storedParts(of: upload) }
        #expect(server.requests.count == (step == 0 ? 2 : 11))
    }

    @Test func listingsThatDoNotEnd() async throws {
        let numbers = Box(0)
        let server = try LoopbackServer { request in
            switch request.path {
            case "/same-page":
                return .text(
                    "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
                        + "<Contents><Key>k</Key></Contents></ListBucketResult>")
            case "/too-long": return .bytes([UInt8](repeating: 32, count: (16 << 20) + 1))
            case "/empty-pages": return .text(Self.page("<Contents/>", next: numbers.next()))
            case "/prefixes":
                return .text(Self.page("<CommonPrefixes><Prefix>p</Prefix></CommonPrefixes>", next: numbers.next()))
            default: return .text("<html>")
            }
        }
        defer { server.stop() }
        let s3 = S3(try URLSession.s3(server.url()))
        await #expect(throws: S3ListingError.repeatedPage) { for try await _ in s3.objects(in: "same-page") {} }
        let tooLong = await #expect(throws: URLError.self) { for try await _ in s3.objects(in: "too-long") {} }
        #expect(tooLong?.code == .dataLengthExceedsMaximum)
        #expect(
            tooLong?.localizedDescription.contains("s3://too-long/: the server's answer has more than 16777216 bytes")
                == true)
        // Each page has another token, and no entries.
        for bucket in ["empty-pages", "prefixes"] {
            numbers.value = 0
            let error = await #expect(throws: S3ListingError.self) { for try await _ in s3.objects(in: bucket) {} }
            #expect(error == .emptyPages(100) && numbers.value == 100)
            #expect(error?.localizedDescription.contains("it may never end") == true)
        }
        // A program gets all entries, regardless of the number of pages.
        numbers.value = 0
        var count = 0
        for try await _ in s3.entries(in: "prefixes", delimiter: "/") {
            count += 1
            if count == 150 { break }
        }
        #expect(numbers.value == 150)
        await #expect(throws: S3ListingError.malformed) { for try await _ in s3.objects(in: "no-xml") {} }
    }

    // MARK: The contract

    @Test func keepsTheContract() async throws {
        let whole = content(300_000)
        let server = try LoopbackServer { request in
            switch request.path {
            case "/bucket/whole": .bytes(Array(whole))
            case "/bucket/upload": .text("", status: 201)
            default: Self.error("NoSuchKey", 404)
            }
        }
        defer { server.stop() }
        func url(_ key: String) throws -> URL { try #require(URL(string: "s3://bucket/\(key)")) }
        var upload = URLRequest(url: try url("upload"))
        upload.httpMethod = "PUT"
        let client = S3Client(credentials: S3Credentials.ofTests, options: try .forServer(server.url()))
        let report = await HandlerConformance([
            .resource(try url("whole")), .upload(upload), .failure(try url("none")),
        ]) { client.install(in: $0) }.run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.checks.count > 20)
    }
}

extension Box<Int> {
    func next() -> Int {
        update { value in
            value += 1
            return value
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

private final class SessionTrust: NSObject, URLSessionDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}

private final class TaskTrust: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}
