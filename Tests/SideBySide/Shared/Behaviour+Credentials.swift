extension Behaviour {
    private static func makeSpace(_ host: String = "example.com", realm: String? = "realm") -> URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: 80, protocol: "http", realm: realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }

    private static func makeStorage() throws -> URLCredentialStorage {
        guard let storage = URLSessionConfiguration.ephemeral.urlCredentialStorage else { throw URLError(.unknown) }
        return storage
    }

    private static let user = URLCredential(user: "user", password: "pass", persistence: .forSession)

    static let credentials = [
        Behaviour("URLCredential: what it is made with", "user pass true 1") {
            "\(shown(user.user)) \(shown(user.password)) \(user.hasPassword) \(user.persistence.rawValue)"
        },
        Behaviour("URLCredential: equality", "true false") {
            let same = URLCredential(user: "user", password: "pass", persistence: .forSession)
            let other = URLCredential(user: "user", password: "word", persistence: .forSession)
            return "\(user == same) \(user == other)"
        },
        Behaviour("URLCredential: a copy is equal", "true") { "\((user.copy() as? URLCredential) == user)" },
        Behaviour("URLCredential: survives coding", "true") { try survivesCoding(user) },
        Behaviour("URLCredential: persistences", "0 1 2") {
            let all: [URLCredential.Persistence] = [.none, .forSession, .permanent]
            return all.map { "\($0.rawValue)" }.joined(separator: " ")
        },
        Behaviour(
            "URLProtectionSpace: of a server", "example.com 80 http realm NSURLAuthenticationMethodHTTPBasic false nil"
        ) {
            let space = makeSpace()
            return [
                space.host, "\(space.port)", shown(space.protocol), shown(space.realm), space.authenticationMethod,
                "\(space.isProxy())", shown(space.proxyType),
            ].joined(separator: " ")
        },
        Behaviour("URLProtectionSpace: of a proxy", "proxy 3128 nil nil true true") {
            let space = URLProtectionSpace(
                proxyHost: "proxy", port: 3128, type: NSURLProtectionSpaceHTTPProxy, realm: nil,
                authenticationMethod: nil)
            return "\(space.host) \(space.port) \(shown(space.protocol)) \(shown(space.realm)) \(space.isProxy()) "
                + "\(space.proxyType == NSURLProtectionSpaceHTTPProxy)"
        },
        Behaviour("URLProtectionSpace: the method at first", "NSURLAuthenticationMethodDefault") {
            URLProtectionSpace(host: "h", port: 1, protocol: "http", realm: nil, authenticationMethod: nil)
                .authenticationMethod
        },
        Behaviour("URLProtectionSpace: equality and hash", "true true false") {
            "\(makeSpace() == makeSpace()) \(haveSameHash { makeSpace() }) \(makeSpace() == makeSpace(realm: "other"))"
        },
        Behaviour("URLProtectionSpace: what is safe to send", "false true true") {
            [
                ("http", NSURLAuthenticationMethodHTTPBasic), ("http", NSURLAuthenticationMethodHTTPDigest),
                ("https", NSURLAuthenticationMethodHTTPBasic),
            ].map { name, method in
                "\(URLProtectionSpace(host: "h", port: 1, protocol: name, realm: nil, authenticationMethod: method).receivesCredentialSecurely)"
            }.joined(separator: " ")
        },
        Behaviour("URLProtectionSpace: a copy is equal", "true") {
            "\((makeSpace().copy() as? URLProtectionSpace) == makeSpace())"
        },
        Behaviour("URLCredentialStorage: set, found and removed", "user nil") {
            let storage = try makeStorage()
            storage.set(user, for: makeSpace())
            let found = storage.credentials(for: makeSpace())?["user"]?.user
            storage.remove(user, for: makeSpace())
            return "\(shown(found)) \(shown(storage.credentials(for: makeSpace())?["user"]?.user))"
        },
        Behaviour("URLCredentialStorage: another space has none", "nil") {
            let storage = try makeStorage()
            storage.set(user, for: makeSpace())
            return shown(storage.credentials(for: makeSpace("other.com"))?.count)
        },
        Behaviour("URLCredentialStorage: the default credential", "user nil") {
            let storage = try makeStorage()
            storage.setDefaultCredential(user, for: makeSpace())
            return "\(shown(storage.defaultCredential(for: makeSpace())?.user)) "
                + shown(storage.defaultCredential(for: makeSpace(realm: "other"))?.user)
        },
        Behaviour("URLCredentialStorage: several of a space", "[\"other\", \"user\"]") {
            let storage = try makeStorage()
            storage.set(user, for: makeSpace())
            storage.set(URLCredential(user: "other", password: "x", persistence: .forSession), for: makeSpace())
            return "\((storage.credentials(for: makeSpace()) ?? [:]).keys.sorted())"
        },
        Behaviour("URLCredentialStorage: all spaces", "2") {
            let storage = try makeStorage()
            storage.set(user, for: makeSpace())
            storage.set(user, for: makeSpace("other.com"))
            return "\(storage.allCredentials.count)"
        },
        Behaviour("URLAuthenticationChallenge: what it is made with", "realm user 2 nil ok") {
            let challenge = URLAuthenticationChallenge(
                protectionSpace: makeSpace(), proposedCredential: user, previousFailureCount: 2, failureResponse: nil,
                error: nil, sender: NoSender())
            return "\(shown(challenge.protectionSpace.realm)) \(shown(challenge.proposedCredential?.user)) "
                + "\(challenge.previousFailureCount) \(shown(challenge.failureResponse)) \(shown(challenge.error as? URLError))"
        },
    ]

    private final class NoSender: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }
}
