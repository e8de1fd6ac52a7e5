import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A data connection is with the server that the control connection is with: it shows the same certificate, and goes on with
/// the same TLS session once it has done so.
@Suite(.usesPeers) struct DataConnectionTrustTests {
    /// A program's decisions about servers.
    enum Program: Sendable, CaseIterable {
        case hasNoDelegate, trustsAll, leavesItToTheRules
        /// It compares the server's certificate with one that it knows.
        case pins
    }

    private final class Delegate: NSObject, URLSessionDelegate, @unchecked Sendable {  // what it has is locked
        let program: Program
        let asked = Recorder<Data>()

        init(_ program: Program) { self.program = program }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard let trust = challenge.protectionSpace.serverTrust, let leaf = trust.certificates.first else {
                return (.performDefaultHandling, nil)
            }
            asked.append(leaf.derRepresentation)
            switch program {
            case .hasNoDelegate, .leavesItToTheRules: return (.performDefaultHandling, nil)
            case .trustsAll: return (.useCredential, URLCredential(trust: trust))
            case .pins:
                // The certificate that came first is the one that it knows.
                guard asked.snapshot.first == leaf.derRepresentation else { return (.rejectProtectionSpace, nil) }
                return (.useCredential, URLCredential(trust: trust))
            }
        }
    }

    private func outcomes(
        _ program: Program, _ security: FTPServerProcess.Security, _ dataIdentity: ServerIdentity, from first: Int,
        _ identity: ServerIdentity, _ authority: CertificateAuthority, isTrusted: Bool = true
    ) async throws -> [FTPOutcome] {
        var faults = FTPServerProcess.Faults()
        faults.dataIdentity = (dataIdentity, from: first)
        let run = try await ScenarioRun.start(
            .pyftpdlib, security, faults: faults, authority: authority, identity: identity)
        defer { run.server.stop() }
        let delegate = program == .hasNoDelegate ? nil : Delegate(program)
        let session = run.makeSession(delegate: delegate) { if !isTrusted { $0.tlsTrustRoots = .system } }
        defer { session.invalidateAndCancel() }
        var outcomes: [FTPOutcome] = []
        for _ in 0..<2 { outcomes.append(await session.outcome(try run.request("/a.txt"))) }
        if let delegate, outcomes.first == .loaded(ScenarioRun.text) {
            // The control connection's handshake is the only one that it was asked in.
            #expect(delegate.asked.count == 1, "\(program)")
        }
        return outcomes
    }

    @Test(arguments: Program.allCases, [FTPServerProcess.Security.explicit, .implicit])
    func anotherCertificateOfTheSameAuthority(_ program: Program, _ security: FTPServerProcess.Security) async throws {
        let authority = try CertificateAuthority()
        let (one, other) = (try authority.issue(), try authority.issue())
        let outcomes = try await outcomes(program, security, other, from: 2, one, authority)
        #expect(outcomes == [.loaded(ScenarioRun.text), .failed(.serverCertificateUntrusted)])
    }

    @Test func anotherCertificateWhereTheProgramTrustsOneThatTheRulesDoNot() async throws {
        let authority = try CertificateAuthority()
        let (one, other) = (try authority.issue(), try authority.issue())
        for first in 1...2 {
            let outcomes = try await outcomes(
                .trustsAll, .explicit, other, from: first, one, authority, isTrusted: false)
            let good = [FTPOutcome](repeating: .loaded(ScenarioRun.text), count: first - 1)
            #expect(outcomes.prefix(first) == good + [.failed(.serverCertificateUntrusted)])
        }
    }

    /// A server that continues no session may do so from the beginning, and not after it has continued one.
    @Test(arguments: [1, 2]) func sessionsThatAreContinuedNoMore(first: Int) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        let outcomes = try await outcomes(.hasNoDelegate, .explicit, identity, from: first, identity, authority)
        let good = FTPOutcome.loaded(ScenarioRun.text)
        #expect(outcomes == (first == 1 ? [good, good] : [good, .failed(.secureConnectionFailed)]))
    }
}
