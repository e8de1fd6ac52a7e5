/// Members that go with a task, and the numbers of enumerations.
extension Behaviour {
    private static let user = URLCredential(user: "user", password: "pass", persistence: .forSession)

    private static let space = URLProtectionSpace(
        host: "example.com", port: 80, protocol: "http", realm: "realm",
        authenticationMethod: NSURLAuthenticationMethodHTTPBasic)

    private static func withTask<Result>(_ body: (URLSessionDataTask) throws -> Result) throws -> Result {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        return try body(session.dataTask(with: try url("sample://host/")))
    }

    static let moreMembers = [
        Behaviour("URLCredentialStorage: for a task", "user user nil") {
            let storage = URLCredentialStorage()
            return try withTask { task in
                let (all, preferred, later) = (Kept<String>(), Kept<String>(), Kept<String>())
                storage.set(user, for: space, task: task)
                storage.getCredentials(for: space, task: task) { all.value = $0?["user"]?.user }
                storage.getDefaultCredential(for: space, task: task) { preferred.value = $0?.user }
                storage.remove(user, for: space, options: nil, task: task)
                storage.getCredentials(for: space, task: task) { later.value = $0?["user"]?.user }
                return "\(shown(all.value)) \(shown(preferred.value)) \(shown(later.value))"
            }
        },
        Behaviour("URLCredentialStorage: the default one for a task", "user") {
            let storage = URLCredentialStorage()
            return try withTask { task in
                storage.setDefaultCredential(user, for: space, task: task)
                return shown(storage.defaultCredential(for: space)?.user)
            }
        },
        Behaviour("URLCredentialStorage: removed with options", "nil") {
            let storage = URLCredentialStorage()
            storage.set(user, for: space)
            storage.remove(
                user, for: space,
                options: [NSURLCredentialStorageRemoveSynchronizableCredentials: NSNumber(value: false)])
            return shown(storage.credentials(for: space)?.count)
        },
        Behaviour(load: "URLCache: asked for a task", "data, nil") { _ in
            let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try url("http://example.com/"))
            let response = URLResponse(
                url: try url("http://example.com/"), mimeType: nil, expectedContentLength: 4, textEncodingName: nil)
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("data".utf8)),
                for: URLRequest(url: try url("http://example.com/")))
            let other = session.dataTask(with: try url("http://other.com/"))
            return await "\(found(cache, task)), \(found(cache, other))"
        },
        Behaviour("URLProtocol: made with a task", "sample://host/ true") {
            try withTask { task in
                let loader = SampleProtocol(task: task, cachedResponse: nil, client: nil)
                return "\(shown(loader.request.url)) \(loader.task === task)"
            }
        },
        Behaviour("URLAuthenticationChallenge: made from another", "user 1 true") {
            final class Sender: NSObject, URLAuthenticationChallengeSender {
                func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
                func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
                func cancel(_ challenge: URLAuthenticationChallenge) {}
                func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
                func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
            }
            let (first, second) = (Sender(), Sender())
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: user, previousFailureCount: 1, failureResponse: nil,
                error: nil, sender: first)
            let other = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: second)
            return "\(shown(other.proposedCredential?.user)) \(other.previousFailureCount) \(other.sender === second)"
        },
        Behaviour("Enumerations: numbers that are none", "nil nil nil nil nil") {
            let values: [Any?] = [
                URLCache.StoragePolicy(rawValue: 9), HTTPCookie.AcceptPolicy(rawValue: 9),
                URLCredential.Persistence(rawValue: 9), URLRequest.CachePolicy(rawValue: 99),
                URLRequest.NetworkServiceType(rawValue: 99),
            ]
            return values.map { $0 == nil ? "nil" : "some" }.joined(separator: " ")
        },
        Behaviour("Enumerations: calls are a service type", "11") {
            "\(URLRequest.NetworkServiceType.networkServiceTypeCallSignaling.rawValue)"
        },
        Behaviour("HTTPCookiePropertyKey: equality and hash", "true false true") {
            let (one, other) = (HTTPCookiePropertyKey("Name"), HTTPCookiePropertyKey(rawValue: "Name"))
            return "\(one == .name) \(one == .value) \(one.hashValue == other.hashValue)"
        },
        Behaviour("URLRequest: its class", "true") { "\(URLRequest.ReferenceType.self == NSURLRequest.self)" },
        Behaviour("NSMutableURLRequest: a mutable copy is another", "true false") {
            let request = NSMutableURLRequest(url: try url("http://h/"))
            let copy = request.mutableCopy() as? NSMutableURLRequest
            copy?.httpMethod = "PUT"
            return "\(copy != nil) \(copy === request || request.httpMethod == "PUT")"
        },
        Behaviour("HTTPCookieStorage: cookies of several paths in the order in which they are sent", "b a") {
            let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
            for (name, path) in [("a", "/"), ("b", "/dir")] {
                let cookie = HTTPCookie(properties: [
                    .name: name, .value: "v", .domain: "example.com", .path: path,
                ])
                if let cookie { storage?.setCookie(cookie) }
            }
            return storage?.cookies(for: try url("http://example.com/dir/x"))?.map(\.name).joined(separator: " ")
                ?? "nil"
        },
    ]

    private static func found(_ cache: URLCache, _ task: URLSessionDataTask) async -> String {
        await withCheckedContinuation { continuation in
            cache.getCachedResponse(for: task) { continuation.resume(returning: shown($0?.data)) }
        }
    }
}
