import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// On each path of a load, two of anything share nothing beyond the table of ``IdentityTests``. One of the pair takes the
/// path first, and then the other.
@Suite struct IdentityPathTests {
    enum Path: String, CaseIterable, Sendable {
        case webSocket, resumedDownload, resumedUpload, interceptor, nextLoad, redirect

        /// The last step of the path, as the server sees it.
        func isLast(_ request: ServerRequest) -> Bool {
            switch self {
            case .webSocket: request.path == "/chat"
            case .resumedDownload: request.fields.contains(.range)
            case .resumedUpload: request.method == "PATCH"
            case .interceptor: request.path == "/intercepted"
            case .nextLoad: request.path == "/forwarded"
            case .redirect: request.path == "/end" && request.query == "redirected"
            }
        }
    }

    private struct Seen: Sendable {
        let user: String?
        let connection: Int
        let isResumed: Bool
        let cookie: String?
        let isLast: Bool
    }

    @Test(arguments: IdentityTests.rows, Path.allCases)
    func nothingElseIsShared(_ row: IdentityTests.Row, path: Path) async throws {
        for version in BothVersions.all {
            let authority = try CertificateAuthority()
            let site = try Site(try authority.issue(), version, path)
            defer { site.server.stop() }
            let trusted = row.trustsServer ? authority.certificatePEM : try CertificateAuthority().certificatePEM
            let (first, second) = try row.make {
                $0.tlsTrustRoots = .pem(trusted)
                $0.protocolClasses = [Forwarder.self] + ($0.protocolClasses ?? [])
                $0.interceptors = [Interceptor()]
            }
            try await withTimeout("\(row.name), \(path.rawValue), \(version)") {
                let before = try await site.walk(path, first)
                let after = try await site.walk(path, second)
                // The path is walked to its end, and as the user from where that is known.
                #expect(before.contains { $0.isLast && $0.user == "a" }, "\(path.rawValue), \(version)")
                #expect(
                    before.drop { $0.user == nil }.allSatisfy { $0.user == "a" || row.asksAgain && $0.user == nil })
                var shared = Set<IdentityTests.Column>()
                let connections = Set(before.map(\.connection))
                if after.contains(where: { connections.contains($0.connection) }) { shared.insert(.connection) }
                if Self.resumesAnothers(after) { shared.insert(.tlsSession) }
                if after.contains(where: { $0.cookie?.contains("of=the-first") == true }) { shared.insert(.cookie) }
                if after.contains(where: { $0.user == "a" }) { shared.insert(.credential) }
                // Where they share connections, another one goes on with the TLS session of the first.
                if row.shared.contains(.connection) { shared.remove(.tlsSession) }
                #expect(shared.isSubset(of: row.shared), "\(path.rawValue), \(version): \(shared)")
            }
        }
    }

    /// Whether the first connection resumes a TLS session. Later ones may resume one of the walker's own.
    private static func resumesAnothers(_ seen: [Seen]) -> Bool {
        seen.contains { $0.isResumed && $0.connection == seen.first?.connection }
    }

    /// A server on which each path can be walked twice, which lets users in by name.
    private final class Site: Sendable {
        let server: LoopbackServer
        private let seen: Recorder<Seen>
        private let resource: RangedResource
        private let peers: [UploadPeer]
        /// Which of the pair walks.
        private let walker = Box(0)

        init(_ identity: ServerIdentity, _ version: String, _ path: Path) throws {
            let (seen, resource, walker) = (Recorder<Seen>(), RangedResource(RangedResource.bytes(300_000)), walker)
            let peers = [UploadPeer(), UploadPeer()]
            (self.seen, self.resource, self.peers) = (seen, resource, peers)
            let parts = peers.map { peer in
                var options = LoopbackServer.Options()
                peer.serve(&options)
                return options
            }
            var options = LoopbackServer.Options(tls: TLSServerOptions(identity, applicationProtocols: [version]))
            options.interimResponses = { try parts[walker.value].interimResponses?($0) ?? [] }
            options.receiveBody = { try parts[walker.value].receiveBody?($0, $1) }
            options.beforeBody = { request in
                let user = request.basicUser
                seen.append(
                    Seen(
                        user: user, connection: request.connection, isResumed: request.tls?.isResumed == true,
                        cookie: request.fields[.cookie], isLast: path.isLast(request)))
                return user == nil ? ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"") : nil
            }
            server = try LoopbackServer(options) { request in
                switch request.path {
                case "/go": .redirect(to: "/end?redirected")
                case "/file": resource.answer(request)
                case "/chat": .webSocket(request) { try $0.send("hello") }
                case "/form",
                    _ where request.path.hasPrefix("/uploads/"):
                    try peers[walker.value].answer(request)
                case _:
                    .text("end").adding("Set-Cookie", "of=the-first; Secure").adding("Cache-Control", "no-store")
                }
            }
        }

        /// The requests that the server has seen.
        func walk(_ path: Path, _ party: IdentityTests.Party) async throws -> [Seen] {
            seen.removeAll()
            // So that there is a connection, of HTTP/2 for a WebSocket too, and the session has what it would share.
            _ = await party.load(server, "/end")
            switch path {
            case .webSocket: await openWebSocket(party)
            case .resumedDownload: await download(party)
            case .resumedUpload: await upload(party)
            case .interceptor: _ = await party.load(server, "/intercepted")
            case .nextLoad: _ = await party.load(server, "/forwarded")
            case .redirect: _ = await party.load(server, "/go")
            }
            walker.value = 1
            return seen.snapshot
        }

        private func openWebSocket(_ party: IdentityTests.Party) async {
            guard let url = party.request(server, "/chat").url?.absoluteString,
                let chat = URL(string: url.replacing("https:", with: "wss:"))
            else { return }
            let task = party.session.webSocketTask(with: chat)
            task.delegate = party.delegate
            task.resume()
            _ = try? await task.receive()
            task.cancel()
        }

        private func download(_ party: IdentityTests.Party) async {
            resource.change { $0.breaksAfter = 100_000 }
            defer { resource.change { $0.breaksAfter = nil } }
            do {
                let (file, _) = try await party.session.download(
                    for: party.request(server, "/file"), delegate: party.delegate)
                try FileManager.default.removeItem(at: file)
            } catch {
                let key = NSURLSessionDownloadTaskResumeData
                guard let data = (error as? URLError)?.userInfo[key] as? Data else { return }
                resource.change { $0.breaksAfter = nil }
                let loaded = try? await party.session.download(resumeFrom: data, delegate: party.delegate)
                if let file = loaded?.0 { try? FileManager.default.removeItem(at: file) }
            }
        }

        private func upload(_ party: IdentityTests.Party) async {
            let peer = peers[walker.value]
            peer.change { $0.breaks = [100_000] }
            party.delegate?.peer.withLock { $0 = peer }
            // An observer's class decides nothing, so that its tasks share the session's connections.
            let delegate: any URLSessionTaskDelegate = party.delegate ?? UploadObserver(peer, nil)
            var request = party.request(server, "/form")
            request.httpMethod = "POST"
            _ = try? await party.session.upload(
                for: request, from: Data(RangedResource.bytes(300_000)), delegate: delegate)
        }
    }

    private struct Interceptor: LoadInterceptor {
        func canIntercept(_ request: URLRequest) -> Bool { request.url?.path == "/intercepted" }

        func load(_ load: LoadContext) async throws {
            try await load.receive(try await load.next.load(load.request, redirects: .returned))
        }
    }

    private final class Forwarder: URLProtocolHandler, @unchecked Sendable {  // stateless
        override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/forwarded" }

        override func load(_ load: LoadContext) async throws {
            try await load.receive(try await load.next.load(load.request, redirects: .returned))
        }
    }
}
