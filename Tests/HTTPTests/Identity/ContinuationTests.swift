import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A load that continues after a break has the same user, route and trust, whatever has changed meanwhile.
@Suite struct ContinuationTests {
    enum Path: String, CaseIterable {
        /// From the resume data of a download that broke.
        case resumedDownload
        /// From the resume data of an upload that broke.
        case resumedUpload
        /// In the task whose upload broke.
        case continuedUpload
    }

    /// The thing that has changed when the load continues. The connection is cut in each case.
    enum Change: String, CaseIterable {
        case nothing
        /// The server has a new certificate of the same authority.
        case certificateIsNew
        /// The server has a certificate of an authority that the session does not trust.
        case certificateIsUntrusted
        /// The certificate is trusted, and the delegate refuses it.
        case delegateRefuses
        case proxyIsGone
        /// The server no longer lets the user in.
        case credentialIsRevoked
    }

    struct Case: CustomTestStringConvertible {
        let path: Path
        let change: Change

        var testDescription: String { "\(path.rawValue), \(change.rawValue)" }

        static let all = Path.allCases.flatMap { path in Change.allCases.map { Case(path: path, change: $0) } }
    }

    private static let body = RangedResource.bytes(1_000_000)

    /// The result of the continued load.
    private enum End: Equatable {
        case whole
        case other(String)
        case failed(URLError.Code)
    }

