import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// The resources of the demo: servers on loopback addresses, a file, and sessions. `stop` removes all of them.
struct DemoWorld {
    let plain: LoopbackServer
    let secure: LoopbackServer
    /// The HTTP/2 server.
    let modern: LoopbackServer
    /// Reserves a port on which no socket listens, and that no other server of this kind gets in the meantime.
    private let refusing: ListeningSocket
    let file: URL
    private let folder: URL
    let pages: DemoPages
    let script: DemoScript
    /// Trusts the authority that was made for the demo.
    private let session: URLSession
    /// Trusts only the system's authorities.
    private let strangers: URLSession

    init() throws {
        let authority = try CertificateAuthority()
        pages = try DemoPages()
        plain = try LoopbackServer(route: pages.answer)
        secure = try LoopbackServer(tls: try authority.issue(), route: pages.answer)
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"])
        modern = try LoopbackServer(LoopbackServer.Options(tls: options), route: pages.answer)
        refusing = try ListeningSocket(.ipv4())
        refusing.shutDown()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("loadkit-demo-\(UUID().uuidString)")
        file = folder.appendingPathComponent("notes.txt")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data(pages.text(of: "/notes").utf8).write(to: file)
        script = try DemoScript([
            "file": file.absoluteString, "plain": plain.url(""), "secure": secure.url("", host: "localhost"),
            "modern": modern.url("", host: "localhost"),
            "refusing": "http://127.0.0.1:\(refusing.address.port ?? 1)",
        ])
        session = Self.session { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        strangers = Self.session { _ in }
    }

    #if CommandLineTool
        /// In a separate folder, with a short name.
        var background: BackgroundDemo { BackgroundDemo(in: folder.appendingPathComponent("b")) }
    #endif

    private static func session(_ configure: (URLSessionConfiguration) -> Void) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 60
        configuration.protocolClasses = [GreetingHandler.self]
        configure(configuration)
        return URLSession(configuration: configuration)
    }

    func run(_ load: DemoLoad) async -> DemoResult {
        let results = await withTaskGroup(of: (Int, DemoResult).self, returning: [DemoResult].self) { group in
            for (index, url) in load.urls.enumerated() {
                group.addTask { (index, await run(url, isStranger: load.isStranger ?? false)) }
            }
            return await group.reduce(into: [(Int, DemoResult)]()) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return results.count == 1 ? results[0] : DemoResult(results)
    }

    private func run(_ url: URL, isStranger: Bool) async -> DemoResult {
        let session = isStranger ? strangers : session
        let request = URLRequest(url: url)
        let collector = MetricsCollector()
        let outcome: Result<(Data, URLResponse), any Error>
        do {
            outcome = .success(try await session.data(for: request, delegate: collector))
        } catch {
            outcome = .failure(error)
        }
        let metrics = await collector.metrics.element(at: 0)
        return DemoResult(
            outcome: outcome, timelines: metrics.map { Timeline.all($0, request) } ?? [],
            redirects: metrics?.redirectCount ?? 0,
            isReusedConnection: metrics?.transactionMetrics.last?.isReusedConnection ?? false)
    }

    func stop() {
        session.invalidateAndCancel()
        strangers.invalidateAndCancel()
        plain.stop()
        secure.stop()
        modern.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The demo's own scheme: `greeting:NAME`. No further code is needed.
final class GreetingHandler: URLProtocolHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "greeting" }

    override func load(_ load: LoadContext) async throws {
        try await load.receive(
            URLResponse(url: load.url, mimeType: "text/plain", expectedContentLength: -1, textEncodingName: "utf-8"))
        let name = load.url.absoluteString.dropFirst("greeting:".count)
        try await load.receive(Data("Good morning, \(name)!\n".utf8))
    }
}

/// Records a task's metrics, which may come a moment after the task's result.
private final class MetricsCollector: NSObject, URLSessionTaskDelegate {
    let metrics = Recorder<URLSessionTaskMetrics>()

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.append(metrics)
    }
}
