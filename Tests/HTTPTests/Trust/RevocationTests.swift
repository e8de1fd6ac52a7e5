import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Certificates that were revoked, by what a server staples to its handshake and by lists of the program's.
@Suite(.usesPeers) struct RevocationTests {
    private static let route: LoopbackServer.Route = { .text("\($0.connection)") }

    /// The status that a server staples, and its result without a delegate.
    private struct Case: Sendable {
        var what: String
        var staple: [UInt8]?
        /// Where the certificate does not demand a staple.
        var outcome = Outcome.ok("0")
        /// Where it does.
        var demanded = Outcome.failed(.serverCertificateUntrusted)
    }

    private static func cases(_ authority: CertificateAuthority, _ leaf: ServerIdentity) throws -> [Case] {
        let pem = leaf.certificatePEM
        let other = try authority.issue().certificatePEM
        let past = Int(Date().timeIntervalSince1970) - 7200
        let stranger = try ServerIdentity.selfSigned(CertificateAuthority.authorityTemplate("LoadingKit Loopback CA"))
        let responder = try authority.issue(.ocspResponder())
        let revoked = Outcome.failed(.serverCertificateUntrusted)
        return [
            Case(what: "none"),
            Case(what: "good", staple: try authority.ocspResponse(about: pem), demanded: .ok("0")),
            Case(
                what: "revoked", staple: try authority.ocspResponse(about: pem, .revoked(since: past)),
                outcome: revoked),
            Case(
                what: "revoked, and out of date",
                staple: try authority.ocspResponse(about: pem, .revoked(since: past), validity: -86_400...(-3600)),
                outcome: revoked),
            Case(what: "unknown", staple: try authority.ocspResponse(about: pem, .unknown)),
            Case(what: "out of date", staple: try authority.ocspResponse(about: pem, validity: -86_400...(-3600))),
            Case(
                what: "within the skew", staple: try authority.ocspResponse(about: pem, validity: -86_400...(-100)),
                demanded: .ok("0")),
            Case(what: "of the future", staple: try authority.ocspResponse(about: pem, validity: 3600...86_400)),
            Case(what: "about another", staple: try authority.ocspResponse(about: other, .revoked(since: past))),
            Case(
                what: "signed by a stranger",
                staple: try authority.ocspResponse(about: pem, .revoked(since: past), signedBy: stranger)),
            Case(what: "signed by the server itself", staple: try authority.ocspResponse(about: pem, signedBy: leaf)),
            Case(
                what: "good, by the authority's responder",
                staple: try authority.ocspResponse(about: pem, signedBy: responder), demanded: .ok("0")),
            Case(
                what: "revoked, by the authority's responder",
                staple: try authority.ocspResponse(about: pem, .revoked(since: past), signedBy: responder),
                outcome: revoked),
            Case(
                what: "unknown, by the authority's responder",
                staple: try authority.ocspResponse(about: pem, .unknown, signedBy: responder)),
            Case(
                what: "by a responder whose certificate has expired",
                staple: try authority.ocspResponse(
                    about: pem, signedBy: try authority.issue(.ocspResponder(notBefore: past - 86_400, notAfter: past)))
            ),
            Case(
                what: "by one that the authority has not made a responder",
                staple: try authority.ocspResponse(
                    about: pem, .revoked(since: past), signedBy: try authority.issue(.client("Ada")))),
            Case(
                what: "by the responder of another authority",
                staple: try authority.ocspResponse(
                    about: pem, .revoked(since: past),
                    signedBy: try CertificateAuthority(CertificateAuthority.authorityTemplate("Another"))
                        .issue(.ocspResponder()))),
            Case(
                what: "by the responder of an authority below",
                staple: try authority.ocspResponse(
                    about: pem, .revoked(since: past),
                    signedBy: try authority.intermediate().issue(.ocspResponder()))),
            Case(what: "garbage", staple: Array("not an answer".utf8)),
            Case(what: "cut off", staple: try authority.ocspResponse(about: pem).dropLast(9)),
        ]
    }

