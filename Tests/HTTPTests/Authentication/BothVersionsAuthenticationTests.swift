import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// Challenges and their answers, over HTTP/1.1 and HTTP/2.
@Suite struct BothVersionsAuthenticationTests {
    private static let right = URLCredential(user: "u", password: "p", persistence: .forSession)
    private static let wrong = URLCredential(user: "u", password: "wrong", persistence: .forSession)
    private static let refused = Outcome.loaded(status: 401, body: "refused")
    private static let basic = "Basic realm=\"r\""
    private static let digest = "Digest realm=\"r\", qop=\"auth\""

    private static func space(_ server: LoopbackServer, _ method: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: "localhost", port: Int(server.address.port ?? 0), protocol: "https", realm: "r",
            authenticationMethod: method)
    }

    /// Without a credential, the refusal is the response.
    @Test(arguments: BothVersions.all) func withoutCredentials(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        for delegate in [nil, ChallengeAnswerer { _ in (.performDefaultHandling, nil) }] {
            try await BothVersions.withServer(version, site.route, delegate: delegate) { session, server in
                #expect(await session.outcome(server, "/") == Self.refused)
            }
        }
        #expect(site.seen.snapshot == ["/ -", "/ -"])
    }

    @Test(arguments: BothVersions.all) func dispositions(version: String) async throws {
        let cases: [(String, ChallengeAnswerer.Answer, Outcome, requests: Int)] = [
            ("use", (.useCredential, Self.right), .ok("GET "), 2),
            ("use none", (.useCredential, nil), Self.refused, 1),
            ("default", (.performDefaultHandling, Self.right), Self.refused, 1),
            ("cancel", (.cancelAuthenticationChallenge, Self.right), .failed(.cancelled), 1),
            ("reject", (.rejectProtectionSpace, Self.right), Self.refused, 1),
            (
                "unusable", (.useCredential, URLCredential(user: "a:b", password: "", persistence: .none)),
                Self.refused, 1
            ),
        ]
        for (name, answer, outcome, requests) in cases {
            for challenge in [Self.basic, Self.digest] where name != "unusable" || challenge == Self.basic {
                let site = ProtectedSite(challenge)
                let answerer = ChallengeAnswerer { _ in answer }
                try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
                    #expect(await session.outcome(server, "/") == outcome, "\(name)")
                }
                #expect(answerer.seen.count == 1 && site.seen.count == requests, "\(name)")
            }
        }
    }

    @Test(arguments: BothVersions.all) func failuresAreCounted(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        let answerer = ChallengeAnswerer { challenge in
            (.useCredential, challenge.previousFailureCount < 2 ? Self.wrong : Self.right)
        }
        try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("GET "))
            let expected = ["0 -", "1 u", "2 u"].map { "task's task: HTTPBasic r \($0)" }
            #expect(answerer.seen.snapshot == expected)
            for challenge in answerer.challenges.snapshot {
                #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401 && challenge.error == nil)
                #expect(challenge.protectionSpace == Self.space(server, NSURLAuthenticationMethodHTTPBasic))
            }
            #expect(answerer.challenges.snapshot.last?.proposedCredential == Self.wrong)
            // Each attempt is a transaction.
            let metrics = try #require(await answerer.metrics.element(at: 0))
            let statuses = metrics.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
            #expect(statuses == [401, 401, 401, 200])
            #expect(metrics.transactionMetrics.map(\.isReusedConnection) == [false, true, true, true])
        }
    }

    /// The strongest scheme is used first, and after its rejection the next.
    @Test(arguments: BothVersions.all) func schemesInTheirOrder(version: String) async throws {
        let site = ProtectedSite(
            "\(Self.basic), Unknown x=y", Self.digest, "Digest realm=\"r\", qop=auth, algorithm=SHA-256", "Bearer",
            "Digest realm=\"other\", qop=auth, algorithm=unknown")
        let order = ["HTTPDigest", "HTTPBasic"].map { "task's task: \($0) r 0 -" }
        for rejected in 0...2 {
            let count = Box(0)
            let answerer = ChallengeAnswerer { _ in
                let number = count.update { count in
                    count += 1
                    return count
                }
                return number > rejected ? (.useCredential, Self.right) : (.rejectProtectionSpace, nil)
            }
            try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
                let outcome = await session.outcome(server, "/")
                #expect(outcome == (rejected == 2 ? Self.refused : .ok("GET ")))
                #expect(answerer.seen.snapshot == Array(order.prefix(rejected + 1)))
                let sent = server.requests.snapshot.last?.fields[.authorization]
                #expect(sent?.contains("algorithm=SHA-256") == (rejected == 0 ? true : sent == nil ? nil : false))
            }
        }
    }

    @Test(arguments: BothVersions.all) func bodiesAreSentAgain(version: String) async throws {
        for (isStreamed, given) in [(false, nil), (true, "again"), (true, nil)] as [(Bool, String?)] {
            let site = ProtectedSite(Self.digest)
            let answerer = ChallengeAnswerer(
                "u", "p", .none, bodies: { given.map { InputStream(data: Data($0.utf8)) } })
            try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
                let request = try BothVersions.request(
                    server, "/", "POST", body: Data("first".utf8), isStreamed: isStreamed)
                let outcome = await session.outcome(request)
                switch (isStreamed, given) {
                case (false, _): #expect(outcome == .ok("POST first"))
                case (true, let given?): #expect(outcome == .ok("POST \(given)"))
                case (true, nil): #expect(outcome == .failed(.requestBodyStreamExhausted))
                }
                #expect(answerer.seen.snapshot.contains("body") == isStreamed)
            }
        }
    }

    /// An accepted credential is sent without a challenge below the same folder, and answers challenges elsewhere in
    /// the realm. It is not used once it is removed from the storage.
    @Test(arguments: BothVersions.all) func basicIsRemembered(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        let answerer = ChallengeAnswerer { challenge in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .forSession))
        }
        let storage = URLCredentialStorage()
        try await BothVersions.withServer(
            version, site.route, delegate: answerer, { $0.urlCredentialStorage = storage }
        ) {
            session, server in
            for path in ["/a/b", "/a/c/d?q", "/a/", "/x", "/y"] {
                #expect(await session.outcome(server, path) == .ok("GET "), "\(path)")
            }
            #expect(
                site.seen.snapshot == [
                    "/a/b -", "/a/b Basic", "/a/c/d Basic", "/a/ Basic", "/x -", "/x Basic", "/y Basic",
                ])
            let space = Self.space(server, NSURLAuthenticationMethodHTTPBasic)
            #expect(answerer.seen.count == 1 && storage.credentials(for: space) == ["u": Self.right])
            storage.remove(Self.right, for: space)
            #expect(await session.outcome(server, "/a/b") == .ok("GET "))
            #expect(Array(site.seen.snapshot.suffix(2)) == ["/a/b -", "/a/b Basic"] && answerer.seen.count == 2)
        }
    }

    @Test(arguments: BothVersions.all) func whatIsForOneRequestIsNotRemembered(version: String) async throws {
        for hasStorage in [true, false] {
            let site = ProtectedSite(Self.basic)
            let answerer = ChallengeAnswerer("u", "p", hasStorage ? .none : .permanent)
            try await BothVersions.withServer(
                version, site.route, delegate: answerer, { if !hasStorage { $0.urlCredentialStorage = nil } }
            ) { session, server in
                for _ in 0..<2 { #expect(await session.outcome(server, "/") == .ok("GET ")) }
                #expect(answerer.seen.snapshot == Array(repeating: "task's task: HTTPBasic r 0 -", count: 2))
            }
        }
    }

    /// After a flush the stored credential is proposed. After a reset there is none.
    @Test(arguments: BothVersions.all) func resetting(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        let answerer = ChallengeAnswerer("u", "p")
        try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("GET "))
            await withCheckedContinuation { done in session.flush { done.resume() } }
            #expect(await session.outcome(server, "/") == .ok("GET "))
            await withCheckedContinuation { done in session.reset { done.resume() } }
            #expect(await session.outcome(server, "/") == .ok("GET "))
            #expect(answerer.seen.snapshot == ["-", "u", "-"].map { "task's task: HTTPBasic r 0 \($0)" })
        }
    }

    /// When the password has changed, the remembered credential fails, and is proposed as the one that failed.
    @Test(arguments: BothVersions.all) func whatIsRememberedMayFail(version: String) async throws {
        let isOpen = Box(true)
        let site = ProtectedSite(Self.basic)
        let answerer = ChallengeAnswerer { _ in
            (.useCredential, isOpen.value ? Self.wrong : Self.right)
        }
        let route: LoopbackServer.Route = { request in
            isOpen.value && request.fields.contains(.authorization) ? .text("open") : try site.route(request)
        }
        try await BothVersions.withServer(version, route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("open"))
            isOpen.update { $0 = false }
            #expect(await session.outcome(server, "/") == .ok("GET "))
            #expect(answerer.seen.snapshot == ["0 -", "1 u"].map { "task's task: HTTPBasic r \($0)" })
            #expect(site.seen.snapshot == ["/ -", "/ Basic", "/ Basic"])
        }
    }

    /// A credential that is refused without a challenge, or with none that can be answered, is not remembered, and no
    /// longer remembered after that.
    @Test(
        arguments: BothVersions.all,
        [
            "", "Unknown x=y", "Unknown realm=r", "Unknown realm=other, Unknown realm=r",
            "Unknown realm=other, Unknown x=y",
        ])
    func aRefusalWithoutAChallenge(version: String, unknown: String) async throws {
        let (accepted, given) = (Box("Basic dTpw"), Box(Self.wrong))
        let answerer = ChallengeAnswerer { _ in (.useCredential, given.value) }
        let route: LoopbackServer.Route = { request in
            let sent = request.fields[.authorization]
            if sent == accepted.value { return .text("in") }
            let refusal = ServerResponse.text("refused", status: 401)
            let challenge = sent == nil ? Self.basic : unknown
            return challenge.isEmpty ? refusal : refusal.adding("WWW-Authenticate", challenge)
        }
        let storage = URLCredentialStorage()
        try await BothVersions.withServer(
            version, route, delegate: answerer, { $0.urlCredentialStorage = storage }
        ) { session, server in
            #expect(await session.outcome(server, "/") == Self.refused)
            #expect(storage.credentials(for: Self.space(server, NSURLAuthenticationMethodHTTPBasic)) == nil)
            given.value = Self.right
            for _ in 0..<2 { #expect(await session.outcome(server, "/") == .ok("in")) }
            #expect(answerer.seen.count == 2)
            accepted.value = "another"
            for _ in 0..<2 { #expect(await session.outcome(server, "/") == Self.refused) }
            #expect(answerer.seen.count == 3)
        }
    }

    @Test(arguments: BothVersions.all) func aRefusalWithAWrongProof(version: String) async throws {
        let (answerer, refuses) = (ChallengeAnswerer("u", "p"), Box(false))
        let route: LoopbackServer.Route = { request in
            let refusal = ServerResponse.text("refused", status: 401)
            guard request.fields.contains(.authorization) else {
                return refusal.adding("WWW-Authenticate", "\(Self.digest), nonce=n")
            }
            return refuses.value ? refusal.adding("Authentication-Info", "rspauth=\"0\"") : .text("in")
        }
        try await BothVersions.withServer(version, route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
            refuses.value = true
            #expect(await session.outcome(server, "/") == Self.refused)
            refuses.value = false
            #expect(await session.outcome(server, "/") == .ok("in"))
            #expect(answerer.seen.count == 2)
        }
    }

    /// A challenge that cannot be answered, for another realm, does not refuse the remembered credential.
    @Test(arguments: BothVersions.all) func anUnknownSchemeOfAnotherRealm(version: String) async throws {
        let answerer = ChallengeAnswerer("u", "p")
        let route: LoopbackServer.Route = { request in
            let isOther = request.path == "/api"
            if !isOther, request.fields[.authorization] == "Basic dTpw" { return .text("in") }
            return ServerResponse.text("refused", status: 401)
                .adding("WWW-Authenticate", isOther ? "Bearer realm=\"api\"" : Self.basic)
        }
        try await BothVersions.withServer(version, route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
            #expect(await session.outcome(server, "/api") == Self.refused)
            #expect(await session.outcome(server, "/") == .ok("in"))
            #expect(server.requests.snapshot.map(\.path) == ["/", "/", "/api", "/"])
        }
    }

    /// Each refusal names another realm than the last: one of two, or a new one. The URL has a wrong password.
    @Test(arguments: BothVersions.all) func realmsThatChange(version: String) async throws {
        for (realms, requests) in [(2, 3), (1000, 21)] {
            let counter = Counter()
            let route: LoopbackServer.Route = { _ in
                ServerResponse.text("refused", status: 401)
                    .adding("WWW-Authenticate", "Basic realm=r\(counter.next() % realms)")
            }
            try await BothVersions.withServer(version, route) { session, server in
                let url = try #require(URL(string: server.url("/", host: "u:wrong@localhost")))
                #expect(await session.outcome(URLRequest(url: url)) == Self.refused)
                #expect(server.requests.count == requests, "\(realms)")
            }
        }
    }

    /// A response names more realms than a thread's stack has room for choices. The URL, the program's or that of a
    /// redirect, has a user with a colon, whom no realm can be sent.
    @Test(arguments: BothVersions.all) func manyRealms(version: String) async throws {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        let challenges = (0..<16_000).map { number in
            "Basic realm=\(letters[number / 676])\(letters[number / 26 % 26])\(letters[number % 26])"
        }
        let field = challenges.joined(separator: ",")
        let route: LoopbackServer.Route = { request in
            if request.path == "/old" { return .redirect(to: "//a%3Ab:x@\(request.fields[.host] ?? "")/") }
            return ServerResponse.text("refused", status: 401).adding("WWW-Authenticate", field)
        }
        try await BothVersions.withServer(version, route) { session, server in
            let url = try #require(URL(string: server.url("/", host: "a%3Ab:x@localhost")))
            #expect(await session.outcome(URLRequest(url: url)) == Self.refused)
            #expect(await session.outcome(server, "/old") == Self.refused)
            #expect(server.requests.snapshot.map(\.path) == ["/", "/old", "/"])
        }
    }

    @Test(arguments: BothVersions.all) func noncesAreCountedAndRenewed(version: String) async throws {
        let site = ProtectedSite(Self.digest)
        let answerer = ChallengeAnswerer("u", "p")
        try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
            for path in ["/a", "/b", "/c"] {
                #expect(await session.outcome(server, path) == .ok("GET "))
            }
            #expect(site.seen.snapshot == ["/a -", "/a Digest 00000001", "/b Digest 00000002", "/c Digest 00000003"])
            site.behaviour.update { $0.information = "nextnonce=\"next\"" }
            #expect(await session.outcome(server, "/d") == .ok("GET "))
            site.behaviour.update { $0.information = nil }
            #expect(await session.outcome(server, "/e") == .ok("GET "))
            #expect(site.seen.snapshot.suffix(2) == ["/d Digest 00000004", "/e Digest 00000001"])
            // A nonce that is too old costs a request, and no challenge of the program. So does one that the server has
            // forgotten.
            for (nonce, saysStale) in [("next", true), ("n2", false)] {
                site.behaviour.update {
                    $0.oldNonces = [nonce]
                    $0.saysStale = saysStale
                }
                #expect(await session.outcome(server, "/f") == .ok("GET "))
            }
            #expect(
                site.seen.snapshot.suffix(4) == [
                    "/f Digest 00000002", "/f Digest 00000001", "/f Digest 00000002", "/f Digest 00000001",
                ])
            #expect(answerer.seen.count == 1)
        }
    }

    /// A server whose nonces are always too old gets a bounded number of requests.
    @Test(arguments: BothVersions.all) func noncesThatAreAlwaysTooOld(version: String) async throws {
        let site = ProtectedSite(Self.digest)
        site.behaviour.update { $0.oldNonces = Set((0..<100).map { "n\($0)" }) }
        let answerer = ChallengeAnswerer { challenge in
            challenge.previousFailureCount == 0 ? (.useCredential, Self.right) : (.useCredential, nil)
        }
        try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == Self.refused)
            #expect(answerer.seen.count == 2 && site.seen.count == 11)
        }
    }

    /// A server whose proof that it knows the password is wrong.
    @Test(arguments: BothVersions.all) func theServerProvesItself(version: String) async throws {
        let site = ProtectedSite(Self.digest)
        site.behaviour.update { $0.information = "rspauth=\"0123456789abcdef\", qop=auth" }
        try await BothVersions.withServer(version, site.route, delegate: ChallengeAnswerer("u", "p")) {
            session, server in
            #expect(await session.outcome(server, "/") == .failed(.badServerResponse))
        }
    }

    /// A proof that covers the response's body is checked when all of the body is received. It may be in the fields or
    /// in the trailers.
    @Test(arguments: BothVersions.all, ["right", "wrong", "of another body", "none", "trailer", "wrong trailer"])
    func theServerProvesItselfByTheBody(version: String, claim: String) async throws {
        let body = String(repeating: "0123456789", count: 5000)
        let route: LoopbackServer.Route = { request in
            guard let value = request.fields[.authorization], let sent = ChallengeParser.challenges([value]).first
            else {
                return ServerResponse.text("", status: 401)
                    .adding("WWW-Authenticate", "Digest realm=r, nonce=n, qop=\"auth-int\", algorithm=SHA-256")
            }
            let algorithm = try #require(DigestAlgorithm("SHA-256"))
            let covered = claim == "of another body" ? "?" : body
            let hash = algorithm.hash(covered).flatMap { algorithm.hash("", request.target, $0) } ?? ""
            let proof = algorithm.hash(
                algorithm.hash("u", "r", "p") ?? "", "n", sent["nc"] ?? "", sent["cnonce"] ?? "", "auth-int", hash)
            let said = claim.hasPrefix("wrong") ? "0123" : proof ?? ""
            var response = ServerResponse.text(body)
            let information = "qop=auth-int, rspauth=\"\(said)\""
            if claim.hasSuffix("trailer") { response.trailers.append(.authenticationInfo, information) }
            return claim == "none" || claim.hasSuffix("trailer")
                ? response : response.adding("Authentication-Info", information)
        }
        try await BothVersions.withServer(version, route, delegate: ChallengeAnswerer("u", "p")) { session, server in
            let outcome = await session.outcome(server, "/")
            #expect(
                outcome == (["right", "none", "trailer"].contains(claim) ? .ok(body) : .failed(.badServerResponse)))
        }
    }

    /// For each row: codings of the transfer, in chunks, and of the content.
    private static let coveredCodings = [
        ("", ""), ("", "gzip"), ("gzip", ""), ("gzip, gzip", ""), ("gzip", "gzip"), ("gzip, gzip", "gzip"),
    ]

    /// The proof covers the content in its codings (RFC 7616 §3.4.3), and not those of the transfer, which are the
    /// connection's.
    @Test(arguments: coveredCodings.indices, [true, false])
    func theProofIsOfTheContentWithoutTheTransfersCodings(_ row: Int, isRight: Bool) async throws {
        let (transfer, content) = Self.coveredCodings[row]
        // More than the buffers of a decoder hold.
        let body = (0..<40_000).map { "\($0 &* 2_654_435_761) " }.joined()
        let covered = content.isEmpty ? Array(body.utf8) : try Gzip.compress(Array(body.utf8))
        var sent = covered
        for _ in transfer.split(separator: ",") { sent = try Gzip.compress(sent) }
        let wrong = transfer.isEmpty ? [] : sent
        let bytes = sent
        let route: LoopbackServer.Route = { request in
            guard let value = request.fields[.authorization], let said = ChallengeParser.challenges([value]).first
            else {
                return ServerResponse.text("", status: 401)
                    .adding("WWW-Authenticate", "Digest realm=r, nonce=n, qop=\"auth-int\", algorithm=SHA-256")
            }
            let algorithm = try #require(DigestAlgorithm("SHA-256"))
            let hash = algorithm.digest.hash(isRight ? covered : wrong)?.hexadecimal ?? ""
            let proof = algorithm.hash(
                algorithm.hash("u", "r", "p") ?? "", "n", said["nc"] ?? "", said["cnonce"] ?? "", "auth-int",
                algorithm.hash("", request.target, hash) ?? "")
            let chunks = Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n0\r\n\r\n".utf8)
            var response = ServerResponse.stream(.untilClose) { try $0.write(chunks) }
                .adding("Authentication-Info", "qop=auth-int, rspauth=\"\(proof ?? "")\"")
                .adding("Transfer-Encoding", transfer.isEmpty ? "chunked" : "\(transfer), chunked")
            if !content.isEmpty { response = response.adding("Content-Encoding", content) }
            return response
        }
        try await BothVersions.withServer("http/1.1", route, delegate: ChallengeAnswerer("u", "p")) { session, server in
            #expect(await session.outcome(server, "/") == (isRight ? .ok(body) : .failed(.badServerResponse)))
        }
    }

    /// A caller's own `Authorization` is neither changed nor joined, and its refusal is the response.
    @Test(arguments: BothVersions.all) func theCallersOwnField(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        let answerer = ChallengeAnswerer("u", "p")
        try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("GET "))
            var request = try BothVersions.request(server, "/")
            request.setValue("Own x", forHTTPHeaderField: "Authorization")
            #expect(await session.outcome(request) == Self.refused)
            #expect(site.seen.snapshot == ["/ -", "/ Basic", "/ Own"] && answerer.seen.count == 1)
        }
    }

    @Test(arguments: BothVersions.all) func credentialsInTheURL(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        let answerer = ChallengeAnswerer { _ in (.performDefaultHandling, nil) }
        for (login, outcome) in [("u:p", .ok("GET ")), ("u:w%72ong", Self.refused), ("u", Self.refused)] {
            for delegate in [nil, answerer] {
                try await BothVersions.withServer(version, site.route, delegate: delegate) { session, server in
                    let text = server.url("/", host: "\(login)@localhost")
                    let url = try #require(URL(string: text))
                    #expect(await session.outcome(URLRequest(url: url)) == outcome, "\(login)")
                    #expect(server.requests.snapshot.first?.fields[.authorization] == nil)
                }
            }
        }
        #expect(answerer.challenges.snapshot.first?.proposedCredential == Self.right)
        #expect(answerer.challenges.snapshot.count == 5, "two are asked again, as what was proposed has failed")
    }

    /// A remembered credential is not sent where the URL names another user.
    @Test(arguments: BothVersions.all) func anotherUserInTheURL(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        try await BothVersions.withServer(version, site.route) { session, server in
            let cases = [
                ("u:p", Outcome.ok("GET ")), ("u:p", .ok("GET ")), ("v:p", Self.refused), ("w:p", Self.refused),
            ]
            for (login, outcome) in cases {
                let url = try #require(URL(string: server.url("/", host: "\(login)@localhost")))
                #expect(await session.outcome(URLRequest(url: url)) == outcome, "\(login)")
            }
            let sent = server.requests.snapshot.map { $0.fields[.authorization] ?? "-" }
            #expect(
                sent == ["-", "Basic dTpw", "Basic dTpw", "-", "Basic djpw", "-", "Basic dzpw"], "\(sent)")
        }
    }

    @Test(arguments: BothVersions.all) func storedCredentialsAreProposed(version: String) async throws {
        let other = URLCredential(user: "other", password: "p", persistence: .forSession)
        let cases: [(String, @Sendable (URLCredentialStorage, URLProtectionSpace) -> Void, Outcome)] = [
            ("default", { $0.setDefaultCredential(Self.right, for: $1) }, .ok("GET ")),
            ("only one", { $0.set(Self.right, for: $1) }, .ok("GET ")),
            (
                "default of two",
                {
                    $0.set(other, for: $1); $0.setDefaultCredential(Self.right, for: $1)
                }, .ok("GET ")
            ),
            (
                "two",
                {
                    $0.set(other, for: $1); $0.set(Self.right, for: $1)
                }, Self.refused
            ),
            ("wrong", { $0.set(Self.wrong, for: $1) }, Self.refused),
        ]
        for (name, fill, outcome) in cases {
            let site = ProtectedSite(Self.digest)
            let storage = URLCredentialStorage()
            try await BothVersions.withServer(version, site.route, { $0.urlCredentialStorage = storage }) {
                session, server in
                fill(storage, Self.space(server, NSURLAuthenticationMethodHTTPDigest))
                #expect(await session.outcome(server, "/") == outcome, "\(name)")
            }
        }
    }

    /// Concurrent requests of a session share a nonce's count.
    @Test(arguments: BothVersions.all) func requestsSideBySide(version: String) async throws {
        let site = ProtectedSite(Self.digest)
        try await BothVersions.withServer(version, site.route, delegate: ChallengeAnswerer("u", "p")) {
            session, server in
            #expect(await session.outcome(server, "/first") == .ok("GET "))
            let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
                for number in 0..<20 {
                    let request = try BothVersions.request(server, "/\(number)")
                    group.addTask { await session.outcome(request) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes == Array(repeating: .ok("GET "), count: 20))
            let counts = Set(site.seen.snapshot.compactMap { $0.split(separator: " ").last })
            #expect(counts.count == 22, "each count was used once")
        }
    }

    /// A scheme of the program's own.
    @Test(arguments: BothVersions.all) func otherSchemes(version: String) async throws {
        struct TokenScheme: HTTPAuthenticationScheme {
            static let name = "Token"
            static let authenticationMethod = "TokenMethod"
            let realm: String?
            let strength = 100
            init?(_ challenge: HTTPAuthenticationChallenge) { realm = challenge["realm"] }
            func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? {
                "Token \(credential.user ?? "")-\(request.method)-\(request.target)"
            }
            func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { false }
        }
        let route: LoopbackServer.Route = { request in
            request.fields[.authorization] == "Token u-GET-/"
                ? .text("in")
                : ServerResponse(401).adding(
                    "WWW-Authenticate", "Basic realm=r, Token realm=\"t\"")
        }
        let answerer = ChallengeAnswerer("u", "p")
        try await BothVersions.withServer(
            version, route, delegate: answerer, { $0.authenticationSchemes = [TokenScheme.self] }
        ) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
            #expect(answerer.seen.snapshot == ["task's task: TokenMethod t 0 -"])
        }
    }

    /// When a task is cancelled while the program has a challenge, no more requests are sent.
    @Test(arguments: BothVersions.all) func cancellingMeanwhile(version: String) async throws {
        let site = ProtectedSite(Self.basic)
        let tasks = Recorder<URLSessionTask>()
        let answerer = ChallengeAnswerer { _ in
            tasks.snapshot.first?.cancel()
            return (.useCredential, Self.right)
        }
        try await BothVersions.withServer(version, site.route, delegate: answerer) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            tasks.append(task)
            task.resume()
            _ = await answerer.metrics.element(at: 0)
            #expect((task.error as? URLError)?.code == .cancelled && site.seen.snapshot == ["/ -"])
        }
    }
}
