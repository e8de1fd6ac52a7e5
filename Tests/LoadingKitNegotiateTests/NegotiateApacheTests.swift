import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Negotiate with MIT's KDC and Apache's `mod_auth_gssapi`.
@Suite(.usesPeers) struct NegotiateApacheTests {
    /// One challenge, one ticket, and one message for each request after the first, whether the server authenticates
    /// requests or connections.
    @Test(arguments: ["/request/", "/bound/"], [false, true])
    func theUsersTicket(_ path: String, _ isSecure: Bool) async throws {
        try await NegotiateSite.with { site in
            let url = site.apache.url(path, isSecure: isSecure)
            var plan = ProbePlan([url, url, url])
            plan.cleartextHosts = ["localhost"]
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == Array(repeating: "alice@LK.TEST GET 0", count: 3))
            #expect(report.sent == [2, 1, 1])
            #expect(report.connections == [1, 0, 0])
            #expect(report.challenges == ["session Negotiate 0"])
            #expect(report.failures == [])
        }
    }

    /// No ticket is sent without TLS to a host that the program has not named.
    @Test func notWithoutTLS() async throws {
        try await NegotiateSite.with { site in
            let plan = ProbePlan([site.apache.url("/request/")])
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.statuses == [401])
            #expect(report.sent == [1])
            #expect(report.challenges == [])
        }
    }

    @Test(arguments: ["alice@LK.TEST", "alice", "LK.TEST\\alice"])
    func aPassword(_ user: String) async throws {
        try await NegotiateSite.with { site in
            let url = site.apache.url("/request/", isSecure: true)
            var plan = ProbePlan([url, url])
            (plan.negotiateUser, plan.password) = (user, "alice-pw")
            let report = try await site.run(plan)
            #expect(report.bodies == Array(repeating: "alice@LK.TEST GET 0", count: 2))
            #expect(report.sent == [2, 1])
        }
    }

    @Test func aWrongPassword() async throws {
        try await NegotiateSite.with { site in
            var plan = ProbePlan([site.apache.url("/request/", isSecure: true)])
            (plan.negotiateUser, plan.password) = ("alice@LK.TEST", "wrong")
            // The ticket that the user has is not used instead.
            let report = try await site.run(plan, cache: try await site.ticket(of: "bob"))
            #expect(report.statuses == [401])
            #expect(report.sent == [1])
            #expect(report.failures.count == 1)
        }
    }

    /// The next strongest scheme is used.
    @Test func withoutATicketThereIsBasic() async throws {
        try await NegotiateSite.with { site in
            let url = site.apache.url("/either/", isSecure: true)
            let refused = try await site.run(ProbePlan([url]))
            #expect(refused.statuses == [401])
            #expect(refused.challenges == ["session Negotiate 0", "task HTTPBasic 0"])
            var plan = ProbePlan([url])
            (plan.otherUser, plan.password) = ("alice", "alice-pw")
            let report = try await site.run(plan)
            #expect(report.statuses == [200])
            #expect(report.challenges == ["session Negotiate 0", "task HTTPBasic 0"])
            #expect(report.failures.count == 1)
        }
    }

    /// A ticket is used until it expires.
    @Test func anExpiredTicket() async throws {
        try await NegotiateSite.with(clockSkew: 1) { site in
            let url = site.apache.url("/request/", isSecure: true)
            let cache = try await site.ticket(of: "alice", ["-l", "2s"])
            // Its expiry shows only when it is refused.
            var report = try await site.run(ProbePlan([url]), cache: cache)
            while report.statuses == [200] { report = try await site.run(ProbePlan([url]), cache: cache) }
            #expect(report.statuses == [401])
        }
    }

    @Test func theKDCIsDown() async throws {
        try await NegotiateSite.with { site in
            let cache = try await site.ticket(of: "alice")
            let configuration = try site.realm.writeConfiguration(kdcPort: 1)
            let plan = ProbePlan([site.apache.url("/request/", isSecure: true)])
            let report = try await site.run(plan, cache: cache, configuration: configuration)
            #expect(report.statuses == [401])
            #expect(report.failures.count == 1)
        }
    }

    /// A KDC that never answers delays only the load that needs it, up to its timeout.
    @Test func aSilentKDCHoldsUpNoOtherLoad() async throws {
        try await NegotiateSite.with { site in
            let silent = try ListeningSocket(.ipv4())
            let port = try #require(silent.address.port)
            let cache = try await site.ticket(of: "alice")
            let configuration = try site.realm.writeConfiguration(kdcPort: port, prefersTCP: true)
            let others = (0..<20).map { site.backend.url("/\($0)") }
            var plan = ProbePlan([site.apache.url("/request/", isSecure: true)] + others)
            plan.isParallel = true
            plan.timeout = 4
            let report = try await site.run(plan, cache: cache, configuration: configuration)
            #expect(report.statuses == [0] + Array(repeating: 200, count: 20))
            #expect(report.responses.first?.error == URLError.timedOut.rawValue)
            #expect(report.order.last == 0)
            withExtendedLifetime(silent) {}
        }
    }

    @Test func aServiceThatTheKDCDoesNotKnow() async throws {
        try await NegotiateSite.with(hosts: ["localhost"]) { site in
            let plan = ProbePlan([site.apache.url("/request/", isSecure: true, host: "127.0.0.1")])
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.statuses == [401])
            #expect(report.failures.count == 1)
            #expect(report.sent == [1])
        }
    }

    /// The server has the key of another realm of the same name: it cannot read the ticket.
    @Test func aServerWithAnotherKey() async throws {
        let other = try await onThread { try KerberosRealm() }
        defer { other.stop() }
        let site = try await onThread { try NegotiateSite(serversRealm: other) }
        defer { site.stop() }
        try await withTimeout {
            let plan = ProbePlan([site.apache.url("/request/", isSecure: true)])
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.statuses == [401])
            #expect(report.sent == [2])
            #expect(site.passed.snapshot == [])
        }
    }

    /// A connection that was authenticated for one user is used for no other user.
    @Test(arguments: ["/request/", "/bound/"])
    func twoUsers(_ path: String) async throws {
        try await NegotiateSite.with { site in
            let tickets = site.apache.url(path, isSecure: true)
            let urls = ["alice", "bob"].map { user in
                site.apache.url(path, isSecure: true, user: "\(user)%40LK.TEST:\(user)-pw")
            }
            let plan = ProbePlan([tickets, urls[1], urls[1], urls[0], urls[1], urls[0]])
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == ["alice", "bob", "bob", "alice", "bob", "alice"].map { "\($0)@LK.TEST GET 0" })
            #expect(report.connections[0] == 1 && report.connections[1] >= 1)
        }
    }

    /// Two sessions, of two users, share no connection.
    @Test func twoPrograms() async throws {
        try await NegotiateSite.with { site in
            for user in ["alice", "bob"] {
                let plan = ProbePlan([site.apache.url("/bound/", isSecure: true)])
                let report = try await site.run(plan, cache: try await site.ticket(of: user))
                #expect(report.bodies == ["\(user)@LK.TEST GET 0"])
            }
        }
    }

    /// The server gets a body once; the client sends it once to a server that it knows.
    @Test(arguments: [false, true])
    func bodies(_ isStreamed: Bool) async throws {
        try await NegotiateSite.with { site in
            let url = site.apache.url("/request/", isSecure: true)
            let post = ProbePlan.Request(posting: 100_000, to: url, isStreamed: isStreamed)
            let report = try await site.run(
                ProbePlan([ProbePlan.Request(url), post, post]), cache: try await site.ticket(of: "alice"))
            #expect(report.bodies.dropFirst() == Array(repeating: "alice@LK.TEST POST 100000", count: 2)[...])
            #expect(report.sent == [2, 1, 1])
            // With the sizes of a stream's pieces.
            #expect(report.responses.dropFirst().allSatisfy { 100_000..<100_100 ~= $0.bodyBytes })
            // The first request is sent without its login.
            let first = try await site.run(ProbePlan([post]), cache: try await site.ticket(of: "alice"))
            #expect(first.bodies == ["alice@LK.TEST POST 100000"])
            #expect(site.passed.snapshot.count { $0.hasSuffix(" 100000") } == 3)
        }
    }

    @Test func aRedirectBetweenTwoHosts() async throws {
        try await NegotiateSite.with { site in
            let target = site.apache.url("/bound/", isSecure: true, host: "127.0.0.1")
            let plan = ProbePlan([site.apache.url("/request/?to=\(target)", isSecure: true)])
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == ["alice@LK.TEST GET 0"])
            #expect(report.responses.first?.url == target)
            #expect(report.sent == [4])
        }
    }

    @Test func manyAtOnce() async throws {
        try await NegotiateSite.with { site in
            var plan = ProbePlan((0..<30).map { site.apache.url("/request/\($0)", isSecure: true) })
            plan.isParallel = true
            let report = try await site.run(plan, cache: try await site.ticket(of: "alice"))
            #expect(report.bodies == Array(repeating: "alice@LK.TEST GET 0", count: 30))
        }
    }
}
