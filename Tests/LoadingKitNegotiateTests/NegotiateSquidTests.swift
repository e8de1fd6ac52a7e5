import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Negotiate with squid and its Kerberos helper.
@Suite(.usesPeers) struct NegotiateSquidTests {
    private static func with(
        _ body: @escaping @Sendable (NegotiateSite, SquidLoginProxy) async throws -> Void
    ) async throws {
        try await NegotiateSite.with { site in
            let squid = try await onThread { try SquidLoginProxy(site.realm) }
            defer { squid.stop() }
            try await body(site, squid)
        }
    }

    @Test func forwardedRequests() async throws {
        try await Self.with { site, squid in
            let url = site.backend.url("/", host: "localhost")
            var plan = ProbePlan([ProbePlan.Request(url), .init(url), .init(posting: 1000, to: url)])
            plan.proxyPort = Int(squid.port)
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == ["- GET 0", "- GET 0", "- POST 1000"])
            #expect(report.sent == [2, 1, 1])
            #expect(report.challenges == ["session Negotiate 0"])
        }
    }

    @Test func tunnels() async throws {
        try await Self.with { site, squid in
            var plan = ProbePlan(["/request/", "/bound/"].map { site.apache.url($0, isSecure: true) })
            plan.proxyPort = Int(squid.port)
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == Array(repeating: "alice@LK.TEST GET 0", count: 2))
            // The proxy's, and the server's.
            #expect(report.challenges == ["session Negotiate 0", "session Negotiate 0"])
        }
    }

    /// Proxy and server require a token for the same request.
    @Test func theProxyAndTheServer() async throws {
        try await Self.with { site, squid in
            let url = site.apache.url("/request/")
            var plan = ProbePlan([ProbePlan.Request(url), .init(posting: 1000, to: url)])
            plan.proxyPort = Int(squid.port)
            plan.cleartextHosts = ["localhost"]
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == ["alice@LK.TEST GET 0", "alice@LK.TEST POST 1000"])
        }
    }

    @Test func withoutATicket() async throws {
        try await Self.with { site, squid in
            var plan = ProbePlan([
                site.backend.url("/", host: "localhost"),
                site.backend.url("/", host: "localhost").replacing("http:", with: "https:"),
            ])
            plan.proxyPort = Int(squid.port)
            let report = try await site.run(plan)
            #expect(report.statuses == [407, 0])
            #expect(site.passed.snapshot == [])
        }
    }
}
