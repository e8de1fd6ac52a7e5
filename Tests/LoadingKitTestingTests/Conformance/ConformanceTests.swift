import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import TestSupport
import Testing

/// Handlers that keep the contract, the built-in ones among them: the checks find nothing.
@Suite struct ConformanceTests {
    static let whole = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    /// A scheme with a resource of some size, a redirect, a challenge, a failure, and uploads.
    private final class Model: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "model" }

        override func load(_ load: LoadContext) async throws {
            switch load.url.host {
            case "redirect":
                let next = URLRequest(url: try #require(URL(string: "model://whole")))
                try await load.redirect(to: next, response: try Self.response(load.url, 302))
            case "challenge": try await askFirst(load)
            case "failure": throw CocoaError(.fileReadCorruptFile)
            case "upload":
                var count = 0
                for try await piece in load.body {
                    load.report(progress: piece.count)
                    count += piece.count
                }
                try await load.receive(try Self.response(load.url, 201))
                try await load.receive(Data("\(count)".utf8))
            default:
                try await load.receive(try Self.response(load.url, 200))
                for start in stride(from: 0, to: ConformanceTests.whole.count, by: 50_000) {
                    try await load.receive(ConformanceTests.whole[start..<start + 50_000])
                }
            }
        }

        private func askFirst(_ load: LoadContext) async throws {
            let space = URLProtectionSpace(
                host: "challenge", port: 1, protocol: "model", realm: nil, authenticationMethod: nil)
            let answer = await load.challenge(for: space)
            switch answer.disposition {
            case .useCredential where answer.credential?.user == "user":
                try await load.receive(try Self.response(load.url, 200))
            case .cancelAuthenticationChallenge: throw URLError(.userCancelledAuthentication)
            default: try await load.receive(try Self.response(load.url, 401))
            }
        }

        private static func response(_ url: URL, _ status: Int) throws -> URLResponse {
            try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        }
    }

    @Test func aHandlerThatKeepsTheContract() async throws {
        let credential = URLCredential(user: "user", password: "password", persistence: .none)
        func url(_ host: String) throws -> URL { try #require(URL(string: "model://\(host)")) }
        let report = await HandlerConformance(
            of: Model.self,
            [
                .resource(try url("whole")), .upload(try Self.post(try url("upload"))), .redirect(try url("redirect")),
                .challenge(try url("challenge"), credential: credential), .failure(try url("failure")),
            ]
        ).run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.checks.count > 40)
    }

    private static func post(_ url: URL) throws -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return request
    }

    @Test(arguments: [false, true])
    func http(isHTTP2: Bool) async throws {
        let authority = try CertificateAuthority()
        var options = LoopbackServer.Options(
            tls: isHTTP2 ? TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"]) : nil)
        options.recordsRequests = false
        let server = try LoopbackServer(options) { request in
            switch request.path {
            case "/redirect": return .redirect(to: "/whole")
            case "/challenge":
                guard request.fields[.authorization] == nil else { return .text("welcome") }
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            case "/upload": return .text("\(request.bodyLength)", status: 201)
            case "/failure": try request.exchange.closeAbruptly()
            default: return .bytes(Array(Self.whole))
            }
        }
        defer { server.stop() }
        func url(_ path: String) throws -> URL { try #require(URL(string: server.url(path))) }
        let credential = URLCredential(user: "user", password: "password", persistence: .none)
        let report = await HandlerConformance([
            .resource(try url("/whole")), .upload(try Self.post(try url("/upload"))), .redirect(try url("/redirect")),
            .challenge(try url("/challenge"), credential: credential), .failure(try url("/failure")),
        ]) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }.run()
        #expect(report.findings.isEmpty, "\(report)")
    }

    @Test func fileAndData() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("whole")
        try Self.whole.write(to: file)
        let text = "data:application/octet-stream;base64,\(Data(Self.whole.prefix(3000)).base64EncodedString())"
        let report = await HandlerConformance([
            .resource(file), .resource(try #require(URL(string: text))),
            .failure(folder.url.appendingPathComponent("none")),
        ]).run()
        #expect(report.findings.isEmpty, "\(report)")
    }

    /// Forwards what it gets.
    private final class Forwarder: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            try await load.receive(loaded.response)
            for try await data in loaded.body { try await load.receive(data) }
        }
    }

    @Test func anInterceptor() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("whole")
        try Self.whole.write(to: file)
        var conformance = HandlerConformance(of: Forwarder.self, [.resource(file)])
        conformance.isInterceptor = true
        let report = await conformance.run()
        #expect(report.findings.isEmpty, "\(report)")
    }

    private struct Forwarding: LoadInterceptor {
        let runsOnSessionExecutor: Bool

        func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }

    private struct Marking: LoadAdapter {
        func adapt(_ request: URLRequest) -> URLRequest {
            var request = request
            request.addValue("a", forHTTPHeaderField: "X-A")
            return request
        }
    }

    /// Each letter is an entry: an adapter, an interceptor, and one on the session's executor.
    @Test(arguments: ["a", "aaa", "i", "iii", "sss", "asiaasi"])
    func manyInterceptors(_ entries: String) async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/redirect": return .redirect(to: "/whole")
            case "/upload": return .text("\(request.bodyLength)", status: 201)
            case "/failure": try request.exchange.closeAbruptly()
            default: return .bytes(Array(Self.whole))
            }
        }
        defer { server.stop() }
        func url(_ path: String) throws -> URL { try #require(URL(string: server.url(path))) }
        let report = await HandlerConformance([
            .resource(try url("/whole")), .upload(try Self.post(try url("/upload"))), .redirect(try url("/redirect")),
            .failure(try url("/failure")),
        ]) { configuration in
            configuration.interceptors = entries.map { entry -> any LoadInterceptor in
                if entry == "a" { return Marking() }
                return Forwarding(runsOnSessionExecutor: entry == "s")
            }
        }.run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.checks.count > 30)
    }
}
