import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// A session and a server with an ``UploadPeer``, over one version of HTTP.
struct UploadSite: Sendable {
    let session: URLSession
    let server: LoopbackServer
    let peer: UploadPeer

    static func with(
        _ version: String, _ faults: UploadPeer.Faults = UploadPeer.Faults(),
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        route: (@Sendable (ServerRequest) throws -> ServerResponse?)? = nil,
        body: @escaping @Sendable (UploadSite) async throws -> Void
    ) async throws {
        let peer = UploadPeer(faults)
        let authority = try CertificateAuthority()
        var options = LoopbackServer.Options(
            tls: TLSServerOptions(try authority.issue(), applicationProtocols: [version]))
        peer.serve(&options)
        let server = try LoopbackServer(options) { try route?($0) ?? peer.answer($0) }
        defer { server.stop() }
        let session = makeSession {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout(version) { try await body(UploadSite(session: session, server: server, peer: peer)) }
    }

    func request(_ path: String = "/form", _ method: String = "POST") throws -> URLRequest {
        try BothVersions.request(server, path, method)
    }

    func observer(stream body: Data? = nil) -> UploadObserver { UploadObserver(peer, body) }

    /// Uploads data, and says what came of it.
    func upload(_ body: Data, _ observer: UploadObserver? = nil) async throws -> Result<String, URLError> {
        try await outcome {
            try await session.upload(for: try request(), from: body, delegate: observer ?? self.observer())
        }
    }

    func resume(_ data: Data, _ observer: UploadObserver? = nil) async throws -> Result<String, URLError> {
        try await outcome { try await session.upload(resumeFrom: data, delegate: observer ?? self.observer()) }
    }

    private func outcome(
        _ load: () async throws -> (Data, URLResponse)
    ) async throws -> Result<String, URLError> {
        do {
            let (data, response) = try await load()
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            return .success(status == 200 ? String(decoding: data, as: UTF8.self) : "\(status)")
        } catch let error as URLError {
            return .failure(error)
        }
    }

    /// The methods of the requests so far, with the offset of those that have one.
    var methods: [String] {
        server.requests.snapshot.map { request in
            ([request.method] + (request.fields[name: "Upload-Offset"].map { [$0] } ?? [])).joined(separator: " ")
        }
    }

    /// Whether the server's first upload is this, whole. Not compared in the macro, which lists the differences.
    func has(_ body: Data) -> Bool {
        guard let upload = peer.uploads.first else { return false }
        return upload.isComplete && Data(upload.bytes) == body
    }

    /// An upload that was interrupted, and cancelled: what it is resumed from.
    func interrupted(_ body: Data, at offset: Int) async throws -> Data {
        // The server cannot say for a long time whether it goes on.
        peer.change {
            $0.breaks = [offset]
            $0.retrievals = [ServerResponse(503).adding("Retry-After", "86400")]
        }
        guard case .failure(let error) = try await upload(body) else { throw POSIXError(.EIO) }
        return try #require(error.uploadTaskResumeData)
    }
}

/// Tells the peer when the client has seen 104, gives streams, and counts.
final class UploadObserver: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // constants, recorders
    let interims = Recorder<Int>()
    let sent = Recorder<[Int64]>()
    let offsets = Recorder<Int64>()
    let metrics = Recorder<URLSessionTaskMetrics>()
    let errors = Recorder<URLError?>()
    /// Fired when the client has seen a 104.
    var interimSeen: Signal { peer.interimSeen }
    private let peer: UploadPeer
    private let body: Data?

    init(_ peer: UploadPeer, _ body: Data?) {
        self.peer = peer
        self.body = body
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        interims.append(response.statusCode)
        peer.interimSeen.fire()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent.append([bytesSent, totalBytesSent, totalBytesExpectedToSend])
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        body.map { InputStream(data: $0) }
    }

    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        offsets.append(offset)
        return body.map { InputStream(data: $0.dropFirst(Int(offset))) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.append(metrics)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        errors.append(error as? URLError)
    }
}
