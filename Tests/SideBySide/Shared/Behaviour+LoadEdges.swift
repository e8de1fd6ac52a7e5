/// What the sentences of FoundationNetworking's own tests, and of programs that were written with them, rely on.
extension Behaviour {
    /// The error of a load, or that there was none.
    private static func failure(_ text: String) async throws -> String {
        let session = URLSession(configuration: Site.configuration())
        defer { session.finishTasksAndInvalidate() }
        let request = URLRequest(url: try url(text))
        return await withCheckedContinuation { continuation in
            session.dataTask(with: request) { continuation.resume(returning: shown($2)) }.resume()
        }
    }

    private static func encoding(_ text: String) async throws -> String {
        let session = URLSession(configuration: Site.configuration())
        defer { session.finishTasksAndInvalidate() }
        let request = URLRequest(url: try url(text))
        return await withCheckedContinuation { continuation in
            session.dataTask(with: request) { data, response, _ in
                let type = "\(shown(response?.mimeType)) \(shown(response?.textEncodingName))"
                continuation.resume(returning: "\(shown(data)) \(type)")
            }.resume()
        }
    }

    static let loadEdges = [
        Behaviour(load: "Data task: a request without a URL", "URLError -1002") { site in
            var request = try site.request("/hello")
            request.url = nil
            return await site.outcome(request)
        },
        Behaviour(load: "Data task: a relative URL", "200 hello") { site in
            guard let relative = URL(string: "hello", relativeTo: try site.url("/")) else { return "no URL" }
            return await site.outcome(URLRequest(url: relative))
        },
        Behaviour(load: "Data task: what a cancelled task says", "cancelled") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/stall")
            let task = Kept<URLSessionTask>()
            async let text = withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
                let started = session.dataTask(with: request) { _, _, error in
                    continuation.resume(returning: error?.localizedDescription ?? "ok")
                }
                task.value = started
                started.resume()
            }
            _ = await site.server.requests.count(reaches: 1)
            task.value?.cancel()
            return await text
        },
        Behaviour(load: "Data task: an empty body has no type", "nil 0") { site in
            var request = try site.request("/echo", "POST")
            request.httpBody = Data()
            _ = await site.outcome(request)
            return "\(site.sent("Content-Type")) \(site.sent("Content-Length"))"
        },
        Behaviour(load: "Data task: a value with a line end", "URLError -1000, URLError -1000") { site in
            var texts: [String] = []
            for value in ["a\nb", "a\r\n b"] {
                var request = try site.request("/hello")
                request.setValue(value, forHTTPHeaderField: "X-A")
                texts.append(String(await site.outcome(request).prefix("URLError -1000".count)))
            }
            return texts.joined(separator: ", ")
        },
        Behaviour(load: "Data task: a GET with a body", "200 x nil") { site in
            "\(await site.outcome(try site.request("/echo", "GET", body: "x"))) \(site.sent("Content-Type"))"
        },
        Behaviour(load: "Data task: an empty method", "URLError -1000") { site in
            String(await site.outcome(try site.request("/method", "")).prefix("URLError -1000".count))
        },
        Behaviour(load: "Data task: a Content-Length of the program's own", "200 abc 3") { site in
            var request = try site.request("/echo", "POST", body: "abc")
            request.setValue("100", forHTTPHeaderField: "Content-Length")
            return "\(await site.outcome(request)) \(site.sent("Content-Length"))"
        },
        Behaviour(load: "Data task: additional fields that are numbers", "5 s") { site in
            _ = await site.outcome(try site.request("/hello")) { $0.httpAdditionalHeaders = ["X-N": 5, "X-S": "s"] }
            return "\(site.sent("X-N")) \(site.sent("X-S"))"
        },
        Behaviour(load: "Data task: the fragment after a redirect", "part") { site in
            let text = try site.url("/redirect/302").absoluteString + "#part"
            return shown(await site.load(URLRequest(url: try url(text))).1?.url?.fragment)
        },
        Behaviour(load: "Data task: the storage's credential is sent", "200 welcome") { site in
            let storage = URLCredentialStorage()
            let user = URLCredential(user: "user", password: "pass", persistence: .forSession)
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: try site.url("/").port ?? 0, protocol: NSURLProtectionSpaceHTTP,
                realm: "here", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            storage.set(user, for: space)
            return await site.outcome(try site.request("/basic")) { $0.urlCredentialStorage = storage }
        },
        Behaviour(load: "Data task: the cache has the response", "hello") { site in
            let cache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
            _ = await site.outcome(try site.request("/hello")) { $0.urlCache = cache }
            return shown(cache.cachedResponse(for: try site.request("/hello"))?.data)
        },
        Behaviour(load: "Data task: a PUT without a type", "application/x-www-form-urlencoded") { site in
            _ = await site.outcome(try site.request("/echo", "PUT", body: "body"))
            return site.sent("Content-Type")
        },
        Behaviour(load: "Data task: the encoding of a data URL", "x text/plain us-ascii, x text/plain utf-8") { _ in
            "\(try await encoding("data:,x")), \(try await encoding("data:text/plain;charset=utf-8,x"))"
        },
        Behaviour(load: "Data task: data URLs without a comma", "URLError -1000, URLError -1000") { _ in
            "\(try await failure("data://blah")), \(try await failure("data:%2c123"))"
        },
        Behaviour(load: "Data task: data URLs whose type is none", "123, text/plain us-ascii") { _ in
            try await encoding("data:application_json;charset=iso-8859-%31;key=value,123,")
        },
        Behaviour(load: "Data task: a location with escapes", "/a%20b%20c?q=a%20b") { site in
            _ = await site.outcome(try site.request("/spaces"))
            return site.server.requests.snapshot.last?.target ?? "none"
        },
        Behaviour(load: "Data task: a location with dot segments", "/hello") { site in
            _ = await site.outcome(try site.request("/dots"))
            return site.server.requests.snapshot.last?.target ?? "none"
        },
        Behaviour(
            load: "Delegate: a redirect to the program's own scheme that is refused",
            "redirect 302 GET , response 302, complete ok"
        ) {
            site in
            await site.events(try site.request("/callback"), Notes(follows: false)) { $0.dataTask(with: $1) }
        },
        Behaviour(
            load: "Delegate: a redirect to the program's own scheme that is followed",
            "redirect 302 GET , complete URLError -1002"
        ) {
            site in
            await site.events(try site.request("/callback")) { $0.dataTask(with: $1) }
        },
        Behaviour(
            load: "Delegate: Basic without a realm",
            "challenge 0 NSURLAuthenticationMethodHTTPBasic 127.0.0.1, response 200, data welcome, complete ok"
        ) {
            site in
            let credential = URLCredential(user: "user", password: "pass", persistence: .none)
            return await site.events(try site.request("/norealm"), Notes(credential: credential)) {
                $0.dataTask(with: $1)
            }
        },
    ]
}