    @Test(
        "what a server staples, with certificates that demand it and others", arguments: BothVersions.all,
        TLSGeneration.allCases)
    func staples(version: String, tls: TLSGeneration) async throws {
        let authority = try CertificateAuthority()
        for isDemanded in [false, true] {
            var template = CertificateTemplate()
            template.demandsStatus = isDemanded
            let leaf = try authority.issue(template)
            for test in try Self.cases(authority, leaf) {
                var options = TLSServerOptions(leaf, applicationProtocols: [version])
                options.maximumVersion = tls.version
                options.stapledResponse = test.staple
                let server = try LoopbackServer(LoopbackServer.Options(tls: options), route: Self.route)
                defer { server.stop() }
                let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
                defer { session.invalidateAndCancel() }
                try await withTimeout(test.what) {
                    let outcome = await session.outcome(try BothVersions.request(server, "/"))
                    #expect(outcome == (isDemanded ? test.demanded : test.outcome), "\(test.what), \(isDemanded)")
                }
            }
        }
    }

    /// A server whose staple says that its certificate was revoked.
    private func withRevokedServer(
        _ tls: TLSGeneration, delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let leaf = try authority.issue()
        var options = TLSServerOptions(leaf)
        options.maximumVersion = tls.version
        options.stapledResponse = try authority.ocspResponse(
            about: leaf.certificatePEM, .revoked(since: 1_700_000_000))
        let server = try LoopbackServer(LoopbackServer.Options(tls: options), route: Self.route)
        defer { server.stop() }
        let session = makeSession(delegate: delegate) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, server) }
    }

    @Test("the error names the certificate and the time", arguments: TLSGeneration.allCases)
    func words(tls: TLSGeneration) async throws {
        try await withRevokedServer(tls) { session, server in
            let request = try BothVersions.request(server, "/")
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("CN=localhost") && text.contains("2023-11-14T22:13:20Z"), "\(text)")
            #expect(text.contains("keyCompromise"), "\(text)")
        }
    }

    @Test("a delegate that evaluates sees it, in TLS 1.2 too", arguments: TLSGeneration.allCases)
    func evaluated(tls: TLSGeneration) async throws {
        let verdicts = Recorder<String>()
        let delegate = TrustAnswerer { challenge in
            guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
            do throws(ServerTrustError) {
                try trust.evaluate()
                verdicts.append("trusted")
                return (.useCredential, URLCredential(trust: trust))
            } catch {
                verdicts.append("\(error.reason == .revoked) \(trust.ocspResponse != nil)")
                return (.cancelAuthenticationChallenge, nil)
            }
        }
        try await withRevokedServer(tls, delegate: delegate) { session, server in
            let outcome = await session.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == .failed(.cancelled))
            #expect(server.requests.count == 0)
        }
        // TLS 1.2 has the staple after the certificates.
        #expect(verdicts.snapshot == (tls == .tls12 ? ["trusted", "true true"] : ["true true"]))
    }

    @Test("who accepts a server whatever is found does so", arguments: TLSGeneration.allCases)
    func accepted(tls: TLSGeneration) async throws {
        let delegate = TrustAnswerer.accepting()
        try await withRevokedServer(tls, delegate: delegate) { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("0"))
            await session.forget()
            // A session that was accepted against the rules is not resumed.
            #expect(await session.outcome(request) == .ok("1"))
            #expect(server.requests.snapshot.allSatisfy { $0.tls?.isResumed == false })
        }
        #expect(delegate.challenges.count == (tls == .tls12 ? 4 : 2))
    }

    @Test("the default holds what was found", arguments: TLSGeneration.allCases)
    func defaultHandling(tls: TLSGeneration) async throws {
        let delegate = TrustAnswerer { _ in (.performDefaultHandling, nil) }
        try await withRevokedServer(tls, delegate: delegate) { session, server in
            let outcome = await session.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == .failed(.serverCertificateUntrusted) && delegate.challenges.count == 1)
        }
        try await withRevokedServer(tls) {
            $0.tlsVerifiesServer = false
        } _: { session, server in
            let outcome = await session.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == .ok("0"))
        }
    }

    @Test("a session that is continued has no staple, and needs none", arguments: TLSGeneration.allCases)
    func resumed(tls: TLSGeneration) async throws {
        let authority = try CertificateAuthority()
        var template = CertificateTemplate()
        template.demandsStatus = true
        let leaf = try authority.issue(template)
        let delegates: [TrustAnswerer?] = [
            nil,
            TrustAnswerer { challenge in
                let trust = challenge.protectionSpace.serverTrust
                return trust?.isTrusted == true
                    ? (.performDefaultHandling, nil) : (.cancelAuthenticationChallenge, nil)
            },
        ]
        for delegate in delegates {
            var options = TLSServerOptions(leaf)
            options.maximumVersion = tls.version
            options.stapledResponse = try authority.ocspResponse(about: leaf.certificatePEM)
            let server = try LoopbackServer(LoopbackServer.Options(tls: options)) { request in
                .text(request.tls?.isResumed == true ? "resumed" : "new")
            }
            defer { server.stop() }
            let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            try await withTimeout {
                let request = try BothVersions.request(server, "/")
                #expect(await session.outcome(request) == .ok("new"))
                await session.forget()
                #expect(await session.outcome(request) == .ok("resumed"))
            }
        }
    }

    // MARK: Real servers

    @Test(
        "what nginx and OpenSSL's own server staple", arguments: StaplingServer.Program.allCases, TLSGeneration.allCases
    )
    func realServers(program: StaplingServer.Program, tls: TLSGeneration) async throws {
        let authority = try CertificateAuthority()
        var template = CertificateTemplate()
        template.demandsStatus = true
        let (plain, demanding) = (try authority.issue(), try authority.issue(template))
        let revoked = Outcome.failed(.serverCertificateUntrusted)
        let cases: [(String, ServerIdentity, [UInt8]?, Bool)] = [
            ("none", plain, nil, true),
            ("good", demanding, try authority.ocspResponse(about: demanding.certificatePEM), true),
            ("revoked", plain, try authority.ocspResponse(about: plain.certificatePEM, .revoked(since: 1)), false),
            ("none, demanded", demanding, nil, false),
        ]
        for (what, identity, staple, isLoaded) in cases {
            let server = try await onThread { try StaplingServer(program, identity, stapling: staple) }
            defer { server.stop() }
            let session = makeSession {
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
                if tls == .tls12 { $0.tlsMaximumSupportedProtocolVersion = .TLSv12 }
            }
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.url))
            try await withTimeout(what) {
                let outcome = await session.outcome(URLRequest(url: url))
                if isLoaded, case .loaded(200, _) = outcome { return }
                #expect(outcome == revoked && !isLoaded, "\(what)")
            }
        }
    }

    // MARK: Lists

    private struct ListCase: Sendable {
        var what: String
        var lists: [URLSessionConfiguration.RevocationList]
        var outcome = Outcome.failed(.serverCertificateUntrusted)
    }

    private static func pem(_ der: [UInt8]) -> String {
        let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN X509 CRL-----\n\(text)\n-----END X509 CRL-----\n"
    }

    @Test(arguments: TLSGeneration.allCases) func lists(tls: TLSGeneration) async throws {
        let root = try CertificateAuthority()
        let middle = try root.intermediate()
        let leaf = try middle.issue()
        let other = try CertificateAuthority(CertificateAuthority.authorityTemplate("Another"))
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let revokesLeaf = try middle.revocationList(of: [try middle.issue().certificatePEM, leaf.certificatePEM])
        try folder.write(revokesLeaf, to: "leaf.der")
        try folder.write(Self.pem(try root.revocationList()) + Self.pem(revokesLeaf), to: "both.pem")
        try folder.write("nothing", to: "empty.pem")
        func der(_ list: [UInt8]) -> URLSessionConfiguration.RevocationList { .der(Data(list)) }
        let cannot = Outcome.failed(.cannotConnectToHost)
        let cases = [
            ListCase(what: "none", lists: [], outcome: .ok("0")),
            ListCase(
                what: "valid, without it", lists: [der(try root.revocationList()), der(try middle.revocationList())],
                outcome: .ok("0")),
            ListCase(what: "leaf", lists: [der(revokesLeaf)]),
            ListCase(what: "leaf, DER file", lists: [.file(path: folder.file("leaf.der").path)]),
            ListCase(what: "leaf, PEM file", lists: [.file(path: folder.file("both.pem").path)]),
            ListCase(what: "leaf, PEM", lists: [.pem(Self.pem(revokesLeaf))]),
            ListCase(what: "intermediate", lists: [der(try root.revocationList(of: [middle.certificatePEM]))]),
            ListCase(what: "out of date", lists: [der(try middle.revocationList(validity: -86_400...(-3600)))]),
            ListCase(what: "of the future", lists: [der(try middle.revocationList(validity: 3600...86_400))]),
            ListCase(
                what: "another authority's", lists: [der(try other.revocationList(of: [leaf.certificatePEM]))],
                outcome: .ok("0")),
            ListCase(
                what: "of a stranger with the authority's name",
                lists: [
                    der(
                        try CertificateAuthority(
                            CertificateAuthority.authorityTemplate("LoadingKit Loopback Intermediate CA")
                        ).revocationList())
                ]),
            ListCase(what: "a delta list", lists: [der(try middle.revocationList(isDelta: true))], outcome: cannot),
            ListCase(what: "garbage", lists: [der([1, 2, 3])], outcome: cannot),
            ListCase(what: "no list", lists: [.file(path: folder.file("empty.pem").path)], outcome: cannot),
            ListCase(what: "no file", lists: [.file(path: folder.file("missing").path)], outcome: cannot),
        ]
        for test in cases {
            var options = TLSServerOptions(leaf)
            options.maximumVersion = tls.version
            let server = try LoopbackServer(LoopbackServer.Options(tls: options), route: Self.route)
            defer { server.stop() }
            let session = makeSession {
                $0.tlsTrustRoots = .pem(root.certificatePEM)
                $0.tlsRevocationLists = test.lists
            }
            defer { session.invalidateAndCancel() }
            try await withTimeout(test.what) {
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == test.outcome, "\(test.what)")
            }
        }
    }

    @Test("an evaluation has the session's lists and its own, at its own time")
    func evaluation() async throws {
        let authority = try CertificateAuthority()
        let leaf = try authority.issue()
        let list = try authority.revocationList(of: [leaf.certificatePEM])
        var trust = ServerTrust(
            certificates: try X509Certificate.certificates(pemRepresentation: leaf.certificatePEM), host: "localhost")
        trust.anchorCertificates = [try X509Certificate(pemRepresentation: authority.certificatePEM)]
        try trust.evaluate()
        trust.revocationLists = [.der(Data(list))]
        var error = #expect(throws: ServerTrustError.self) { try trust.evaluate() }
        #expect(error?.reason == .revoked && error?.certificate?.subject == "CN=localhost" && error?.depth == 0)
        #expect(error?.code == .serverCertificateUntrusted)
        // Tomorrow the list has ended.
        trust.verifyDate = Date(timeIntervalSinceNow: 2 * 86_400)
        error = #expect(throws: ServerTrustError.self) { try trust.evaluate() }
        #expect(error?.reason == .unknownRevocationStatus)
        trust.verifyDate = nil
        trust.revocationLists = [.der(Data([0]))]
        error = #expect(throws: ServerTrustError.self) { try trust.evaluate() }
        #expect(error?.reason == .unknownRevocationStatus)
        trust.revocationLists = []
        let staple = try authority.ocspResponse(about: leaf.certificatePEM, .revoked(since: 1_700_000_000))
        trust.ocspResponse = Data(staple)
        error = #expect(throws: ServerTrustError.self) { try trust.evaluate() }
        #expect(error?.reason == .revoked)
        trust.ocspResponse = nil
        try trust.evaluate()
    }
}
