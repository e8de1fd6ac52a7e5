import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Sessions of several users share a cache. No user gets a response that was stored for another.
@Suite struct CacheOwnerTests {
    /// How a user authenticates.
    enum Way: String, CaseIterable, Sendable {
        case ofSession, byHand, basic, digest

        var path: String { self == .basic || self == .digest ? "/\(rawValue)" : "/" }
    }

    private struct Person: Sendable {
        let name: String?
        let session: URLSession
        let request: URLRequest

        func load() async -> Outcome { await session.outcome(request) }
    }

    private static func person(
        _ name: String?, _ way: Way, _ cache: URLCache, _ server: LoopbackServer, _ lines: [String],
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> Person {
        let isChallenged = way == .basic || way == .digest
        let delegate = name.flatMap { isChallenged ? ChallengeAnswerer($0, "p") : nil }
        let session = makeSession(delegate: delegate) {
            $0.urlCache = cache
            if way == .ofSession { $0.httpAdditionalHeaders = name.map { ["authorization": "Bearer \($0)"] } }
            configure($0)
        }
        let fields = way == .byHand ? name.map { ["Authorization": "Bearer \($0)"] } ?? [:] : [:]
        return Person(
            name: name, session: session, request: try PersonalSite.request(server, lines, at: way.path, fields))
    }

    private static func cache() -> URLCache { URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }

    private static func withServer(
        _ route: @escaping LoopbackServer.Route = PersonalSite.route,
        _ body: @escaping @Sendable (LoopbackServer, URLCache) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(route: route)
        defer { server.stop() }
        try await withTimeout { try await body(server, cache()) }
    }

    private static let storable = ["Cache-Control: max-age=1000"]

    /// A, B, no user, A, B, no user: the second time each gets the response that was stored for it.
    @Test(arguments: Way.allCases, [[], ["Vary: Authorization"], ["Vary: Accept-Language, Cookie"]])
    func eachUserGetsItsOwn(way: Way, vary: [String]) async throws {
        try await Self.withServer { server, cache in
            let people = try ["ada", "bob", nil].map {
                try Self.person($0, way, cache, server, Self.storable + vary)
            }
            defer { for person in people { person.session.invalidateAndCancel() } }
            for round in 0..<3 {
                if round == 1 { server.requests.removeAll() }
                for person in people {
                    let isRefused = person.name == nil && way.path != "/"
                    let expected = Outcome.loaded(status: isRefused ? 401 : 200, body: person.name ?? "nobody")
                    let outcome = await person.load()
                    #expect(outcome == expected, "\(round) \(person.name ?? "nobody")")
                }
            }
            // A refusal is not stored.
            #expect(server.requests.count == (way.path == "/" ? 0 : 2))
        }
    }

    /// A response that is `public` is for all users, with whatever credential it was received.
    @Test(arguments: Way.allCases) func publicResponses(way: Way) async throws {
        try await Self.withServer { server, cache in
            for (index, name) in ["ada", "bob", nil, "ada"].enumerated() {
                let person = try Self.person(name, way, cache, server, ["Cache-Control: public, max-age=1000"])
                defer { person.session.invalidateAndCancel() }
                #expect(await person.load() == .ok("ada"), "\(index)")
            }
            #expect(server.requests.count == (way.path == "/" ? 1 : 2))
        }
    }

    /// A session finds the user's responses once it knows the credential, and none before.
    @Test(arguments: [Way.basic, .digest]) func anotherSessionOfTheSameUser(way: Way) async throws {
        try await Self.withServer { server, cache in
            for name in ["ada", "bob", "ada"] {
                let person = try Self.person(name, way, cache, server, Self.storable)
                defer { person.session.invalidateAndCancel() }
                let before = server.requests.count
                for _ in 0..<3 { #expect(await person.load() == .ok(name)) }
                #expect(server.requests.count == before + 2)
            }
        }
    }

    /// With policies that use a stored response of any age, or nothing else.
    @Test func policies() async throws {
        try await Self.withServer { server, cache in
            let ada = try Self.person("ada", .ofSession, cache, server, ["Cache-Control: max-age=0"])
            let bob = try Self.person("bob", .ofSession, cache, server, ["Cache-Control: max-age=0"])
            defer { for person in [ada, bob] { person.session.invalidateAndCancel() } }
            #expect(await ada.load() == .ok("ada"))
            func load(_ person: Person, _ policy: URLRequest.CachePolicy, _ control: String? = nil) async -> Outcome {
                var request = person.request
                request.cachePolicy = policy
                request.setValue(control, forHTTPHeaderField: "Cache-Control")
                return await person.session.outcome(request)
            }
            #expect(await load(bob, .returnCacheDataDontLoad) == .failed(.resourceUnavailable))
            #expect(
                await load(bob, .useProtocolCachePolicy, "only-if-cached, max-stale") == .loaded(status: 504, body: ""))
            #expect(await load(bob, .returnCacheDataElseLoad) == .ok("bob"))
            #expect(await load(ada, .returnCacheDataElseLoad) == .ok("ada"))
            #expect(await load(ada, .returnCacheDataDontLoad) == .ok("ada"))
            #expect(await load(ada, .useProtocolCachePolicy, "only-if-cached, max-stale") == .ok("ada"))
            #expect(server.requests.count == 2)
        }
    }

    /// Two storages for two users, and one whose cookie changes.
    @Test(arguments: [[], ["Vary: Cookie"]]) func cookies(vary: [String]) async throws {
        try await Self.withServer { server, cache in
            let url = try #require(URL(string: server.url("/")))
            func cookie(_ name: String) throws -> HTTPCookie {
                try #require(
                    HTTPCookie(properties: [.name: "who", .value: name, .originURL: url, .path: "/", .version: "0"]))
            }
            let people = try ["ada", "bob", nil].map { name in
                try Self.person(name, .basic, cache, server, Self.storable + vary) { configuration in
                    configuration.httpCookieStorage = HTTPCookieStorage()
                    if let name { try? configuration.httpCookieStorage?.setCookie(cookie(name)) }
                }
            }
            defer { for person in people { person.session.invalidateAndCancel() } }
            let request = try PersonalSite.request(server, Self.storable + vary)
            for _ in 0..<2 {
                for person in people {
                    let outcome = await person.session.outcome(request)
                    #expect(outcome == .ok(person.name.map { "who=\($0)" } ?? "nobody"))
                }
            }
            #expect(server.requests.count == 3)
            try people[0].session.configuration.httpCookieStorage?.setCookie(cookie("eve"))
            #expect(await people[0].session.outcome(request) == .ok(vary.isEmpty ? "who=ada" : "who=eve"))
        }
    }

