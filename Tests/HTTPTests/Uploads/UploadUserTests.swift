import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// As whom uploads go on whose URL names the user, where the session knows another one's credential, too.
@Suite("Users of resumable uploads")
struct UploadUserTests {
    private static func authorization(_ user: String) -> String {
        "Basic " + Data("\(user):secret".utf8).base64EncodedString()
    }

    private static let names = [authorization("alice"): "alice", authorization("bob"): "bob"]

    /// Bob's credential is the session's, and alice has been authenticated, too.
    private func with(
        _ version: String, _ faults: UploadPeer.Faults,
        _ body: @escaping @Sendable (UploadSite, URLRequest, Recorder<String>) async throws -> Void
    ) async throws {
        let seen = Recorder<String>()
        let storage = URLCredentialStorage()
        try await UploadSite.with(version, faults) {
            $0.urlCredentialStorage = storage
        } route: { request in
            guard let field = request.fields[name: "Authorization"] else {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"uploads\"")
            }
            if request.method == "GET" { return ServerResponse(200) }
            seen.append("\(request.method) \(Self.names[field] ?? field)")
            return nil
        } body: { site in
            let unnamed = try site.request("/", "GET")
            let url = try #require(unnamed.url)
            let space = URLProtectionSpace(
                host: url.host ?? "", port: url.port ?? 0, protocol: url.scheme, realm: "uploads",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            storage.setDefaultCredential(
                URLCredential(user: "bob", password: "secret", persistence: .forSession), for: space)
            _ = try await site.session.data(for: unnamed)
            var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: true))
            (parts.user, parts.password) = ("alice", "secret")
            _ = try await site.session.data(for: URLRequest(url: try #require(parts.url)))
            parts.path = "/form"
            var request = URLRequest(url: try #require(parts.url))
            request.httpMethod = "POST"
            try await body(site, request, seen)
        }
    }

    private static let body = ResumableUploadTests.body

    @Test("are those of the URLs", arguments: BothVersions.all, ["PATH", "https://HOSTPATH"])
    func goOn(_ version: String, _ location: String) async throws {
        let faults = ResumableUploadTests.faults { $0.breaks = [1_000_000, 2_000_000] }
        try await with(version, faults) { site, request, seen in
            let host = try #require(request.url.flatMap { url in url.port.map { "\(url.host ?? ""):\($0)" } })
            site.peer.change { $0.location = location.replacing("HOST", with: host) }
            let (_, response) = try await site.session.upload(
                for: request, from: Self.body, delegate: site.observer())
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            // The server counts the requests before it, too.
            let isWhole = site.peer.uploads.contains { $0.isComplete && Data($0.bytes) == Self.body }
            #expect(isWhole)
            #expect(seen.snapshot == ["HEAD alice", "HEAD alice", "PATCH alice"])
        }
    }

    @Test("are remembered for resume data, which does not name them", arguments: BothVersions.all)
    func resumed(_ version: String) async throws {
        try await with(version, ResumableUploadTests.faults { $0.breaks = [1_000_000] }) { site, request, seen in
            site.peer.change { $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")] }
            var resumeData: Data?
            do {
                _ = try await site.session.upload(for: request, from: Self.body, delegate: site.observer())
            } catch let error as URLError {
                resumeData = error.uploadTaskResumeData
            }
            let data = try #require(resumeData)
            let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            let text = "\(list?.filter { $0.key != "Body" } ?? [:])"
            #expect(!text.contains("alice") && !text.contains("secret"))
            #expect(try await site.resume(data).get() == "took 3000000")
            #expect(Set(seen.snapshot) == ["HEAD alice", "PATCH alice"])
        }
    }
}
