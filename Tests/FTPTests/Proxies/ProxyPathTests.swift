import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Each path of the library goes by the session's proxies, wherever they are named: a table of paths, kinds of proxies and
/// settings. Background transfers are in `BackgroundProxyTests`.
@Suite struct ProxyPathTests {
    enum Path: String, CaseIterable, Sendable {
        case http, https, webSocket, ftp, stream
    }

    enum Source: String, CaseIterable, Sendable {
        case environment, dictionary, resolver

        func apply(_ proxy: RelayProxy, to configuration: URLSessionConfiguration) throws {
            configuration.connectionProxyDictionary = nil
            switch self {
            case .environment:
                configuration.settings.proxyEnvironment = ProxyEnvironment(["all_proxy": proxy.url])
            case .dictionary:
                configuration.connectionProxyDictionary = [
                    kCFNetworkProxiesSOCKSEnable: true, kCFNetworkProxiesSOCKSProxy: proxy.url,
                ]
            case .resolver: configuration.proxyResolver = OneProxy(choice: try #require(ProxyChoice(proxy.url)))
            }
        }
    }

    private struct OneProxy: ProxyResolver {
        let choice: ProxyChoice

        func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] { [choice] }
    }

    private struct World {
        let authority: CertificateAuthority
        let proxy: RelayProxy

        init(_ kind: RelayProxy.Kind, credential: String? = nil, isTrusted: Bool = true) throws {
            authority = try CertificateAuthority()
            let issuer = isTrusted ? authority : try CertificateAuthority()
            proxy = try RelayProxy(kind, tls: kind == .https ? issuer.issue() : nil, credential: credential)
        }

