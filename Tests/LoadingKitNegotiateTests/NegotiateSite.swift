import Foundation
import LoadingKitLoopbackServer
import TestSupport

/// A realm, Apache in it, and the server behind that, which answers with the user, the method and the body's size.
final class NegotiateSite: Sendable {
    let realm: KerberosRealm
    let apache: ApacheGSSServer
    let backend: LoopbackServer
    let authority: CertificateAuthority
    /// The forwarded requests: `user method path body's size`.
    let passed: Recorder<String>

    /// - Parameters:
    ///   - hosts: those that have the service.
    ///   - clockSkew: in seconds, by which clocks may differ.
    ///   - serversRealm: the realm of Apache's key; nil: the client's.
    init(
        hosts: [String] = ["localhost", "127.0.0.1"], clockSkew: Int = 300, serversRealm: KerberosRealm? = nil
    ) throws {
        let passed = Recorder<String>()
        self.passed = passed
        realm = try KerberosRealm(hosts: hosts, clockSkew: clockSkew)
        authority = try CertificateAuthority()
        backend = try LoopbackServer { request in
            if let target = request.fields[name: "X-Target"] { return .redirect(to: target) }
            if let target = request.query, target.hasPrefix("to=") { return .redirect(to: String(target.dropFirst(3))) }
            let user = request.fields[name: "X-User"] ?? "-"
            passed.append("\(user) \(request.method) \(request.path) \(request.body.count)")
            return .text("\(user) \(request.method) \(request.body.count)")
        }
        apache = try ApacheGSSServer(serversRealm ?? realm, tls: try authority.issue(), backend: backend.url(""))
    }

    func stop() {
        apache.stop()
        backend.stop()
        realm.stop()
    }

    /// Runs the probe.
    ///
    /// - Parameters:
    ///   - cache: the file with the user's tickets; nil for none.
    ///   - configuration: Kerberos's configuration; nil: the realm's.
    func run(_ plan: ProbePlan, cache: String? = nil, configuration: String? = nil) async throws -> ProbeReport {
        var plan = plan
        plan.authority = plan.authority ?? authority.certificatePEM
        var environment = realm.clientEnvironment(cache)
        if let configuration { environment["KRB5_CONFIG"] = configuration }
        return try await plan.run(environment: environment)
    }

    static func with(
        hosts: [String] = ["localhost", "127.0.0.1"], clockSkew: Int = 300,
        _ body: @escaping @Sendable (NegotiateSite) async throws -> Void
    ) async throws {
        let site = try await onThread { try NegotiateSite(hosts: hosts, clockSkew: clockSkew) }
        defer { site.stop() }
        try await withTimeout { try await body(site) }
    }

    func ticket(of user: String, _ options: [String] = []) async throws -> String {
        try await onThread { try self.realm.makeTicket(of: user, options) }
    }
}

/// The probe's task; the counterpart of its `Plan`.
struct ProbePlan: Encodable {
    struct Request: Encodable {
        var method = "GET"
        var url: String
        var bodySize: Int?
        var isStreamed = false

        init(_ url: String) { self.url = url }

        init(posting count: Int, to url: String, isStreamed: Bool = false) {
            (method, self.url, bodySize, self.isStreamed) = ("POST", url, count, isStreamed)
        }
    }

    var requests: [Request]
    var isParallel = false
    var authority: String?
    var proxyPort: Int?
    var negotiateUser: String?
    var otherUser: String?
    var password: String?
    var cleartextHosts: [String] = []
    var delegationHosts: [String] = []
    var requiresMutualAuthentication = true
    var timeout = 60.0

    init(_ urls: [String]) { requests = urls.map { Request($0) } }

    init(_ requests: [Request]) { self.requests = requests }

    func run(environment: [String: String]) async throws -> ProbeReport {
        let text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        let run = try await ProgramRun("NegotiateProbe", [text], environment: environment)
        guard run.status == 0 else { throw ProbeError(text: "status \(run.status): \(run.errors)") }
        return try JSONDecoder().decode(ProbeReport.self, from: run.output)
    }
}

/// The probe has failed itself.
struct ProbeError: Error {
    let text: String
}

/// The probe's result; the counterpart of its `Report`.
struct ProbeReport: Decodable, Sendable {
    struct Response: Decodable, Sendable {
        let url: String
        let status: Int
        let body: String
        let error: Int
        let sent: Int
        let bodyBytes: Int
        let connections: Int
    }

    let responses: [Response]
    let order: [Int]
    let challenges: [String]
    let failures: [String]

    var statuses: [Int] { responses.map(\.status) }
    var bodies: [String] { responses.map(\.body) }
    var sent: [Int] { responses.map(\.sent) }
    var connections: [Int] { responses.map(\.connections) }
}
