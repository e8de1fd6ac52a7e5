import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The sharing between two of anything, by the table in `SecurityModel.md`: each row is a pair, each column a thing that
/// might be shared between them. The columns are checked over HTTP/1.1 and HTTP/2, where a connection's stream is one.
@Suite struct IdentityTests {
    enum Column: String, CaseIterable {
        case connection, tlsSession, cacheEntry, cookie, hsts, credential, resumeData
    }

    /// One of a pair: loads in a session, with a delegate of its own or without.
    struct Party: Sendable {
        let session: URLSession
        var delegate: Answerer?
        var user: String?
        /// The proxies of the session; nothing else holds them.
        var proxy: LoopbackServer?

        func load(_ server: LoopbackServer, _ path: String) async -> Outcome {
            await session.outcome(request(server, path), delegate: delegate)
        }

        func request(_ server: LoopbackServer, _ path: String) -> URLRequest {
            var components = URLComponents(string: server.url(path, host: "localhost"))
            components?.user = user
            components?.password = user
            return URLRequest(url: components?.url ?? URL(fileURLWithPath: "/"))
        }
    }

    /// Accepts the server, and answers for a user.
    final class Answerer: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
        private let user: String?
        private let persistence: URLCredential.Persistence
        private let accepts: Bool
        /// Told when a task of the delegate's has got a 104.
        let peer = Guarded<UploadPeer?>(nil)

        init(_ user: String?, _ persistence: URLCredential.Persistence = .forSession, accepts: Bool = true) {
            (self.user, self.persistence, self.accepts) = (user, persistence, accepts)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeAnswerHandler
        ) {
            if let trust = challenge.protectionSpace.serverTrust {
                return accepts
                    ? completionHandler(.useCredential, URLCredential(trust: trust))
                    : completionHandler(.performDefaultHandling, nil)
            }
            guard let user, challenge.previousFailureCount == 0 else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, URLCredential(user: user, password: user, persistence: persistence))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            peer.withLock { $0 }?.interimSeen.fire()
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        /// The things that they share because the program wants it: everything else is kept apart.
        let shared: Set<Column>
        var trustsServer = true
        /// Whether each request goes out without the credential first.
        var asksAgain = false
        /// Makes the pair, of sessions with this configuration.
        let make:
            @Sendable (_ configure: @escaping @Sendable (URLSessionConfiguration) -> Void) throws -> (Party, Party)

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "two sessions", shared: []) { configure in
            (Party(session: makeSession(configure), delegate: Answerer("a")), Party(session: makeSession(configure)))
        },
        Row(name: "two sessions with the same stores", shared: [.cacheEntry, .cookie, .credential, .hsts]) {
            configure in
            let first = makeSession(configure)
            let second = URLSession(configuration: first.configuration)
            return (Party(session: first, delegate: Answerer("a")), Party(session: second))
        },
        Row(
            name: "two tasks with delegates of their own, a credential for the session",
            shared: [.cacheEntry, .cookie, .credential, .hsts]
        ) { configure in
            let session = makeSession(configure)
            return (
                Party(session: session, delegate: Answerer("a")), Party(session: session, delegate: Answerer(nil))
            )
        },
        Row(
            name: "two tasks with delegates of their own, a credential for the request",
            shared: [.cacheEntry, .cookie, .hsts], asksAgain: true
        ) { configure in
            let session = makeSession(configure)
            return (
                Party(session: session, delegate: Answerer("a", .none)),
                Party(session: session, delegate: Answerer(nil))
            )
        },
        Row(name: "two trust decisions", shared: [.cookie, .credential], trustsServer: false) { configure in
            let session = makeSession(configure)
            return (
                Party(session: session, delegate: Answerer("a")),
                Party(session: session, delegate: Answerer(nil))
            )
        },
        Row(name: "two users", shared: [.connection, .cookie, .hsts]) { configure in
            let session = makeSession(configure)
            return (Party(session: session, user: "a"), Party(session: session, user: "b"))
        },
        Row(name: "a user and nobody", shared: [.connection, .cookie, .hsts]) { configure in
            let session = makeSession(configure)
            return (Party(session: session, user: "a"), Party(session: session))
        },
        Row(name: "two proxies, the same stores", shared: [.cacheEntry, .cookie, .credential, .hsts]) { configure in
            try IdentityTests.behind(ConnectProxy.make(), ConnectProxy.make(), configure)
        },
        Row(name: "two users of a proxy, the same stores", shared: [.cacheEntry, .cookie, .credential, .hsts]) {
            configure in
            let proxy = try ConnectProxy.make()
            return try IdentityTests.behind(proxy, proxy, users: ("a", "b"), configure)
        },
        Row(name: "a proxy and none, the same stores", shared: [.cacheEntry, .cookie, .credential, .hsts]) {
            configure in
            try IdentityTests.behind(ConnectProxy.make(), nil, configure)
        },
    ]

    /// Two sessions with the same stores, which go through proxies.
    private static func behind(
        _ first: LoopbackServer, _ second: LoopbackServer?, users: (String?, String?) = (nil, nil),
        _ configure: (URLSessionConfiguration) -> Void
    ) throws -> (Party, Party) {
        let session = makeSession { configuration in
            configure(configuration)
            configuration.connectionProxyDictionary = ConnectProxy.dictionary(first, user: users.0)
        }
        let configuration = session.configuration
        configuration.connectionProxyDictionary = second.map { ConnectProxy.dictionary($0, user: users.1) } ?? [:]
        return (
            Party(session: session, delegate: Answerer("a"), proxy: first),
            Party(session: URLSession(configuration: configuration), proxy: second)
        )
    }

    @Test(arguments: rows, BothVersions.all) func table(_ row: Row, version: String) async throws {
        let authority = try CertificateAuthority()
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: [version])
        let server = try LoopbackServer(LoopbackServer.Options(tls: options), route: IdentityServer().route)
        defer { server.stop() }
        let trusted = row.trustsServer ? authority.certificatePEM : try CertificateAuthority().certificatePEM
        let (first, second) = try row.make { $0.tlsTrustRoots = .pem(trusted) }
        try await withTimeout {
            let before = try await Self.facts(of: first, server)
            var shared = Set<Column>()
            let hosts = second.session.core.settings.hsts
            if hosts.requiresSecureConnection(to: "localhost") { shared.insert(.hsts) }
            let after = try await Self.facts(of: second, server)
            if after.connection == before.connection { shared.insert(.connection) }
            if after.isResumed { shared.insert(.tlsSession) }
            if after.cached == before.cached { shared.insert(.cacheEntry) }
            if after.cookie.contains("of=the-first") { shared.insert(.cookie) }
            if after.user == "a" { shared.insert(.credential) }
            #expect(before.cookie == "" && before.user == "a")
            let sharesCredential = shared.contains(.credential)
            if try await Self.resumes(first, second, server, sharesCredential: sharesCredential) {
                shared.insert(.resumeData)
            }
            #expect(shared == row.shared)
            // Each has gone through its own.
            for party in [first, second] {
                guard let proxy = party.proxy else { continue }
                let users = Set(proxy.requests.snapshot.map { $0.fields[.proxyAuthorization] })
                #expect(users.contains(party.session.configuration.proxyAuthorization), "\(users)")
            }
        }
    }

    private struct Facts {
        var connection: String
        var isResumed: Bool
        var cached: String
        var cookie: String
        var user: String
    }

    private static func facts(of party: Party, _ server: LoopbackServer) async throws -> Facts {
        // A server that is not trusted says nothing.
        func text(_ path: String) async -> String {
            if case .loaded(200, let body) = await party.load(server, path) { body } else { "nothing of \(UUID())" }
        }
        // First, so that what follows goes with the credentials.
        let user = await text("/secret")
        let cookie = await text("/cookie")
        let connection = await text("/connection").split(separator: " ")
        return Facts(
            connection: String(connection.first ?? ""), isResumed: connection.last == "resumed",
            cached: await text("/cached"), cookie: cookie, user: user)
    }

    /// Whether what one has made of a broken download lets the other in as the first, which it cannot be by itself.
    private static func resumes(
        _ first: Party, _ second: Party, _ server: LoopbackServer, sharesCredential: Bool
    ) async throws -> Bool {
        let request = try BothVersions.request(server, "/file")
        do {
            _ = try await first.session.download(for: request, delegate: first.delegate)
            Issue.record("the download did not break")
            return false
        } catch let error as URLError {
            let data = try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
            let sent = server.requests.snapshot.last { $0.path == "/file" }?.fields[.authorization]
            if let sent, data.range(of: Data(sent.dropFirst(6).utf8)) != nil { return true }
            server.requests.removeAll()
            _ = try? await second.session.download(resumeFrom: data, delegate: second.delegate)
            let user = server.requests.snapshot.last { $0.path == "/file" }.flatMap { $0.basicUser }
            return user == "a" && !sharesCredential
        }
    }
}

