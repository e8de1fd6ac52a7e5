import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Uploads whose host requires `https` since they began with `http` (RFC 6797 §8.3).
@Suite("Resumable uploads and HSTS")
struct UploadHSTSTests {
    /// A session, and a server of which only the first connection is cleartext. There the server gets the upload's
    /// request, and names a resource. Of the body it keeps two bytes.
    private struct Site: Sendable {
        let session: URLSession
        let peer: ScriptedPeer
        let observer: UploadObserver
        let isRequired: Signal

        func begin() throws -> URLSessionUploadTask {
            var request = URLRequest(url: try #require(URL(string: peer.url("/form", host: "localhost"))))
            request.httpMethod = "POST"
            let task = session.uploadTask(with: request, from: Data("body".utf8))
            task.delegate = observer
            task.resume()
            return task
        }

        /// From now on the host requires `https`. The server ends its cleartext connection.
        func requireTLS() {
            session.core.settings.hsts.note("max-age=1000", from: "localhost")
            isRequired.fire()
        }

        func checkRequests() {
            let requests = peer.requests.snapshot
            #expect(requests.map(\.method) == ["POST", "HEAD", "PATCH"])
            #expect(requests.map(\.target) == ["/form", "/uploads/1", "/uploads/1"])
            #expect(requests.last?.bodyText == "dy")
            #expect(peer.connections.map { $0.tls != nil } == [false, true, true])
            // The host is the one for which the task was made.
            #expect(requests.allSatisfy { $0[field: "Authorization"] == "Bearer t" })
        }
    }

    private func withSite(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let (authority, isRequired) = (try CertificateAuthority(), Signal())
        let tls = TLSServerOptions(try authority.issue())
        let peer = try ScriptedPeer(scripts: [
            [
                .expectRequest,
                .send("HTTP/1.1 104 Go\r\nLocation: /uploads/1\r\nUpload-Draft-Interop-Version: 6\r\n\r\n"),
                .waitFor(isRequired), .reset,
            ],
            [
                .startTLS(tls), .expectRequest,
                .send("HTTP/1.1 204 No Content\r\nUpload-Offset: 2\r\nUpload-Complete: ?0\r\n"),
                .send("Connection: close\r\n\r\n"),
            ],
            [.startTLS(tls), .expectRequest, .respond("took", fields: ["Upload-Complete: ?1"])],
        ])
        defer { peer.stop() }
        let session = makeSession {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.httpAdditionalHeaders = ["Authorization": "Bearer t"]
        }
        defer { session.invalidateAndCancel() }
        let observer = UploadObserver(UploadPeer(), nil)
        let site = Site(session: session, peer: peer, observer: observer, isRequired: isRequired)
        try await withTimeout { try await body(site) }
    }

    @Test("send the rest with TLS where the connection breaks after that")
    func sameTask() async throws {
        try await withSite { site in
            let task = try site.begin()
            await site.observer.interimSeen.wait()
            site.requireTLS()
            #expect(await site.observer.errors.count(reaches: 1) == [nil])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 200 && task.response?.url?.scheme == "https")
            site.checkRequests()
        }
    }

    @Test("send the rest with TLS in a task from resume data")
    func resumeData() async throws {
        try await withSite { site in
            let task = try site.begin()
            await site.observer.interimSeen.wait()
            let data = try #require(await task.cancelByProducingResumeData())
            site.requireTLS()
            let (text, response) = try await site.session.upload(resumeFrom: data)
            #expect(String(decoding: text, as: UTF8.self) == "took" && response.url?.scheme == "https")
            site.checkRequests()
        }
    }

    /// As if the upload had begun with `http`.
    private static func cleartext(_ data: Data) throws -> Data {
        var list = try #require(
            try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        for key in ["URL", "UploadResource"] {
            let url = try #require(list[key] as? String)
            list[key] = url.replacing("https:", with: "http:")
        }
        return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    }

    /// By a server that speaks TLS alone.
    @Test("go on from resume data with `http` URLs, again and again", arguments: BothVersions.all)
    func cleartextURLs(_ version: String) async throws {
        try await UploadSite.with(version) { site in
            let body = ResumableUploadTests.body
            let first = try Self.cleartext(try await site.interrupted(body, at: 1_000_000))
            site.session.core.settings.hsts.note("max-age=1000", from: "localhost")
            site.peer.change { $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")] }
            guard case .failure(let error) = try await site.resume(first) else { return #expect(Bool(false)) }
            let second = try #require(error.uploadTaskResumeData)
            // It would continue with TLS also in a session that does not know the host.
            #expect(second.range(of: Data("http://".utf8)) == nil)
            #expect(try await site.resume(second).get() == "took 3000000")
            #expect(site.has(body) && site.methods == ["HEAD", "HEAD", "HEAD", "PATCH 1000000"])
        }
    }
}