        func session(_ source: Source, _ delegate: (any URLSessionDelegate)? = nil) throws -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 1000
            configuration.appTransportSecurity.allowsArbitraryLoads = true
            configuration.tlsTrustRoots = .pem(authority.certificatePEM)
            try source.apply(proxy, to: configuration)
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        }
    }

    /// A name that is none: what does not go through the proxy does not arrive.
    private static let host = "server"

    @Test(arguments: Path.allCases, RelayProxy.Kind.allCases)
    func thePathGoesThroughTheProxy(_ path: Path, _ kind: RelayProxy.Kind) async throws {
        for source in Source.allCases {
            let world = try World(kind)
            defer { world.proxy.stop() }
            let session = try world.session(source)
            defer { session.invalidateAndCancel() }
            try await withTimeout("\(source)") {
                let destination = try await load(path, session, world.authority, isForwarded: kind.speaksHTTP)
                Self.check(world.proxy, path, destination)
            }
        }
    }

    /// FTP's data connection has a tunnel of its own, to the same host.
    private static func check(_ proxy: RelayProxy, _ path: Path, _ destination: String) {
        let destinations = proxy.destinations
        #expect(destinations.first == destination && destinations.count == (path == .ftp ? 2 : 1), "\(destinations)")
        #expect(path != .ftp || destinations.allSatisfy { $0.hasPrefix("\(host):") })
    }

    /// Loads, and gives where the proxy must have been asked to go to first.
    private func load(
        _ path: Path, _ session: URLSession, _ authority: CertificateAuthority, isForwarded: Bool
    ) async throws -> String {
        switch path {
        case .http, .https:
            let tls = path == .https ? TLSServerOptions(try authority.issue()) : nil
            let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { _ in .text("here") }
            defer { server.stop() }
            // The certificate is for this name; a load that went there directly would leave no note at the proxy.
            let host = path == .https ? "localhost" : Self.host
            let url = try #require(URL(string: server.url("/", host: host)))
            let text = String(decoding: try await session.data(from: url).0, as: UTF8.self)
            let port = server.address.port ?? 0
            guard path == .http, isForwarded else {
                #expect(text == "here")
                return "\(host):\(port)"
            }
            #expect(text == "forwarded")
            return "http://\(host):\(port)/"
        case .webSocket:
            let server = try LoopbackServer(LoopbackServer.Options()) { .webSocket($0) { try $0.echo() } }
            defer { server.stop() }
            let url = server.url("/", host: Self.host).replacing("http", with: "ws")
            let task = session.webSocketTask(with: try #require(URL(string: url)))
            task.resume()
            try await task.send(.string("hello"))
            if case .string("hello") = try await task.receive() {} else { Issue.record("no echo") }
            task.cancel(with: .normalClosure, reason: nil)
            return "\(Self.host):\(server.address.port ?? 0)"
        case .ftp:
            let server = try FaultyFTPServer()
            defer { server.stop() }
            let url = server.url().replacing("127.0.0.1", with: Self.host)
            #expect(await session.outcome(url) == .loaded(FaultyFTPServer.file))
            let port = try #require(URL(string: url)?.port)
            return "\(Self.host):\(port)"
        case .stream:
            let server = try LoopbackServer { _ in .text("here") }
            defer { server.stop() }
            let port = Int(server.address.port ?? 0)
            #expect(try await Self.talk(session.streamTask(withHostName: Self.host, port: port)) == "here")
            return "\(Self.host):\(port)"
        }
    }

    private static func talk(_ task: URLSessionStreamTask) async throws -> String? {
        task.resume()
        try await task.write(Data("GET / HTTP/1.0\r\n\r\n".utf8), timeout: 0)
        let (data, _) = try await task.readData(ofMinLength: 65_536, maxLength: 65_536, timeout: 0)
        task.closeWrite()
        return data.map { String(decoding: $0, as: UTF8.self) }?.components(separatedBy: "\r\n\r\n").last
    }

    // MARK: Failures

    /// A setting that names no valid proxy does not mean a direct connection.
    @Test(arguments: Path.allCases) func aWrongNameFailsTheLoad(_ path: Path) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.appTransportSecurity.allowsArbitraryLoads = true
        configuration.connectionProxyDictionary = nil
        configuration.settings.proxyEnvironment = ProxyEnvironment(["all_proxy": "quic://127.0.0.1:1"])
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let authority = try CertificateAuthority()
        try await withTimeout {
            if path == .ftp {
                let server = try FaultyFTPServer()
                defer { server.stop() }
                #expect(await session.outcome(server.url()) == .failed(.cannotConnectToHost))
                #expect(server.steps == [])
                return
            }
            do {
                _ = try await load(path, session, authority, isForwarded: false)
                Issue.record("it went past the proxy")
            } catch {
                #expect((error as? URLError)?.code == .cannotConnectToHost)
                #expect(error.localizedDescription.contains("all_proxy"), "\(error.localizedDescription)")
            }
        }
    }

    // MARK: Challenges of stream tasks, and about proxies' certificates

    /// Answers challenges as the test says, and notes them.
    private final class Answerer: NSObject, URLSessionTaskDelegate, Sendable {
        let methods = Recorder<String>()
        private let answer: @Sendable (URLProtectionSpace) -> (URLSession.AuthChallengeDisposition, URLCredential?)

        init(
            _ answer: @escaping @Sendable (URLProtectionSpace) -> (URLSession.AuthChallengeDisposition, URLCredential?)
        ) {
            self.answer = answer
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            methods.append("\(space.proxyType ?? "-") \(space.authenticationMethod) \(space.host)")
            return answer(space)
        }
    }

    @Test func aStreamTasksProxyAsksForACredential() async throws {
        let credential = "Basic " + Data("me:secret".utf8).base64EncodedString()
        let world = try World(.http, credential: credential)
        defer { world.proxy.stop() }
        let server = try LoopbackServer { _ in .text("here") }
        defer { server.stop() }
        let port = Int(server.address.port ?? 0)
        for (password, isRight) in [("secret", true), (nil, false)] {
            let delegate = Answerer { _ in
                guard let password else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(user: "me", password: password, persistence: .forSession))
            }
            let session = try world.session(.environment, delegate)
            defer { session.invalidateAndCancel() }
            try await withTimeout {
                do {
                    let task = session.streamTask(withHostName: Self.host, port: port)
                    #expect(try await Self.talk(task) == "here" && isRight)
                } catch {
                    #expect(!isRight && (error as? URLError)?.code == .userAuthenticationRequired)
                }
                let expected = "\(NSURLProtectionSpaceHTTPSProxy) \(NSURLAuthenticationMethodHTTPBasic) 127.0.0.1"
                #expect(delegate.methods.snapshot == [expected])
            }
        }
    }

    /// The delegate decides about a proxy's certificate that the rules do not trust, whatever goes through the proxy.
    @Test(arguments: [Path.http, .https, .webSocket, .ftp, .stream], [true, false])
    func theProxysCertificateIsPutToTheDelegate(_ path: Path, isTrusted: Bool) async throws {
        let world = try World(.https, isTrusted: false)
        defer { world.proxy.stop() }
        let delegate = Answerer { space in
            guard space.isProxy() else { return (.performDefaultHandling, nil) }
            return isTrusted
                ? (.useCredential, space.serverTrust.map { URLCredential(trust: $0) }) : (.rejectProtectionSpace, nil)
        }
        let session = try world.session(.environment, delegate)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            if path == .ftp, !isTrusted {
                let server = try FaultyFTPServer()
                defer { server.stop() }
                #expect(await session.outcome(server.url()) == .failed(.serverCertificateHasUnknownRoot))
                return
            }
            do {
                let destination = try await load(path, session, world.authority, isForwarded: true)
                Self.check(world.proxy, path, destination)
                #expect(isTrusted)
            } catch {
                #expect(!isTrusted && (error as? URLError)?.code == .serverCertificateHasUnknownRoot, "\(error)")
            }
        }
        #expect(delegate.methods.snapshot.first?.hasSuffix("\(NSURLAuthenticationMethodServerTrust) localhost") == true)
        if !isTrusted { #expect(world.proxy.destinations == []) }
    }
}