    /// A response that sets a cookie is for the users of that cookie storage.
    @Test func responsesThatSetCookies() async throws {
        try await Self.withServer { server, cache in
            let request = try PersonalSite.request(server, Self.storable + ["Set-Cookie: id=1"])
            let sessions = (0..<2).map { _ in
                makeSession {
                    $0.urlCache = cache
                    $0.httpCookieStorage = HTTPCookieStorage()
                }
            }
            defer { for session in sessions { session.invalidateAndCancel() } }
            for _ in 0..<2 { for session in sessions { _ = await session.outcome(request) } }
            #expect(server.requests.count == 2)
        }
    }

    /// The same tag may have other content for another user. After the credential has changed, the new user gets the
    /// new user's response, and no part is joined with another user's.
    @Test(arguments: [false, true]) func anotherCredentialInTheEnd(isCutOff: Bool) async throws {
        let accepted = Box("ada")
        let route: LoopbackServer.Route = { request in
            guard let who = PersonalSite.who(request), who == accepted.value else {
                return PersonalSite.refusal("Basic realm=r")
            }
            var response = ServerResponse.text("")
            if request.fields.contains(.range) {
                response = ServerResponse.text("b of \(who)", status: 206).adding("Content-Range", "bytes 4-11/12")
            } else if request.fields.contains(.ifNoneMatch) {
                response = ServerResponse(304)
            } else if isCutOff, who == "ada" {
                response = .stream(.length(12)) { writer in
                    try writer.write("ada ")
                    try writer.request.exchange.closeAbruptly()
                }
            } else {
                response = .text("all of \(who)")
            }
            return response.adding(["Cache-Control": "max-age=0", "ETag": "\"same\""])
        }
        try await Self.withServer(route) { server, cache in
            let answerer = ChallengeAnswerer { _ in
                (.useCredential, URLCredential(user: accepted.value, password: "p", persistence: .forSession))
            }
            let session = makeSession(delegate: answerer) { $0.urlCache = cache }
            defer { session.invalidateAndCancel() }
            let request = try PersonalSite.request(server, [])
            let first = await session.outcome(request)
            #expect(first == (isCutOff ? .failed(.networkConnectionLost) : .ok("all of ada")))
            accepted.value = "bob"
            #expect(await session.outcome(request) == .ok("all of bob"))
            let asked = server.requests.snapshot.filter { PersonalSite.who($0) == "bob" }
            let isConditional = asked.map { $0.fields.contains(isCutOff ? .range : .ifNoneMatch) }
            #expect(isConditional == [true, false])
        }
    }