extension URLSessionConfiguration {
    /// The requests to the proxy that the configuration names.
    fileprivate var proxyAuthorization: String? {
        guard let user = connectionProxyDictionary?[kCFProxyUsernameKey] as? String else { return nil }
        return "Basic " + Data("\(user):\(user)".utf8).base64EncodedString()
    }
}

/// A server that tells a client from others, and lets them in by name.
private final class IdentityServer: Sendable {
    private let count = Box(0)

    var route: LoopbackServer.Route {
        { [self] request in
            switch request.path {
            case "/connection":
                return .text("\(request.connection)\(request.tls?.isResumed == true ? " resumed" : " new")").uncached
            case "/cached":
                return .text("\(count.update { $0 += 1; return $0 })").adding("Cache-Control", "max-age=1000")
            case "/cookie":
                return .text(request.fields[.cookie] ?? "").uncached
                    .adding("Set-Cookie", "of=the-first; Secure").adding("Strict-Transport-Security", "max-age=99")
            case "/file":
                return ServerResponse(
                    body: .stream(.length(1_000_000)) { writer in
                        try writer.write([UInt8](repeating: 1, count: 100_000))
                        throw BrokenOff()
                    }
                ).adding("ETag", "\"1\"").adding("Accept-Ranges", "bytes")
            case _:
                guard let user = request.basicUser else {
                    return ServerResponse.text("", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
                }
                return .text(user).uncached
            }
        }
    }

    private struct BrokenOff: Error {}
}

extension ServerResponse {
    fileprivate var uncached: ServerResponse { adding("Cache-Control", "no-store") }
}
