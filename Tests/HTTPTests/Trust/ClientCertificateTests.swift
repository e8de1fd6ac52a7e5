import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Servers that ask who the client is.
@Suite struct ClientCertificateTests {
    private static let route: LoopbackServer.Route = { request in
        let shown = request.tls?.peerCertificateDER.flatMap { try? X509Certificate(derRepresentation: Data($0)) }
        return .text((shown?.subject ?? "nobody") + (request.tls?.isResumed == true ? " resumed" : ""))
    }

    private static func identity(_ authority: CertificateAuthority, _ name: String = "Ada") throws -> ClientIdentity {
        let files = try authority.issue(.client(name))
        return try ClientIdentity(pemRepresentation: files.certificatePEM + files.privateKeyPEM)
    }

    private struct Case: Sendable {
        var what: String
        var requires = true
        var answer: ChallengeNotes.Answer?
        var outcome: Outcome
    }

    private static func cases(_ authority: CertificateAuthority) throws -> [Case] {
        func with(_ identity: ClientIdentity) -> ChallengeNotes.Answer {
            (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .forSession))
        }
        let ada = try identity(authority)
        let below = try identity(try authority.intermediate(), "Below")
        let stranger = try identity(try CertificateAuthority(), "Stranger")
        let bare = URLCredential(identity: below, certificates: [], persistence: .none)
        return [
            Case(what: "identity", answer: with(ada), outcome: .ok("CN=Ada")),
            Case(what: "intermediates are sent along", answer: with(below), outcome: .ok("CN=Below")),
            Case(
                what: "unless the program says none", answer: (.useCredential, bare),
                outcome: .failed(.clientCertificateRejected)),
            Case(what: "a stranger", answer: with(stranger), outcome: .failed(.clientCertificateRejected)),
            Case(what: "no delegate", outcome: .failed(.clientCertificateRequired)),
            Case(
                what: "default", answer: (.performDefaultHandling, nil), outcome: .failed(.clientCertificateRequired)),
            Case(what: "no credential", answer: (.useCredential, nil), outcome: .failed(.clientCertificateRequired)),
            Case(
                what: "a password",
                answer: (.useCredential, URLCredential(user: "u", password: "p", persistence: .none)),
                outcome: .failed(.clientCertificateRequired)),
            Case(
                what: "reject", answer: (.rejectProtectionSpace, nil), outcome: .failed(.clientCertificateRequired)),
            Case(
                what: "cancel", answer: (.cancelAuthenticationChallenge, nil), outcome: .failed(.cancelled)),
            Case(what: "optional, identity", requires: false, answer: with(ada), outcome: .ok("CN=Ada")),
            Case(what: "optional, none", requires: false, outcome: .ok("nobody")),
            Case(
                what: "optional, default", requires: false, answer: (.performDefaultHandling, nil),
                outcome: .ok("nobody")),
        ]
    }

    private func server(
        _ version: String, _ tls: TLSGeneration, _ authority: CertificateAuthority, requires: Bool
    ) throws -> LoopbackServer {
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: [version])
        options.maximumVersion = tls.version
        options.clientAuthoritiesPEM = [authority.certificatePEM]
        options.requiresClientCertificate = requires
        return try LoopbackServer(LoopbackServer.Options(tls: options), route: Self.route)
    }

    @Test(arguments: BothVersions.all, TLSGeneration.allCases)
    func answers(version: String, tls: TLSGeneration) async throws {
        let authority = try CertificateAuthority()
        for test in try Self.cases(authority) {
            let server = try server(version, tls, authority, requires: test.requires)
            defer { server.stop() }
            let delegate = test.answer.map { answer in
                TrustAnswerer { $0.protectionSpace.serverTrust == nil ? answer : (.performDefaultHandling, nil) }
            }
            let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            try await withTimeout(test.what) {
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == test.outcome, "\(test.what)")
                guard let delegate else { return }
                #expect(delegate.methods == ["ServerTrust", "ClientCertificate"], "\(test.what)")
                let space = try #require(delegate.challenges.last?.protectionSpace)
                #expect(space.host == "localhost" && space.port == server.address.port.map { Int($0) })
                let names = try #require(space.distinguishedNames)
                // SEQUENCE { SET { SEQUENCE { OID, UTF8String } } }
                #expect(names.count == 1 && names.first?.first == 0x30)
                #expect(names.first?.range(of: Data("LoadingKit Loopback CA".utf8)) != nil)
            }
        }
    }

    @Test("the error says what was missing, in plain words")
    func words() async throws {
        let authority = try CertificateAuthority()
        let server = try server("http/1.1", .tls13, authority, requires: true)
        defer { server.stop() }
        let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        let error = await #expect(throws: URLError.self) {
            try await session.data(for: try BothVersions.request(server, "/"))
        }
        #expect(error?.localizedDescription.contains("URLCredential(identity:certificates:persistence:)") == true)
    }

    /// A program's own storage, which has a credential for one space.
    private final class OwnStorage: URLCredentialStorage, @unchecked Sendable {  // constants
        private let credential: URLCredential
        private let space: URLProtectionSpace

        init(_ credential: URLCredential, for space: URLProtectionSpace) {
            self.credential = credential
            self.space = space
            super.init()
        }

        override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            space == self.space ? credential : nil
        }
    }

    @Test(
        "the storage's default is sent without asking, and proposed where somebody is asked",
        arguments: BothVersions.all)
    func storedCredential(version: String) async throws {
        let authority = try CertificateAuthority()
        let server = try server(version, .tls13, authority, requires: true)
        defer { server.stop() }
        let space = URLProtectionSpace(
            host: "localhost", port: Int(server.address.port ?? 0), protocol: NSURLProtectionSpaceHTTPS, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodClientCertificate)
        let stored = URLCredential(
            identity: try Self.identity(authority), certificates: nil, persistence: .forSession)
        let builtIn = URLCredentialStorage()
        builtIn.setDefaultCredential(stored, for: space)
        for storage in [builtIn, OwnStorage(stored, for: space)] {
            for delegate in [nil, TrustAnswerer { _ in (.performDefaultHandling, nil) }] {
                let session = makeSession(delegate: delegate) {
                    $0.tlsTrustRoots = .pem(authority.certificatePEM)
                    $0.urlCredentialStorage = storage
                }
                defer { session.invalidateAndCancel() }
                let request = try BothVersions.request(server, "/")
                #expect(await session.outcome(request) == .ok("CN=Ada"))
                if let delegate { #expect(delegate.challenges.last?.proposedCredential == stored) }
            }
        }
    }

    @Test("who the client is, is asked on each connection", arguments: BothVersions.all, TLSGeneration.allCases)
    func everyConnection(version: String, tls: TLSGeneration) async throws {
        let authority = try CertificateAuthority()
        let server = try server(version, tls, authority, requires: false)
        defer { server.stop() }
        let ada = try Self.identity(authority)
        let isAda = Box(true)
        let delegate = TrustAnswerer { challenge in
            guard challenge.protectionSpace.serverTrust == nil, isAda.value else {
                return (.performDefaultHandling, nil)
            }
            return (.useCredential, URLCredential(identity: ada, certificates: nil, persistence: .none))
        }
        let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        let request = try BothVersions.request(server, "/")
        try await withTimeout {
            for _ in 0..<2 { #expect(await session.outcome(request) == .ok("CN=Ada")) }
            await session.forget()
            isAda.value = false
            #expect(await session.outcome(request) == .ok("nobody"))
        }
        #expect(delegate.methods == ["ServerTrust", "ClientCertificate", "ServerTrust", "ClientCertificate"])
    }

    @Test("the program thinks, and the task is cancelled meanwhile", arguments: BothVersions.all)
    func cancelledWhileAsked(version: String) async throws {
        let authority = try CertificateAuthority()
        let server = try server(version, .tls13, authority, requires: true)
        defer { server.stop() }
        let thinker = TrustThinker()
        let session = makeSession(delegate: thinker) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        let request = try BothVersions.request(server, "/")
        try await withTimeout {
            let load = Task { await session.outcome(request) }
            try #require(await thinker.questions.element(at: 0)).accept()
            let question = try #require(await thinker.questions.element(at: 1))
            load.cancel()
            #expect(await load.value == .failed(.cancelled))
            await server.endings.count(reaches: 1)
            question.answer(.performDefaultHandling, nil)
        }
    }

    @Test("a real server that verifies clients", arguments: [false, true])
    func nginx(speaksHTTP2: Bool) async throws {
        let authority = try CertificateAuthority()
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "clients.pem")
        let nginx = try await onThread {
            try NginxServer(
                identity: try authority.issue(), speaksHTTP2: speaksHTTP2,
                directives: """
                    ssl_client_certificate \(folder.path)/clients.pem;
                    ssl_verify_client on;
                    location / { return 200 "$ssl_client_s_dn $ssl_client_verify $server_protocol"; }
                    """)
        }
        defer { nginx.stop() }
        let request = URLRequest(url: try #require(nginx.secureURL().flatMap { URL(string: $0) }))
        let version = speaksHTTP2 ? "HTTP/2.0" : "HTTP/1.1"
        let stranger = try Self.identity(try CertificateAuthority(), "Stranger")
        let cases: [(ClientIdentity?, Int, String)] = [
            (try Self.identity(authority), 200, "CN=Ada SUCCESS \(version)"),
            // nginx lets the handshake pass, and says so in a response.
            (nil, 400, "No required SSL certificate was sent"), (stranger, 400, "SSL certificate error"),
        ]
        for (identity, status, words) in cases {
            let delegate = TrustAnswerer.accepting(identity)
            let session = makeSession(delegate: delegate)
            defer { session.invalidateAndCancel() }
            try await withTimeout {
                guard case .loaded(status, let body) = await session.outcome(request) else {
                    Issue.record("\(words): \(await session.outcome(request))")
                    return
                }
                #expect(body.contains(words), "\(body)")
            }
        }
    }

    /// The session has remembered the credential.
    @Test(arguments: BothVersions.all)
    func followsFiles(version: String) async throws {
        let (authority, folder) = (try CertificateAuthority(), try TemporaryFolder())
        @Sendable func renew(_ name: String) throws {
            let files = try authority.issue(.client(name))
            try folder.write(files.certificatePEM, to: "client.pem")
            try folder.write(files.privateKeyPEM, to: "client.key")
        }
        try renew("Ada")
        let (certificate, key) = (folder.file("client.pem").path, folder.file("client.key").path)
        let identity = try ClientIdentity(certificateFile: certificate, privateKeyFile: key)
        let server = try server(version, .tls13, authority, requires: true)
        defer { server.stop() }
        let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)
        let delegate = TrustAnswerer {
            $0.protectionSpace.serverTrust == nil ? (.useCredential, credential) : (.performDefaultHandling, nil)
        }
        let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            #expect(await session.outcome(try BothVersions.request(server, "/")) == .ok("CN=Ada"))
            for (change, name) in [("renewed", "Grace"), ("without its key", "Grace"), ("renewed again", "Joan")] {
                if change == "without its key" {
                    try FileManager.default.removeItem(atPath: key)
                } else {
                    try renew(name)
                }
                identity.files?.checkAtNextUse()
                await session.flush()
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == .ok("CN=\(name)") || outcome == .ok("CN=\(name) resumed"), "\(change)")
            }
        }
        #expect(throws: ClientIdentityError.self) { try ClientIdentity(certificateFile: certificate + "-none") }
    }
}
