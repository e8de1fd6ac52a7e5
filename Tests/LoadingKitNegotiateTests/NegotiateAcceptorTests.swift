import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Negotiate with a server that reports the results of its GSS-API: MIT's Kerberos, and gss-ntlmssp.
@Suite(.usesPeers) struct NegotiateAcceptorTests {
    /// The server's answers to a user.
    ///
    /// - Parameters:
    ///   - ticket: `kinit`'s options; nil for no ticket.
    ///   - plan: the loads from the server's URL.
    private static func report(
        ticket: [String]? = [], _ plan: @escaping @Sendable (String) -> ProbePlan = { ProbePlan([$0]) },
        server makeServer: @escaping @Sendable (KerberosRealm, ServerIdentity) throws -> GSSAcceptorServer = {
            try GSSAcceptorServer($0, tls: $1)
        }
    ) async throws -> (report: ProbeReport, output: String) {
        let realm = try await onThread { try KerberosRealm() }
        defer { realm.stop() }
        let authority = try CertificateAuthority()
        let server = try await onThread { try makeServer(realm, try authority.issue()) }
        defer { server.stop() }
        let cache = try await onThread { try ticket.map { try realm.makeTicket(of: "alice", $0) } }
        var plan = plan(server.url)
        plan.authority = authority.certificatePEM
        let finished = plan
        let report = try await withTimeout { try await finished.run(environment: realm.clientEnvironment(cache)) }
        return (report, server.output)
    }

    /// RFC 5929. The server reports whether the token was bound to its certificate.
    @Test func theTokenIsBoundToTheCertificate() async throws {
        let (report, output) = try await Self.report()
        #expect(report.bodies == ["alice@LK.TEST bound"], "\(output)")
        #expect(report.sent == [2])
    }

    @Test func somebodyWithAnotherCertificateIsInBetween() async throws {
        let (report, output) = try await Self.report(server: {
            try GSSAcceptorServer($0, tls: $1, bindsToAnotherCertificate: true)
        })
        #expect(report.statuses == [401], "\(output)")
        #expect(report.sent[0] <= 3)
        #expect(output.localizedLowercase.contains("channel bindings"))
    }

    /// A ticket is forwarded to hosts that the program has named, if the ticket permits it.
    @Test(arguments: [true, false], [true, false])
    func delegation(_ isNamed: Bool, _ isForwardable: Bool) async throws {
        let (report, output) = try await Self.report(ticket: isForwardable ? ["-f"] : []) { url in
            var plan = ProbePlan([url])
            if isNamed { plan.delegationHosts = ["localhost"] }
            return plan
        }
        let delegated = isNamed && isForwardable ? " delegated by alice@LK.TEST" : ""
        #expect(report.bodies == ["alice@LK.TEST bound\(delegated)"], "\(output)")
    }

    /// The server's clock is an hour ahead: it reports that, and gets no further tokens.
    @Test func clocksThatDiffer() async throws {
        let (report, output) = try await Self.report(server: {
            try GSSAcceptorServer($0, tls: $1, clock: "+1h")
        })
        #expect(report.statuses == [401], "\(output)")
        #expect(report.sent == [2])
        #expect(report.failures.count == 1 && report.failures.allSatisfy { $0.contains("Clock skew") }, "\(report)")
    }

    /// The next scheme is LoadingKit's own NTLM, and not that of the system's GSS-API.
    @Test func withoutATicketThereIsNTLM() async throws {
        let (report, output) = try await Self.report(
            ticket: nil,
            { url in
                var plan = ProbePlan([url])
                (plan.otherUser, plan.password) = ("LKDOM\\alice", "alice-pw")
                return plan
            }, server: { try GSSAcceptorServer($0, tls: $1, ntlmUsers: ["LKDOM:alice:alice-pw"]) })
        #expect(report.statuses == [200], "\(output)")
        #expect(report.bodies.allSatisfy { $0.hasPrefix("LKDOM\\") && $0.localizedLowercase.contains("alice") })
        #expect(report.challenges == ["session Negotiate 0", "session NTLM 0"])
        #expect(report.failures.count == 1)
    }
}
