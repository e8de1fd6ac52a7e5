extension Behaviour {
    private static func failure(_ site: Site, _ request: URLRequest) async -> String {
        let error = await site.load(request).2
        guard let error = error as? URLError else { return shown(error) }
        let keys = [NSURLErrorFailingURLErrorKey, NSURLErrorFailingURLStringErrorKey].map { error.userInfo[$0] != nil }
        return "URLError \(error.code.rawValue) \(keys)"
    }

    static let loads = [
        Behaviour(load: "Data task: GET", "200 hello") { try await $0.outcome("/hello") },
        Behaviour(load: "Data task: a status is no error", "500 status") { try await $0.outcome("/status/500") },
        Behaviour(load: "Data task: POST", "POST 200 body") { site in
            let outcome = await site.outcome(try site.request("/echo", "POST", body: "body"))
            return "\(site.server.requests.snapshot.map(\.method).joined()) \(outcome)"
        },
        Behaviour(load: "Data task: POST without a type", "application/x-www-form-urlencoded 4") { site in
            _ = await site.outcome(try site.request("/echo", "POST", body: "body"))
            return "\(site.sent("Content-Type")) \(site.sent("Content-Length"))"
        },
        Behaviour(load: "Data task: POST with a type", "text/csv") { site in
            var request = try site.request("/echo", "POST", body: "a,b")
            request.setValue("text/csv", forHTTPHeaderField: "Content-Type")
            _ = await site.outcome(request)
            return site.sent("Content-Type")
        },
        Behaviour(load: "Data task: POST without a body has length 0", "0") { site in
            _ = await site.outcome(try site.request("/echo", "POST"))
            return site.sent("Content-Length")
        },
        Behaviour(load: "Data task: GET has no length", "nil nil") { site in
            _ = try await site.outcome("/hello")
            return "\(site.sent("Content-Length")) \(site.sent("Transfer-Encoding"))"
        },
        Behaviour(load: "Data task: PUT, PATCH, DELETE", "200 PUT, 200 PATCH, 200 DELETE") { site in
            var texts: [String] = []
            for method in ["PUT", "PATCH", "DELETE"] {
                texts.append(await site.outcome(try site.request("/method", method, body: "x")))
            }
            return texts.joined(separator: ", ")
        },
        Behaviour(load: "Data task: the request's fields are sent", "mine") { site in
            var request = try site.request("/hello")
            request.setValue("mine", forHTTPHeaderField: "X-Mine")
            _ = await site.outcome(request)
            return site.sent("X-Mine")
        },
        Behaviour(load: "Data task: the configuration's fields are sent", "theirs") { site in
            _ = try await site.outcome("/hello") { $0.httpAdditionalHeaders = ["X-Theirs": "theirs"] }
            return site.sent("X-Theirs")
        },
        Behaviour(load: "Data task: the request's fields win over the configuration's", "mine") { site in
            var request = try site.request("/hello")
            request.setValue("mine", forHTTPHeaderField: "X-A")
            _ = await site.outcome(request) { $0.httpAdditionalHeaders = ["X-A": "theirs"] }
            return site.sent("X-A")
        },
        Behaviour(load: "Data task: what is sent unasked", "*/* true true true") { site in
            _ = try await site.outcome("/hello")
            let request = site.server.requests.snapshot.first
            return
                "\(site.sent("Accept")) \(request?.fields[name: "Host"] != nil) \(request?.fields[name: "User-Agent"] != nil) "
                + "\(request?.fields[name: "Accept-Encoding"]?.contains("gzip") == true)"
        },
        Behaviour(load: "Data task: the path and the query as they are", "/hello?a=b%20c&d=%2F") { site in
            _ = try await site.outcome("/hello?a=b%20c&d=%2F")
            return site.server.requests.snapshot.map(\.target).joined()
        },
        Behaviour(load: "Data task: the fragment is not sent", "/hello") { site in
            _ = try await site.outcome("/hello#part")
            return site.server.requests.snapshot.map(\.target).joined()
        },
        Behaviour(load: "Data task: HEAD", "200 0 5") { site in
            let (data, response, _) = await site.load(try site.request("/hello", "HEAD"))
            return "\(shown(response?.statusCode)) \(data?.count ?? 0) \(response?.expectedContentLength ?? 0)"
        },
        Behaviour(load: "Data task: 204", "204 0") { site in
            let (data, response, _) = await site.load(try site.request("/status/204"))
            return "\(shown(response?.statusCode)) \(data?.count ?? 0)"
        },
        Behaviour(load: "Data task: gzip is decoded", "200 hello, gzip") { try await $0.outcome("/gzip") },
        Behaviour(load: "Data task: br is decoded, where a program asks for it", "200 hello, br") { site in
            var request = try site.request("/br")
            request.setValue("br", forHTTPHeaderField: "Accept-Encoding")
            return await site.outcome(request)
        },
        Behaviour(load: "Data task: the decoded response's fields", "gzip -1") { site in
            let response = await site.load(try site.request("/gzip")).1
            return
                "\(shown(response?.value(forHTTPHeaderField: "Content-Encoding"))) \(response?.expectedContentLength ?? 0)"
        },
        Behaviour(load: "Data task: gzip that is none", "URLError -1015") { try await $0.outcome("/badgzip") },
        Behaviour(load: "Data task: chunked", "200 one two") { try await $0.outcome("/chunked") },
        Behaviour(load: "Data task: chunked has no length", "-1") { site in
            "\(await site.load(try site.request("/chunked")).1?.expectedContentLength ?? 0)"
        },
        Behaviour(load: "Data task: until the connection's end", "200 until close") { try await $0.outcome("/close") },
        Behaviour(load: "Data task: of a length", "200 of a length") { try await $0.outcome("/length") },
        Behaviour(load: "Data task: a body that is cut short", "URLError -1005") { try await $0.outcome("/short") },
        Behaviour(load: "Data task: a connection that is reset", "URLError -1005") { try await $0.outcome("/reset") },
        Behaviour(load: "Data task: the response's URL and type", "true text/plain utf-8 hello.txt") { site in
            let address = try site.url("/hello")
            let response = await site.load(try site.request("/hello")).1
            return "\(response?.url == address) \(shown(response?.mimeType)) \(shown(response?.textEncodingName)) "
                + shown(response?.suggestedFilename)
        },
        Behaviour(load: "Data task: a field that comes twice", "1, 2") { site in
            shown(await site.load(try site.request("/fields")).1?.value(forHTTPHeaderField: "X-Twice"))
        },
        Behaviour(load: "Data task: a suggested name", "report.txt") { site in
            shown(await site.load(try site.request("/named")).1?.suggestedFilename)
        },
        Behaviour(load: "Data task: cookies are kept and sent", "nil, name=value") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            for path in ["/cookie", "/hello"] { _ = try await session.data(from: try site.url(path)) }
            return site.sent("Cookie")
        },
        Behaviour(load: "Data task: two cookies of one response", "2") { site in
            let configuration = Site.configuration()
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            _ = try await session.data(from: try site.url("/cookies"))
            return "\(session.configuration.httpCookieStorage?.cookies?.count ?? 0)"
        },
        Behaviour(load: "Data task: no cookies where the request wants none", "nil, nil") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            _ = try await session.data(from: try site.url("/cookie"))
            var request = try site.request("/hello")
            request.httpShouldHandleCookies = false
            _ = try await session.data(for: request)
            return site.sent("Cookie")
        },
        Behaviour(load: "Data task: redirects of GET", "200 GET, 200 GET, 200 GET, 200 GET, 200 GET") { site in
            var texts: [String] = []
            for status in [301, 302, 303, 307, 308] { texts.append(try await site.outcome("/redirect/\(status)")) }
            return texts.joined(separator: ", ")
        },
        Behaviour(load: "Data task: redirects of POST", "200 GET, 200 GET, 200 GET, 200 POST, 200 POST") { site in
            var texts: [String] = []
            for status in [301, 302, 303, 307, 308] {
                texts.append(await site.outcome(try site.request("/redirect/\(status)", "POST", body: "x")))
            }
            return texts.joined(separator: ", ")
        },
        Behaviour(load: "Data task: the URL after a redirect", "/method") { site in
            shown(await site.load(try site.request("/redirect/302")).1?.url?.path)
        },
        Behaviour(load: "Data task: an endless redirect", "URLError -1007") { try await $0.outcome("/loop") },
        Behaviour(load: "Data task: 304 without a cache", "304 ") { try await $0.outcome("/status/304") },
        Behaviour(load: "Data task: refused connections", "URLError -1004 [true, true]") { site in
            site.stop()
            return await failure(site, try site.request("/"))
        },
        Behaviour(load: "Data task: an unknown scheme", "URLError -1002 [true, true]") { site in
            await failure(site, URLRequest(url: try url("nobody://host/")))
        },
        Behaviour(load: "Data task: a URL without a host", "URLError -1000") { site in
            await site.outcome(URLRequest(url: try url("http:///path")))
        },
        Behaviour(load: "Data task: the request's timeout", "URLError -1001 [true, true]") { site in
            var request = try site.request("/stall")
            request.timeoutInterval = 0.5
            return await failure(site, request)
        },
        Behaviour(load: "Data task: the configuration's timeout", "URLError -1001") { site in
            try await site.outcome("/stall") { $0.timeoutIntervalForRequest = 0.5 }
        },
        Behaviour(load: "Data task: the resource's timeout", "URLError -1001") { site in
            try await site.outcome("/half") { $0.timeoutIntervalForResource = 0.5 }
        },
        Behaviour(load: "Data task: the task afterwards", "completed 200 5 5 ok GET") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let request = try site.request("/hello")
            let box = Kept<URLSessionTask>()
            await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request) { _, _, _ in continuation.resume() }
                box.value = task
                task.resume()
            }
            while box.value?.state == .running { await Task.yield() }
            let task = box.value
            return "\(task?.state == .completed ? "completed" : "not") "
                + "\(shown((task?.response as? HTTPURLResponse)?.statusCode)) \(task?.countOfBytesReceived ?? 0) "
                + "\(task?.countOfBytesExpectedToReceive ?? 0) \(shown(task?.error as? URLError)) "
                + shown(task?.currentRequest?.httpMethod)
        },
        Behaviour(load: "Data task: async data", "200 hello") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let (data, response) = try await session.data(from: try site.url("/hello"))
            return "\(shown((response as? HTTPURLResponse)?.statusCode)) \(shown(data))"
        },
        Behaviour(load: "Data task: async data that fails", "URLError -1004") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let address = try site.url("/")
            site.stop()
            do {
                _ = try await session.data(from: address)
                return "ok"
            } catch {
                return shown(error)
            }
        },
        Behaviour(load: "Data task: a file", "file's text 11") { site in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".txt")
            try Data("file's text".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let (data, response) = try await session.data(from: file)
            return "\(shown(data)) \(response.expectedContentLength)"
        },
        Behaviour(load: "Data task: a data URL", "Hello text/plain") { site in
            let session = URLSession(configuration: Site.configuration())
            defer { session.finishTasksAndInvalidate() }
            let (data, response) = try await session.data(from: try url("data:text/plain,Hello"))
            return "\(shown(data)) \(shown(response.mimeType))"
        },
    ]
}

/// What a closure keeps for the code around it.
final class Kept<Value>: @unchecked Sendable {  // set before anything reads it
    var value: Value?
}
