import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitResilience
import LoadingKitTesting
import Testing

/// Loads with interceptors keep the contract of handlers.
@Suite(.timeLimit(.minutes(5))) struct ContractTests {
    @Test(arguments: ["forwarders", "retries", "single-flight"])
    func keeps(_ stack: String) async throws {
        let whole = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try LoopbackServer { request in
            switch request.path {
            case "/redirect": return .redirect(to: "/whole")
            case "/upload": return .text("\(request.bodyLength)", status: 201)
            case "/failure": try request.exchange.closeAbruptly()
            default: return .bytes(whole)
            }
        }
        defer { server.stop() }
        func url(_ path: String) throws -> URL { try #require(URL(string: server.url(path))) }
        var upload = URLRequest(url: try url("/upload"))
        upload.httpMethod = "POST"
        let report = await HandlerConformance([
            .resource(try url("/whole")), .upload(upload), .redirect(try url("/redirect")),
            .failure(try url("/failure")),
        ]) { $0.interceptors = Self.make(stack) }.run()
        #expect(report.findings.isEmpty, "\(report)")
        #expect(report.checks.count > 30)
    }

    @Sendable private static func make(_ name: String) -> [any LoadInterceptor] {
        switch name {
        case "retries": [Retries()]
        case "single-flight": [SingleFlight()]
        default: [Forwarder(), Forwarder(), Forwarder()]
        }
    }
}
