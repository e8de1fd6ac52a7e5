import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// What the demo loads from, and with: servers on loopback addresses, a file, and sessions. All of it goes with `stop`.
struct DemoWorld {
    let plain: LoopbackServer
    let secure: LoopbackServer
    /// Speaks HTTP/2.
    let modern: LoopbackServer
    /// Has a port that nobody listens on any more, and that no other server of this kind is given meanwhile.
    private let refusing: ListeningSocket
    let file: URL
    private let folder: URL
    /// Trusts the authority that was made for the demo.
    private let session: URLSession
    /// Trusts what the system trusts.
    private let strangers: URLSession

    init() throws {
        let authority = try CertificateAuthority()
        plain = try LoopbackServer(route: DemoSite.answer)
        secure = try LoopbackServer(tls: try authority.issue(), route: DemoSite.answer)
        let options = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"])
        modern = try LoopbackServer(LoopbackServer.Options(tls: options), route: DemoSite.answer)
        refusing = try ListeningSocket(.ipv4())
        refusing.shutDown()
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("loadkit-demo-\(UUID().uuidString)")
        file = folder.appendingPathComponent("notes.txt")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data(DemoSite.notes.utf8).write(to: file)
        session = Self.session { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        strangers = Self.session { _ in }
    }

    var refusingPort: UInt16 { refusing.address.port ?? 1 }

    private static func session(_ configure: (URLSessionConfiguration) -> Void) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 60
        configuration.protocolClasses = [GreetingHandler.self]
        configure(configuration)
        return URLSession(configuration: configuration)
    }

    func run(_ load: DemoLoad) async -> DemoResult {
        guard !load.urls.isEmpty else { return await runOne(load) }
        let results = await withTaskGroup(of: (Int, DemoResult).self, returning: [DemoResult].self) { group in
            for (index, url) in load.urls.enumerated() {
                group.addTask { (index, await runOne(load.of(url))) }
            }
            return await group.reduce(into: [(Int, DemoResult)]()) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        return DemoResult(results)
    }

    private func runOne(_ load: DemoLoad) async -> DemoResult {
        let session = load.trustsDemoAuthority ? session : strangers
        let request = URLRequest(url: load.url)
        let collector = MetricsCollector()
        let outcome: Result<(Data, URLResponse), any Error>
        do {
            outcome = .success(try await session.data(for: request, delegate: collector))
        } catch {
            outcome = .failure(error)
        }
        let metrics = await collector.metrics()
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
