/// Edge values of `URLCredential`, `URLCredentialStorage` and `URLProtectionSpace`.
extension Behaviour {
    private static func makeSpace(
        _ host: String = "example.com", port: Int = 80, name: String? = "http", realm: String? = "realm",
        method: String? = NSURLAuthenticationMethodHTTPBasic
    ) -> URLProtectionSpace {
        URLProtectionSpace(host: host, port: port, protocol: name, realm: realm, authenticationMethod: method)
    }

    private static func makeUser(
        _ name: String = "user", _ password: String = "pass", _ persistence: URLCredential.Persistence = .forSession
    ) -> URLCredential { URLCredential(user: name, password: password, persistence: persistence) }

    private static func makeStorage() -> URLCredentialStorage { URLCredentialStorage() }

    /// How often a storage tells that it has changed.
    private static func changes(_ storage: URLCredentialStorage, _ body: () -> Void) async -> Int {
        let count = Kept<Int>()
        count.value = 0
        let observer = NotificationCenter.default.addObserver(
            forName: .NSURLCredentialStorageChanged, object: storage, queue: nil
        ) { _ in count.value = (count.value ?? 0) + 1 }
        defer { NotificationCenter.default.removeObserver(observer) }
        body()
        return count.value ?? 0
    }

    static let credentialEdges = [
        Behaviour("URLCredential: empty strings", "  true") {
            let user = makeUser("", "")
            return "\(shown(user.user)) \(shown(user.password)) \(user.hasPassword)"
        },
        Behaviour("URLCredential: names that are not ASCII", "é漢 ü:") {
            let user = makeUser("é漢", "ü:")
            return "\(shown(user.user)) \(shown(user.password))"
        },
        Behaviour("URLCredential: each part makes a difference", "false false false") {
            [makeUser("other"), makeUser("user", "other"), makeUser("user", "pass", .permanent)]
                .map { "\(makeUser() == $0)" }.joined(separator: " ")
        },
        Behaviour("URLCredential: equal ones hash alike", "true") { "\(haveSameHash { makeUser() })" },
        Behaviour("URLCredential: another class is not equal", "false") { "\(makeUser().isEqual(NSObject()))" },
        Behaviour("URLCredential: synchronizable", "3") { "\(URLCredential.Persistence(rawValue: 3)?.rawValue ?? 0)" },
        Behaviour("URLCredential: each persistence survives coding", "true true true") {
            let all: [URLCredential.Persistence] = [.none, .forSession, .permanent]
            return try all.map { try survivesCoding(makeUser("u", "p", $0)) }.joined(separator: " ")
        },
        Behaviour("URLCredential: its description has no password", "false") {
            "\(makeUser("user", "secret").description.contains("secret"))"
        },
        Behaviour("URLProtectionSpace: nothing known", "h 0 nil nil NSURLAuthenticationMethodDefault false") {
            let space = makeSpace("h", port: 0, name: nil, realm: nil, method: nil)
            return "\(space.host) \(space.port) \(shown(space.protocol)) \(shown(space.realm)) "
                + "\(space.authenticationMethod) \(space.isProxy())"
        },
        Behaviour("URLProtectionSpace: empty strings and negative ports", " -1   ") {
            let space = makeSpace("", port: -1, name: "", realm: "")
            return "\(space.host) \(space.port) \(shown(space.protocol)) \(shown(space.realm)) "
        },
        Behaviour("URLProtectionSpace: a method that is not known", "basic") {
            makeSpace(method: "basic").authenticationMethod
        },
        Behaviour("URLProtectionSpace: methods that are known", "HTTPBasic HTTPDigest HTMLForm NTLM Negotiate") {
            [
                NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
                NSURLAuthenticationMethodHTMLForm, NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate,
            ].map {
                makeSpace(method: $0).authenticationMethod.replacingOccurrences(
                    of: "NSURLAuthenticationMethod", with: "")
            }
            .joined(separator: " ")
        },
        Behaviour("URLProtectionSpace: the names of protocols and proxies", "http https ftp http https ftp SOCKS") {
            [
                NSURLProtectionSpaceHTTP, NSURLProtectionSpaceHTTPS, NSURLProtectionSpaceFTP,
                NSURLProtectionSpaceHTTPProxy, NSURLProtectionSpaceHTTPSProxy, NSURLProtectionSpaceFTPProxy,
                NSURLProtectionSpaceSOCKSProxy,
            ].joined(separator: " ")
        },
        Behaviour("URLProtectionSpace: each part makes a difference", "false false false false false") {
            [
                makeSpace("other"), makeSpace(port: 81), makeSpace(name: "https"), makeSpace(realm: nil),
                makeSpace(method: NSURLAuthenticationMethodHTTPDigest),
            ].map { "\(makeSpace() == $0)" }.joined(separator: " ")
        },
        Behaviour("URLProtectionSpace: hosts in capitals are other spaces", "false") {
            "\(makeSpace() == makeSpace("EXAMPLE.com"))"
        },
        Behaviour("URLProtectionSpace: a proxy is no server", "false") {
            let proxy = URLProtectionSpace(
                proxyHost: "example.com", port: 80, type: NSURLProtectionSpaceHTTPProxy, realm: "realm",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            return "\(makeSpace() == proxy)"
        },
        Behaviour("URLProtectionSpace: what only TLS has", "nil") {
            shown((makeSpace() as any TLSFacts).distinguishedNames)
        },
        Behaviour("URLProtectionSpace: what is safe to send to a proxy", "false") {
            let proxy = URLProtectionSpace(
                proxyHost: "h", port: 1, type: NSURLProtectionSpaceHTTPSProxy, realm: nil,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            return "\(proxy.receivesCredentialSecurely)"
        },
        Behaviour(
            "URLProtectionSpace: its description",
            "Host:h, Server:http, Auth-Scheme:NSURLAuthenticationMethodDefault, Realm:(null), Port:80, Proxy:NO, Proxy-Type:(null)"
        ) {
            let text = makeSpace("h", realm: nil, method: nil).description
            return text.range(of: "Host:").map { String(text[$0.lowerBound...]) } ?? text
        },
        Behaviour("URLCredentialStorage: nothing at first", "0 nil nil") {
            let storage = makeStorage()
            return "\(storage.allCredentials.count) \(shown(storage.credentials(for: makeSpace()))) "
                + shown(storage.defaultCredential(for: makeSpace()))
        },
        Behaviour("URLCredentialStorage: the first is the default one", "user") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(), for: space)
            storage.set(makeUser("second"), for: space)
            return shown(storage.defaultCredential(for: space)?.user)
        },
        Behaviour("URLCredentialStorage: the default one that is set wins", "second 2") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(), for: space)
            storage.setDefaultCredential(makeUser("second"), for: space)
            return
                "\(shown(storage.defaultCredential(for: space)?.user)) \(shown(storage.credentials(for: space)?.count))"
        },
        Behaviour("URLCredentialStorage: a default one that is removed", "nil 1") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.setDefaultCredential(makeUser(), for: space)
            storage.set(makeUser("second"), for: space)
            storage.remove(makeUser(), for: space)
            return
                "\(shown(storage.defaultCredential(for: space)?.user)) \(shown(storage.credentials(for: space)?.count))"
        },
        Behaviour("URLCredentialStorage: a new password replaces", "other other 1") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(), for: space)
            storage.set(makeUser("user", "other"), for: space)
            return "\(shown(storage.credentials(for: space)?["user"]?.password)) "
                + "\(shown(storage.defaultCredential(for: space)?.password)) "
                + shown(storage.credentials(for: space)?.count)
        },
        Behaviour("URLCredentialStorage: what is for one request is not kept", "0 nil") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser("user", "pass", .none), for: space)
            storage.setDefaultCredential(makeUser("user", "pass", .none), for: space)
            return "\(storage.allCredentials.count) \(shown(storage.defaultCredential(for: space)))"
        },
        Behaviour("URLCredentialStorage: removing what is not there", "1") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(), for: space)
            storage.remove(makeUser("other"), for: space)
            return shown(storage.credentials(for: space)?.count)
        },
        Behaviour("URLCredentialStorage: removing one with another password", "nil") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(), for: space)
            storage.remove(makeUser("user", "other"), for: space)
            return shown(storage.credentials(for: space)?.count)
        },
        Behaviour("URLCredentialStorage: the last one takes its space along", "nil 0") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(), for: space)
            storage.remove(makeUser(), for: space)
            return "\(shown(storage.credentials(for: space))) \(storage.allCredentials.count)"
        },
        Behaviour("URLCredentialStorage: one that is synchronizable is kept", "1") {
            let (storage, space) = (makeStorage(), makeSpace())
            let synchronizable = URLCredential.Persistence(rawValue: 3) ?? .none
            storage.set(makeUser("user", "pass", synchronizable), for: space)
            return "\(storage.credentials(for: space)?.count ?? 0)"
        },
        Behaviour("URLCredentialStorage: an empty name", "1") {
            let (storage, space) = (makeStorage(), makeSpace())
            storage.set(makeUser(""), for: space)
            return "\(storage.credentials(for: space)?.count ?? 0)"
        },
        Behaviour("URLCredentialStorage: the shared one is one", "true") {
            "\(URLCredentialStorage.shared === URLCredentialStorage.shared)"
        },
        Behaviour(load: "URLCredentialStorage: tells of changes, and of nothing else", "1 0 1 1 0") { _ in
            let (storage, space) = (makeStorage(), makeSpace())
            let counts = [
                await changes(storage) { storage.set(makeUser(), for: space) },
                await changes(storage) { storage.set(makeUser(), for: space) },
                await changes(storage) { storage.setDefaultCredential(makeUser("other"), for: space) },
                await changes(storage) { storage.remove(makeUser(), for: space) },
                await changes(storage) { storage.remove(makeUser(), for: space) },
            ]
            return counts.map { "\($0)" }.joined(separator: " ")
        },
    ]
}

/// What FoundationNetworking calls deprecated, as it never has a value there.
private protocol TLSFacts {
    var distinguishedNames: [Data]? { get }
}

extension URLProtectionSpace: TLSFacts {}
