import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Servers with invalid answers to a ticket.
@Suite(.usesPeers) struct NegotiateAnswersTests {
    /// A server's answer to a request with a token.
    private static func report(
        requiresMutual: Bool = true, _ answer: @escaping @Sendable () -> (status: Int, challenge: String?)
    ) async throws -> (report: ProbeReport, tokens: Int) {
        let realm = try await onThread { try KerberosRealm() }
        defer { realm.stop() }
        let authority = try CertificateAuthority()
        let tokens = Recorder<Int>()
        let options = LoopbackServer.Options(tls: TLSServerOptions(try authority.issue()))
        let server = try LoopbackServer(options) { request in
            guard request.fields[.authorization] != nil else {
                var response = ServerResponse.text("no", status: 401)
                response.fields.append(name: "WWW-Authenticate", value: "Negotiate")
                return response
            }
            tokens.append(1)
            let (status, challenge) = answer()
            var response = ServerResponse.text("yes", status: status)
            if let challenge { response.fields.append(name: "WWW-Authenticate", value: challenge) }
            return response
        }
        defer { server.stop() }
        var plan = ProbePlan([server.url("/", host: "localhost")])
        plan.authority = authority.certificatePEM
        plan.requiresMutualAuthentication = requiresMutual
        let environment = realm.clientEnvironment(try await onThread { try realm.makeTicket(of: "alice") })
        let finished = plan
        let report = try await withTimeout { try await finished.run(environment: environment) }
        return (report, tokens.count)
    }

    /// A token that was made without the service's key.
    @Test(arguments: ["Negotiate \(Data(repeating: 7, count: 100).base64EncodedString())", "Negotiate oQcwBaADCgEA"])
    func aFalseProof(_ challenge: String) async throws {
        for requiresMutual in [true, false] {
            let (report, _) = try await Self.report(requiresMutual: requiresMutual) { (200, challenge) }
            #expect(report.statuses == [0])
            #expect(report.responses.first?.error == URLError.badServerResponse.rawValue)
        }
    }

    @Test func noProof() async throws {
        let (report, _) = try await Self.report { (200, nil) }
        #expect(report.responses.first?.error == URLError.badServerResponse.rawValue)
        #expect(try await Self.report { (404, nil) }.report.statuses == [404])
        #expect(try await Self.report(requiresMutual: false) { (200, nil) }.report.statuses == [200])
    }

    /// A server that always requires another token gets no more tokens than the mechanism has.
    @Test(arguments: ["Negotiate oQcwBaADCgEB", "Negotiate AAAA", "Negotiate ===="])
    func anotherChallengeEachTime(_ challenge: String) async throws {
        let (report, tokens) = try await Self.report { (401, challenge) }
        #expect(report.statuses == [401] || report.responses.first?.error != 0)
        #expect(tokens <= 10)
    }

    @Test func aTokenOfAMegabyte() async throws {
        let (report, tokens) = try await Self.report {
            (401, "Negotiate " + String(repeating: "A", count: 1_000_000))
        }
        #expect(report.responses.first?.error != 0)
        #expect(tokens == 1)
    }

    @Test func aTokenOfTwoHundredKilobytes() async throws {
        let (report, tokens) = try await Self.report {
            (401, "Negotiate " + String(repeating: "A", count: 200_000))
        }
        #expect(report.statuses == [401])
        #expect(tokens == 1)
    }

    /// Tokens authenticate only connections of HTTP/1.1.
    @Test func aServerOfHTTP2() async throws {
        let realm = try await onThread { try KerberosRealm() }
        defer { realm.stop() }
        let authority = try CertificateAuthority()
        let seen = Recorder<String>()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"])
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { request in
            let hasToken = request.fields[.authorization] != nil
            let version = request.tls?.applicationProtocol == "h2" ? "h2" : "http/1.1"
            seen.append("\(version) \(hasToken)")
            if hasToken { return .text("yes") }
            var response = ServerResponse.text("no", status: 401)
            response.fields.append(name: "WWW-Authenticate", value: "Negotiate")
            return response
        }
        defer { server.stop() }
        var plan = ProbePlan([server.url("/", host: "localhost"), server.url("/", host: "localhost")])
        plan.authority = authority.certificatePEM
        plan.requiresMutualAuthentication = false
        let finished = plan
        let environment = realm.clientEnvironment(try await onThread { try realm.makeTicket(of: "alice") })
        let report = try await withTimeout { try await finished.run(environment: environment) }
        #expect(report.statuses == [200, 200])
        #expect(seen.snapshot.first == "h2 false")
        #expect(seen.snapshot.suffix(2) == ["http/1.1 true", "http/1.1 true"])
        #expect(!seen.snapshot.contains("h2 true"))
    }
}