    @Test(arguments: Case.all, BothVersions.all) func goesOn(_ sample: Case, version: String) async throws {
        let site = try Site(version)
        defer { site.stop() }
        try await withTimeout("\(sample.testDescription) \(version)") {
            let session = site.session()
            defer { session.invalidateAndCancel() }
            // The session knows of both, so that each could be sent at once.
            for user in ["a", nil] {
                #expect(await session.outcome(try site.request(user, "/who")) == .ok(user ?? "b"))
            }
            let end = try await Self.end(of: sample, site, session)
            let seen = site.seen.snapshot
            switch sample.change {
            case .nothing, .certificateIsNew:
                #expect(end == .whole)
                #expect(!seen.isEmpty && Set(seen) == ["a"])
            case .credentialIsRevoked:
                #expect(end != .whole)
                #expect(!seen.isEmpty && Set(seen) == ["a"])
            case .certificateIsUntrusted, .delegateRefuses, .proxyIsGone:
                guard case .failed = end else {
                    Issue.record("\(end)")
                    return
                }
                #expect(seen == [])
            }
            if sample.change == .certificateIsUntrusted { #expect(end == .failed(.serverCertificateHasUnknownRoot)) }
            // Each connection came by the proxy.
            #expect(site.door.connections.count == site.proxy.requests.count)
        }
    }

    private static func end(of sample: Case, _ site: Site, _ session: URLSession) async throws -> End {
        switch sample.path {
        case .resumedDownload:
            site.resource.change { $0.breaksAfter = 400_000 }
            let data = try await resumeData(NSURLSessionDownloadTaskResumeData) {
                _ = try await session.download(for: try site.request("a", "/file"))
            }
            site.resource.change { $0.breaksAfter = nil }
            site.change(sample.change)
            return await Self.end {
                let (file, response) = try await session.download(resumeFrom: data)
                defer { try? FileManager.default.removeItem(at: file) }
                return (try Data(contentsOf: file) == Data(body), response)
            }
        case .resumedUpload:
            site.peer.change {
                $0.breaks = [400_000]
                $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")]
            }
            let data = try await resumeData(NSURLSessionUploadTaskResumeData) {
                _ = try await session.upload(
                    for: try site.request("a", "/form", "POST"), from: Data(body), delegate: Observer(site))
            }
            site.change(sample.change)
            return await Self.end {
                let (text, response) = try await session.upload(resumeFrom: data)
                return (String(decoding: text, as: UTF8.self) == "took \(body.count)", response)
            }
        case .continuedUpload:
            site.peer.change { $0.breaks = [400_000] }
            let observer = Observer(site, sample.change)
            return await Self.end {
                let (text, response) = try await session.upload(
                    for: try site.request("a", "/form", "POST"), from: Data(body), delegate: observer)
                return (String(decoding: text, as: UTF8.self) == "took \(body.count)", response)
            }
        }
    }

    private static func resumeData(_ key: String, _ load: () async throws -> Void) async throws -> Data {
        do {
            try await load()
            throw POSIXError(.EIO)
        } catch let error as URLError {
            return try #require(error.userInfo[key] as? Data, "\(error)")
        }
    }

    private static func end(_ load: () async throws -> (isWhole: Bool, URLResponse)) async -> End {
        do {
            let (isWhole, response) = try await load()
            return isWhole ? .whole : .other("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
        } catch {
            return .failed((error as? URLError)?.code ?? .unknown)
        }
    }

    /// Has the server change, and its connection break, when the client has seen that the upload can go on.
    private final class Observer: NSObject, URLSessionTaskDelegate, Sendable {
        private let site: Site
        private let change: Change?

        init(_ site: Site, _ change: Change? = nil) {
            self.site = site
            self.change = change
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            if let change { site.change(change, cutsConnections: false) }
            site.peer.interimSeen.fire()
        }
    }

    /// Two servers behind one port, which know the same, and a proxy on the way to them.
    private final class Site: Sendable {
        let resource = RangedResource(body)
        let peer = UploadPeer()
        /// The users of requests since the last change; `-` for none.
        let seen = Recorder<String>()
        let door: Doorway
        let proxy: LoopbackServer
        /// The proxy's port, which refuses connections once the proxy is gone.
        private let proxyPort: RefusingPort
        private let authority: CertificateAuthority
        private let first: LoopbackServer
        private let renewed: LoopbackServer
        private let untrusted: LoopbackServer
        private let allowed = Box<Set<String>>(["a", "b"])
        private let trust = Trust()

        init(_ version: String) throws {
            let authority = try CertificateAuthority()
            self.authority = authority
            let (resource, peer, seen, allowed) = (resource, peer, seen, allowed)
            func server(_ authority: CertificateAuthority) throws -> LoopbackServer {
                var options = LoopbackServer.Options(
                    tls: TLSServerOptions(try authority.issue(), applicationProtocols: [version]))
                peer.serve(&options)
                options.beforeBody = { request in
                    let user = request.basicUser
                    seen.append(user ?? "-")
                    guard let user, allowed.value.contains(user) else {
                        return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
                    }
                    return nil
                }
                return try LoopbackServer(options) { request in
                    switch request.path {
                    case "/who": .text(request.basicUser ?? "-")
                    case "/file": resource.answer(request)
                    case _: try peer.answer(request)
                    }
                }
            }
            first = try server(authority)
            renewed = try server(authority)
            untrusted = try server(CertificateAuthority())
            door = try Doorway(to: first)
            proxyPort = try RefusingPort()
            proxy = try ConnectProxy.make(.ipv4(port: proxyPort.number))
        }

        /// Requests whose URLs name nobody are those of the user `b`.
        func session() -> URLSession {
            makeSession(delegate: trust) { configuration in
                configuration.tlsTrustRoots = .pem(authority.certificatePEM)
                configuration.connectionProxyDictionary = ConnectProxy.dictionary(proxy, user: nil)
                let space = URLProtectionSpace(
                    host: "localhost", port: Int(door.port), protocol: "https", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
                configuration.urlCredentialStorage?.setDefaultCredential(
                    URLCredential(user: "b", password: "b", persistence: .forSession), for: space)
            }
        }

        func request(_ user: String?, _ path: String, _ method: String = "GET") throws -> URLRequest {
            let name = user.map { "\($0):\($0)@" } ?? ""
            var request = URLRequest(url: try #require(URL(string: "https://\(name)localhost:\(door.port)\(path)")))
            request.httpMethod = method
            request.cachePolicy = .reloadIgnoringLocalCacheData
            return request
        }

        /// - Parameter cutsConnections: whether those that are there end: not where an upload's is about to.
        func change(_ change: Change, cutsConnections: Bool = true) {
            seen.removeAll()
            switch change {
            case .nothing: break
            case .certificateIsNew, .delegateRefuses: door.lead(to: renewed)
            case .certificateIsUntrusted: door.lead(to: untrusted)
            case .proxyIsGone: proxy.stop()
            case .credentialIsRevoked: allowed.value = ["b"]
            }
            if change == .delegateRefuses { trust.refuses.withLock { $0 = true } }
            if cutsConnections { first.stop() }
            if cutsConnections, change == .nothing || change == .credentialIsRevoked { door.lead(to: renewed) }
        }

        func stop() {
            for server in [proxy, first, renewed, untrusted] { server.stop() }
            door.stop()
        }
    }

    /// Leaves a server to the rules, or refuses it.
    private final class Trust: NSObject, URLSessionDelegate, Sendable {
        let refuses = Guarded(false)

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeAnswerHandler
        ) {
            let isTrust = challenge.protectionSpace.serverTrust != nil
            completionHandler(
                isTrust && refuses.withLock { $0 } ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        }
    }
}