    /// A stale response is validated in the background with its user's credential, and is for no other user.
    @Test func validationsInTheBackground() async throws {
        try await Self.withServer { server, cache in
            let lines = ["Cache-Control: max-age=0, stale-while-revalidate=1000"]
            let people = try ["ada", "bob"].map { try Self.person($0, .ofSession, cache, server, lines) }
            defer { for person in people { person.session.invalidateAndCancel() } }
            for _ in 0..<2 { for person in people { #expect(await person.load() == .ok(person.name ?? "")) } }
            let asked = await server.requests.count(reaches: 4)
            #expect(Set(asked.prefix(4).compactMap(PersonalSite.who)) == ["ada", "bob"])
        }
    }

    /// A 304 makes a public response private, and the other way round.
    @Test(arguments: [false, true]) func becomesPrivate(isPublicLater: Bool) async throws {
        let number = Box(0)
        let route: LoopbackServer.Route = { request in
            let isValidated = request.fields.contains(.ifNoneMatch)
            if isValidated { number.update { $0 += 1 } }
            let isPublic = isPublicLater == isValidated
            var response = isValidated ? ServerResponse(304) : .text(PersonalSite.who(request) ?? "nobody")
            response = response.adding(
                "Cache-Control", "\(isPublic ? "public" : "private"), max-age=\(isValidated ? 1000 : 0)")
            return response.adding("ETag", "\"one\"")
        }
        try await Self.withServer(route) { server, cache in
            let people = try ["ada", "bob"].map { try Self.person($0, .ofSession, cache, server, []) }
            defer { for person in people { person.session.invalidateAndCancel() } }
            for _ in 0..<2 { #expect(await people[0].load() == .ok("ada")) }
            #expect(number.value == 1)
            let other = await people[1].load()
            #expect(other == .ok(isPublicLater ? "ada" : "bob"))
        }
    }

    /// Responses that the program itself looks up and stores.
    @Test func theProgramsOwnLookUps() async throws {
        try await Self.withServer { server, cache in
            let ada = try Self.person("ada", .byHand, cache, server, Self.storable)
            let bob = try Self.person("bob", .byHand, cache, server, Self.storable)
            let nobody = try Self.person(nil, .byHand, cache, server, Self.storable)
            defer { for person in [ada, bob, nobody] { person.session.invalidateAndCancel() } }
            #expect(await ada.load() == .ok("ada"))
            #expect(cache.cachedResponse(for: ada.request)?.data == Data("ada".utf8))
            #expect(cache.cachedResponse(for: bob.request) == nil && cache.cachedResponse(for: nobody.request) == nil)
            #expect(await nobody.load() == .ok("nobody"))
            #expect(cache.cachedResponse(for: bob.request)?.data == Data("nobody".utf8))
            let url = try #require(ada.request.url)
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=1000"]))
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("stored".utf8)), for: ada.request)
            for person in [ada, bob, nobody] { #expect(await person.load() == .ok("stored")) }
            cache.removeCachedResponse(for: nobody.request)
            #expect(cache.cachedResponse(for: ada.request) == nil)
        }
    }

    /// A subclass that only observes changes nothing.
    @Test func subclasses() async throws {
        final class Watching: URLCache, @unchecked Sendable {  // as its superclass
            override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
                super.cachedResponse(for: request)
            }
        }
        try await Self.withServer { server, _ in
            let cache = Watching(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            let people = try ["ada", "bob", nil].map {
                try Self.person($0, .ofSession, cache, server, Self.storable)
            }
            defer { for person in people { person.session.invalidateAndCancel() } }
            for person in people {
                for _ in 0..<2 { #expect(await person.load() == .ok(person.name ?? "nobody")) }
            }
            #expect(server.requests.count == 3)
        }
    }

    /// A certificate is a credential, too, and so is a connection that NTLM has authenticated.
    @Test func connectionsWithCertificates() async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue(), applicationProtocols: ["http/1.1"])
        options.clientAuthoritiesPEM = [authority.certificatePEM]
        options.requiresClientCertificate = false
        let server = try LoopbackServer(LoopbackServer.Options(tls: options)) { request in
            let shown = request.tls?.peerCertificateDER.flatMap { try? X509Certificate(derRepresentation: Data($0)) }
            return .text(shown?.subject ?? "nobody").adding("Cache-Control", "max-age=1000")
        }
        defer { server.stop() }
        try await withTimeout {
            let cache = Self.cache()
            func load(_ identity: ClientIdentity?) async throws -> [Outcome] {
                let answer = identity.map { URLCredential(identity: $0, certificates: nil, persistence: .forSession) }
                let delegate = TrustAnswerer { challenge in
                    challenge.protectionSpace.serverTrust == nil && answer != nil
                        ? (.useCredential, answer) : (.performDefaultHandling, nil)
                }
                let session = makeSession(delegate: delegate) {
                    $0.tlsTrustRoots = .pem(authority.certificatePEM)
                    $0.urlCache = cache
                }
                defer { session.invalidateAndCancel() }
                let request = try BothVersions.request(server, "/")
                return [await session.outcome(request), await session.outcome(request)]
            }
            let identities = try ["Ada", "Bob"].map { name in
                let files = try authority.issue(.client(name))
                return try ClientIdentity(pemRepresentation: files.certificatePEM + files.privateKeyPEM)
            }
            for identity in [identities[0], identities[1], identities[0], nil] {
                let name = identity?.certificate.subject ?? "nobody"
                let outcomes = try await load(identity)
                #expect(outcomes == [.ok(name), .ok(name)])
            }
            // A session learns in its first handshake which certificate it sends.
            #expect(server.requests.count == 4)
        }
    }

    @Test func connectionsOfNTLM() async throws {
        let ntlm = NTLMServer()
        try await Self.withServer({ request in
            let response = try ntlm.route(request)
            return response.status == 200 ? response.adding("Cache-Control", "max-age=1000") : response
        }) { server, cache in
            let ada = makeSession(delegate: SessionChallengeAnswerer("D\\u", "p")) { $0.urlCache = cache }
            let nobody = makeSession { $0.urlCache = cache }
            defer { for session in [ada, nobody] { session.invalidateAndCancel() } }
            // The second request has no credential in its fields: its connection is authenticated.
            for path in ["/a", "/b", "/a", "/b"] { #expect(await ada.outcome(server, path) == .ok("in")) }
            let count = ntlm.seen.count
            for path in ["/a", "/b"] {
                let outcome = await nobody.outcome(server, path)
                #expect(outcome != .ok("in"))
            }
            #expect(ntlm.seen.count == count + 2)
        }
    }

    /// After the program has removed the credential of its connections, no stored response to their user is used.
    @Test func theCredentialOfConnectionsGoes() async throws {
        let ntlm = NTLMServer()
        try await Self.withServer({ request in
            let response = try ntlm.route(request)
            return response.status == 200 ? response.adding("Cache-Control", "private, max-age=1000") : response
        }) { server, cache in
            let (answerer, storage) = (SessionChallengeAnswerer("D\\u", "p"), URLCredentialStorage())
            let session = makeSession(delegate: answerer) {
                $0.urlCache = cache
                $0.urlCredentialStorage = storage
            }
            defer { session.invalidateAndCancel() }
            for path in ["/a", "/b", "/b"] { #expect(await session.outcome(server, path) == .ok("in")) }
            // Three for the first response, one for the second.
            #expect(ntlm.seen.count == 4)
            let space = try #require(answerer.challenges.snapshot.first).protectionSpace
            storage.remove(try #require(storage.credentials(for: space)?["D\\u"]), for: space)
            #expect(await session.outcome(server, "/b") == .ok("in"))
            #expect(ntlm.seen.count == 7)
        }
    }

    /// A response from a server whose certificate failed, and which the delegate accepted, is not stored.
    @Test func untrustedServers() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue()) { _ in
            ServerResponse.text("forged").adding("Cache-Control", "public, max-age=1000")
        }
        defer { server.stop() }
        try await withTimeout {
            let cache = Self.cache()
            let credulous = TrustAnswerer { challenge in
                (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
            }
            let careless = makeSession(delegate: credulous) { $0.urlCache = cache }
            let careful = makeSession { $0.urlCache = cache }
            defer { for session in [careless, careful] { session.invalidateAndCancel() } }
            let request = try BothVersions.request(server, "/")
            #expect(await careless.outcome(request) == .ok("forged"))
            let outcome = await careful.outcome(request)
            #expect(outcome == .failed(.serverCertificateHasUnknownRoot))
        }
    }

    /// A handler that forwards requests stores no response of one user alone, and sees none.
    private final class Keeping: URLProtocolHandler, @unchecked Sendable {  // no state of its own
        override class func canInit(with request: URLRequest) -> Bool { true }

        override func load(_ load: LoadContext) async throws {
            if let stored = load.cachedResponse {
                try await load.receive(stored.response)
                return try await load.receive(stored.data)
            }
            let loaded = try await load.next.load(load.request)
            let isFound = (loaded.response as? HTTPURLResponse)?.statusCode == 200
            try await load.receive(loaded.response, cacheStoragePolicy: isFound ? .allowed : .notAllowed)
            for try await piece in loaded.body { try await load.receive(piece) }
        }
    }

    @Test(arguments: Way.allCases) func handlers(way: Way) async throws {
        try await Self.withServer { server, cache in
            let people = try ["ada", "bob", nil].map {
                try Self.person($0, way, cache, server, Self.storable) { $0.protocolClasses = [Keeping.self] }
            }
            defer { for person in people { person.session.invalidateAndCancel() } }
            for _ in 0..<2 {
                for person in people {
                    let isRefused = person.name == nil && way.path != "/"
                    let expected = Outcome.loaded(status: isRefused ? 401 : 200, body: person.name ?? "nobody")
                    let outcome = await person.load()
                    #expect(outcome == expected)
                }
            }
        }
    }
}
