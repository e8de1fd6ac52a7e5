/// Edge values of `URLCache` and `CachedURLResponse`.
extension Behaviour {
    private static func makeCached(
        _ text: String = "http://example.com/", _ data: String = "data", _ userInfo: [AnyHashable: Any]? = nil,
        _ policy: URLCache.StoragePolicy = .allowed
    ) throws -> CachedURLResponse {
        guard
            let response = HTTPURLResponse(
                url: try url(text), statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["X-A": "1"])
        else { throw URLError(.badServerResponse) }
        return CachedURLResponse(
            response: response, data: Data(data.utf8), userInfo: userInfo, storagePolicy: policy)
    }

    private static func makeRequest(_ text: String = "http://example.com/") throws -> URLRequest {
        URLRequest(url: try url(text))
    }

    private static func makeCache() -> URLCache { URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil) }

    /// Stores a response for one request, and asks for another.
    private static func found(
        storing text: String = "http://example.com/", asking other: String = "http://example.com/",
        _ change: (inout URLRequest) -> Void = { _ in }
    ) throws -> String {
        let cache = makeCache()
        cache.storeCachedResponse(try makeCached(text), for: try makeRequest(text))
        var request = try makeRequest(other)
        change(&request)
        return shown(cache.cachedResponse(for: request)?.data)
    }

    static let cacheEdges = [
        Behaviour("CachedURLResponse: policies", "0 1 2") {
            let all: [URLCache.StoragePolicy] = [.allowed, .allowedInMemoryOnly, .notAllowed]
            return all.map { "\($0.rawValue)" }.joined(separator: " ")
        },
        Behaviour("CachedURLResponse: a copy is equal", "true") {
            let cached = try makeCached()
            return "\((cached.copy() as? CachedURLResponse) == cached)"
        },
        Behaviour("CachedURLResponse: each part makes a difference", "false false false") {
            let others = [
                try makeCached("http://other/"), try makeCached("http://example.com/", "other"),
                try makeCached("http://example.com/", "data", nil, .notAllowed),
            ]
            return try others.map { "\(try makeCached() == $0)" }.joined(separator: " ")
        },
        Behaviour("CachedURLResponse: the user's information makes a difference", "false") {
            "\(try makeCached() == makeCached("http://example.com/", "data", ["key": "value"]))"
        },
        Behaviour("CachedURLResponse: equal ones hash alike", "true") {
            "\(try haveSameHash { try makeCached() })"
        },
        Behaviour("CachedURLResponse: another class is not equal", "false") {
            "\(try makeCached().isEqual(NSObject()))"
        },
        Behaviour("CachedURLResponse: empty data", "0") { "\(try makeCached("http://h/", "").data.count)" },
        Behaviour("URLCache: of no capacity", "0 0 nil") {
            let cache = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            return "\(cache.memoryCapacity) \(cache.diskCapacity) "
                + shown(cache.cachedResponse(for: try makeRequest())?.data)
        },
        Behaviour("URLCache: negative capacities", "nil") {
            let cache = URLCache(memoryCapacity: -1, diskCapacity: -1, diskPath: nil)
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            return shown(cache.cachedResponse(for: try makeRequest())?.data)
        },
        Behaviour("URLCache: capacities that are set", "5 0") {
            let cache = makeCache()
            cache.memoryCapacity = 5
            return "\(cache.memoryCapacity) \(cache.diskCapacity)"
        },
        Behaviour("URLCache: usage at first", "0 0") {
            let cache = makeCache()
            return "\(cache.currentMemoryUsage) \(cache.currentDiskUsage)"
        },
        Behaviour("URLCache: stored in memory only", "data") {
            let cache = makeCache()
            cache.storeCachedResponse(
                try makeCached("http://example.com/", "data", nil, .allowedInMemoryOnly), for: try makeRequest())
            return shown(cache.cachedResponse(for: try makeRequest())?.data)
        },
        Behaviour("URLCache: what comes back is what was stored", "true") {
            let (cache, cached) = (makeCache(), try makeCached())
            cache.storeCachedResponse(cached, for: try makeRequest())
            return "\(cache.cachedResponse(for: try makeRequest()) == cached)"
        },
        Behaviour("URLCache: a fragment makes no difference", "data") {
            try found(storing: "http://example.com/a", asking: "http://example.com/a#b")
        },
        Behaviour("URLCache: the query makes a difference", "nil") {
            try found(storing: "http://example.com/?a", asking: "http://example.com/?b")
        },
        Behaviour("URLCache: the host's and the scheme's case make no difference", "data") {
            try found(asking: "HTTP://EXAMPLE.com/")
        },
        Behaviour("URLCache: an empty path is the root", "data") { try found(asking: "http://example.com") },
        Behaviour("URLCache: a field makes no difference", "data") {
            try found { $0.setValue("1", forHTTPHeaderField: "X-A") }
        },
        Behaviour("URLCache: the policy of the request that asks makes no difference", "data") {
            try found { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        },
        Behaviour("URLCache: another method finds nothing", "nil") { try found { $0.httpMethod = "POST" } },
        Behaviour("URLCache: another scheme than http", "data") { try found(storing: "own://x/", asking: "own://x/") },
        Behaviour("URLCache: a request without a URL", "nil") {
            let cache = makeCache()
            var request = try makeRequest()
            request.url = nil
            cache.storeCachedResponse(try makeCached(), for: request)
            cache.removeCachedResponse(for: request)
            return shown(cache.cachedResponse(for: request)?.data)
        },
        Behaviour("URLCache: removing what is not there", "data") {
            let cache = makeCache()
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            cache.removeCachedResponse(for: try makeRequest("http://other/"))
            return shown(cache.cachedResponse(for: try makeRequest())?.data)
        },
        Behaviour("URLCache: removed since a date", "nil data") {
            let cache = makeCache()
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            cache.removeCachedResponses(since: Date(timeIntervalSinceNow: -1000))
            let removed = shown(cache.cachedResponse(for: try makeRequest())?.data)
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            cache.removeCachedResponses(since: Date(timeIntervalSinceNow: 1000))
            return "\(removed) \(shown(cache.cachedResponse(for: try makeRequest())?.data))"
        },
        Behaviour("URLCache: the oldest makes room", "nil data") {
            let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            let large = String(repeating: "x", count: 40_000)
            cache.storeCachedResponse(try makeCached("http://first/"), for: try makeRequest("http://first/"))
            for number in 0..<30 {
                let text = "http://example.com/\(number)"
                cache.storeCachedResponse(try makeCached(text, large), for: try makeRequest(text))
            }
            cache.storeCachedResponse(try makeCached("http://last/"), for: try makeRequest("http://last/"))
            return "\(shown(cache.cachedResponse(for: try makeRequest("http://first/"))?.data)) "
                + shown(cache.cachedResponse(for: try makeRequest("http://last/"))?.data)
        },
        Behaviour("URLCache: the shared one can be replaced", "true") {
            let (old, new) = (URLCache.shared, makeCache())
            defer { URLCache.shared = old }
            URLCache.shared = new
            return "\(URLCache.shared === new)"
        },
        Behaviour("URLCache: a configuration's own", "true") {
            let cache = makeCache()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            return "\(configuration.urlCache === cache)"
        },
    ]
}
