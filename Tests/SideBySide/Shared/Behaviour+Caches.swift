extension Behaviour {
    private static func makeCached(
        _ text: String = "http://example.com/", policy: URLCache.StoragePolicy = .allowed, size: Int = 4
    ) throws -> CachedURLResponse {
        CachedURLResponse(
            response: URLResponse(
                url: try url(text), mimeType: "text/plain", expectedContentLength: size, textEncodingName: nil),
            data: Data(repeating: 120, count: size), userInfo: ["key": "value"], storagePolicy: policy)
    }

    private static func makeCache() -> URLCache { URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil) }

    private static func makeRequest(_ text: String = "http://example.com/") throws -> URLRequest {
        URLRequest(url: try url(text))
    }

    static let caches = [
        Behaviour("CachedURLResponse: what it is made with", "xxxx text/plain value 0") {
            let cached = try makeCached()
            return "\(shown(cached.data)) \(shown(cached.response.mimeType)) "
                + "\(shown(cached.userInfo?["key"] as? String)) \(cached.storagePolicy.rawValue)"
        },
        Behaviour("CachedURLResponse: defaults", "nil 0") {
            let response = URLResponse(
                url: try url("http://h/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            let cached = CachedURLResponse(response: response, data: Data())
            return "\(shown(cached.userInfo)) \(cached.storagePolicy.rawValue)"
        },
        Behaviour("CachedURLResponse: equality", "true false") {
            "\(try makeCached() == makeCached()) \(try makeCached() == makeCached("http://other/"))"
        },
        Behaviour("URLCache: stored, found and removed", "xxxx nil") {
            let (cache, request) = (makeCache(), try makeRequest())
            cache.storeCachedResponse(try makeCached(), for: request)
            let found = cache.cachedResponse(for: request)?.data
            cache.removeCachedResponse(for: request)
            return "\(shown(found)) \(shown(cache.cachedResponse(for: request)?.data))"
        },
        Behaviour("URLCache: the user's information is kept", "value") {
            let (cache, request) = (makeCache(), try makeRequest())
            cache.storeCachedResponse(try makeCached(), for: request)
            return shown(cache.cachedResponse(for: request)?.userInfo?["key"] as? String)
        },
        Behaviour("URLCache: another request finds nothing", "nil") {
            let cache = makeCache()
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            return shown(cache.cachedResponse(for: try makeRequest("http://example.com/other"))?.data)
        },
        Behaviour("URLCache: what may not be stored is not", "nil") {
            let (cache, request) = (makeCache(), try makeRequest())
            cache.storeCachedResponse(try makeCached(policy: .notAllowed), for: request)
            return shown(cache.cachedResponse(for: request)?.data)
        },
        Behaviour("URLCache: all removed", "nil 0") {
            let (cache, request) = (makeCache(), try makeRequest())
            cache.storeCachedResponse(try makeCached(), for: request)
            cache.removeAllCachedResponses()
            return "\(shown(cache.cachedResponse(for: request)?.data)) \(cache.currentMemoryUsage)"
        },
        Behaviour("URLCache: capacities", "1000000 0 0") {
            let cache = makeCache()
            return "\(cache.memoryCapacity) \(cache.diskCapacity) \(cache.currentMemoryUsage)"
        },
        Behaviour("URLCache: usage grows", "true") {
            let cache = makeCache()
            cache.storeCachedResponse(try makeCached(), for: try makeRequest())
            return "\(cache.currentMemoryUsage > 0)"
        },
        Behaviour("URLCache: what is larger than the cache is not kept", "nil") {
            let cache = URLCache(memoryCapacity: 100, diskCapacity: 0, diskPath: nil)
            cache.storeCachedResponse(try makeCached(size: 1000), for: try makeRequest())
            return shown(cache.cachedResponse(for: try makeRequest())?.data)
        },
        Behaviour("URLCache: a capacity of nought empties it", "nil") {
            let (cache, request) = (makeCache(), try makeRequest())
            cache.storeCachedResponse(try makeCached(), for: request)
            cache.memoryCapacity = 0
            return shown(cache.cachedResponse(for: request)?.data)
        },
        Behaviour("URLCache: storing again replaces", "xxxxxxxx") {
            let (cache, request) = (makeCache(), try makeRequest())
            cache.storeCachedResponse(try makeCached(), for: request)
            cache.storeCachedResponse(try makeCached(size: 8), for: request)
            return shown(cache.cachedResponse(for: request)?.data)
        },
    ]

    static let configurations = [
        Behaviour("URLSessionConfiguration: defaults", "0 60.0 604800.0 true true 6 false nil 2") {
            let configuration = URLSessionConfiguration.default
            let values = [
                "\(configuration.requestCachePolicy.rawValue)", "\(configuration.timeoutIntervalForRequest)",
                "\(configuration.timeoutIntervalForResource)", "\(configuration.allowsCellularAccess)",
                "\(configuration.httpShouldSetCookies)", "\(configuration.httpMaximumConnectionsPerHost)",
                "\(configuration.httpShouldUsePipelining)", shown(configuration.identifier),
                "\(configuration.httpCookieAcceptPolicy.rawValue)",
            ]
            return values.joined(separator: " ")
        },
        Behaviour("URLSessionConfiguration: the default one's stores", "true true true") {
            let configuration = URLSessionConfiguration.default
            return "\(configuration.httpCookieStorage != nil) \(configuration.urlCache != nil) "
                + "\(configuration.urlCredentialStorage != nil)"
        },
        Behaviour("URLSessionConfiguration: an ephemeral one's stores are its own", "true true false") {
            let configuration = URLSessionConfiguration.ephemeral
            return "\(configuration.httpCookieStorage != nil) \(configuration.urlCredentialStorage != nil) "
                + "\(configuration.httpCookieStorage === HTTPCookieStorage.shared)"
        },
        Behaviour("URLSessionConfiguration: each is new", "60.0") {
            URLSessionConfiguration.default.timeoutIntervalForRequest = 1
            return "\(URLSessionConfiguration.default.timeoutIntervalForRequest)"
        },
        Behaviour("URLSessionConfiguration: a copy is apart", "1.0 2.0") {
            let one = URLSessionConfiguration.ephemeral
            one.timeoutIntervalForRequest = 1
            guard let other = one.copy() as? URLSessionConfiguration else { return "no copy" }
            other.timeoutIntervalForRequest = 2
            return "\(one.timeoutIntervalForRequest) \(other.timeoutIntervalForRequest)"
        },
        Behaviour("URLSessionConfiguration: a session has a copy", "5.0") {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 5
            let session = URLSession(configuration: configuration)
            configuration.timeoutIntervalForRequest = 6
            defer { session.invalidateAndCancel() }
            return "\(session.configuration.timeoutIntervalForRequest)"
        },
        Behaviour("URLSessionConfiguration: changing a session's own changes nothing", "60.0") {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            session.configuration.timeoutIntervalForRequest = 9
            return "\(session.configuration.timeoutIntervalForRequest)"
        },
        Behaviour("URLSession: tasks at first", "1 2 suspended GET nil nil 0 0.5") {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            let (task, other) = (
                session.dataTask(with: try url("http://h/")), session.dataTask(with: try url("http://h/"))
            )
            return "\(task.taskIdentifier) \(other.taskIdentifier) \(task.state == .suspended ? "suspended" : "other") "
                + "\(shown(task.originalRequest?.httpMethod)) \(shown(task.response)) \(shown(task.taskDescription)) "
                + "\(task.countOfBytesReceived) \(task.priority)"
        },
        Behaviour("URLSession: tasks report progress and are their own copies", "true true") {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try url("http://h/"))
            let reporting: any ProgressReporting = task
            return "\(reporting.progress === task.progress) \((task.copy() as? URLSessionTask) === task)"
        },
        Behaviour("URLSession: its queue", "1") {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            return "\(session.delegateQueue.maxConcurrentOperationCount)"
        },
        Behaviour("URLSession: the queue that was given", "true") {
            let queue = OperationQueue()
            let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
            defer { session.invalidateAndCancel() }
            return "\(session.delegateQueue === queue)"
        },
        Behaviour("URLSession: the shared one", "true nil") {
            "\(URLSession.shared === URLSession.shared) \(shown(URLSession.shared.delegate?.description))"
        },
        Behaviour("URLSession: a description", "text") {
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            session.sessionDescription = "text"
            return shown(session.sessionDescription)
        },
    ]
}
