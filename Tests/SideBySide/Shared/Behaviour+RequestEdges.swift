/// Edge values of `URLRequest` and `NSURLRequest`.
extension Behaviour {
    private static func makeRequest(_ text: String = "https://example.com/a?b=c") throws -> URLRequest {
        URLRequest(url: try url(text))
    }

    private static func field(_ value: String, _ name: String = "X-A") throws -> String {
        var request = try makeRequest()
        request.setValue(value, forHTTPHeaderField: name)
        return shown(request.value(forHTTPHeaderField: name))
    }

    /// The same made twice, changed once.
    private static func compare(_ change: (inout URLRequest) throws -> Void) throws -> String {
        let one = try makeRequest()
        var other = try makeRequest()
        try change(&other)
        return "\(one == other)"
    }

    static let requestEdges = [
        Behaviour("URLRequest: a relative URL becomes absolute", "http://example.com/get nil") {
            guard let relative = URL(string: "/get", relativeTo: try url("http://example.com")) else { return "no URL" }
            let request = URLRequest(url: relative)
            return "\(shown(request.url)) \(shown(request.url?.baseURL))"
        },
        Behaviour("URLRequest: a relative URL that is set stays one", "/get -- http://example.com") {
            var request = try makeRequest()
            request.url = URL(string: "/get", relativeTo: try url("http://example.com"))
            return shown(request.url)
        },
        Behaviour("NSURLRequest: a relative URL becomes absolute", "http://example.com/get") {
            guard let relative = URL(string: "/get", relativeTo: try url("http://example.com")) else { return "no URL" }
            return shown(NSURLRequest(url: relative).url)
        },
        Behaviour("NSMutableURLRequest: a relative URL becomes absolute", "http://example.com/get 2 3.0") {
            guard let relative = URL(string: "/get", relativeTo: try url("http://example.com")) else { return "no URL" }
            let request = NSMutableURLRequest(
                url: relative, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 3)
            return "\(shown(request.url)) \(request.cachePolicy.rawValue) \(request.timeoutInterval)"
        },
        Behaviour("URLRequest: without a URL its description says so", "url: nil url: nil") {
            var request = try makeRequest()
            request.url = nil
            return "\(request.description) \(request.debugDescription)"
        },
        Behaviour("URLRequest: the case of methods", "GET HEAD POST PUT DELETE CONNECT options trace patch") {
            var request = try makeRequest()
            return ["gEt", "heaD", "pOSt", "Put", "dELETE", "connecT", "options", "trace", "patch"].map { method in
                request.httpMethod = method
                return shown(request.httpMethod)
            }.joined(separator: " ")
        },
        Behaviour("URLRequest: an empty method", "") {
            var request = try makeRequest()
            request.httpMethod = ""
            return shown(request.httpMethod)
        },
        Behaviour("URLRequest: a method that is not ASCII", "MÉTHODE") {
            var request = try makeRequest()
            request.httpMethod = "MÉTHODE"
            return shown(request.httpMethod)
        },
        Behaviour("URLRequest: an empty value", "") { try field("") },
        Behaviour("URLRequest: a value with spaces around", " a ") { try field(" a ") },
        Behaviour("URLRequest: a value that is not ASCII", "é漢") { try field("é漢") },
        Behaviour("URLRequest: a value with a tab", "a\tb") { try field("a\tb") },
        Behaviour("URLRequest: a very long value", "100000") {
            "\(try field(String(repeating: "x", count: 100_000)).count)"
        },
        Behaviour("URLRequest: a value with a line end", "a\nb a\r\nB: c a\rb") {
            try ["a\nb", "a\r\nB: c", "a\rb"].map { try field($0) }.joined(separator: " ")
        },
        Behaviour("URLRequest: a value with a NUL", "a\0b") { try field("a\0b") },
        Behaviour("URLRequest: a folded value", "true true") {
            try ["a\r\n b", "a\r\n\tb"].map { "\(try field($0) == $0)" }.joined(separator: " ")
        },
        Behaviour("URLRequest: an empty name", "1 : 1") {
            var request = try makeRequest()
            request.setValue("1", forHTTPHeaderField: "")
            return "\(shown(request.value(forHTTPHeaderField: ""))) \(shown(request.allHTTPHeaderFields))"
        },
        Behaviour("URLRequest: reserved names are kept until they are sent", "x 5 y") {
            try [("x", "Host"), ("5", "Content-Length"), ("y", "Connection")].map { try field($0, $1) }
                .joined(separator: " ")
        },
        Behaviour("URLRequest: the first spelling of a name stays", "Accept: b") {
            var request = try makeRequest()
            request.setValue("a", forHTTPHeaderField: "Accept")
            request.setValue("b", forHTTPHeaderField: "accept")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: the spelling of a name that was removed is forgotten", "accept: b") {
            var request = try makeRequest()
            request.setValue("a", forHTTPHeaderField: "Accept")
            request.setValue(nil, forHTTPHeaderField: "Accept")
            request.setValue("b", forHTTPHeaderField: "accept")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: adding to a name that there is not", "X-A: 1") {
            var request = try makeRequest()
            request.addValue("1", forHTTPHeaderField: "X-A")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: adding an empty value", "a,") {
            var request = try makeRequest()
            request.setValue("a", forHTTPHeaderField: "X-A")
            request.addValue("", forHTTPHeaderField: "X-A")
            return shown(request.value(forHTTPHeaderField: "X-A"))
        },
        Behaviour("URLRequest: all fields set to nil", "nil") {
            var request = try makeRequest()
            request.setValue("1", forHTTPHeaderField: "X-A")
            request.allHTTPHeaderFields = nil
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: all fields set to none", "") {
            var request = try makeRequest()
            request.allHTTPHeaderFields = [:]
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: all fields after the only one was removed", "") {
            var request = try makeRequest()
            request.setValue("1", forHTTPHeaderField: "X-A")
            request.setValue(nil, forHTTPHeaderField: "X-A")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: removing what there is not", "nil") {
            var request = try makeRequest()
            request.setValue(nil, forHTTPHeaderField: "X-A")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: an empty body", "0") {
            var request = try makeRequest()
            request.httpBody = Data()
            return shown(request.httpBody?.count)
        },
        Behaviour("URLRequest: a body taken away", "nil nil") {
            var request = try makeRequest()
            request.httpBody = Data([1])
            request.httpBody = nil
            return "\(shown(request.httpBody)) \(shown(request.httpBodyStream))"
        },
        Behaviour("URLRequest: a stream taken away", "nil nil") {
            var request = try makeRequest()
            request.httpBodyStream = InputStream(data: Data([1]))
            request.httpBodyStream = nil
            return "\(shown(request.httpBody)) \(shown(request.httpBodyStream))"
        },
        Behaviour("URLRequest: timeouts of any number", "0.0 -1.0 inf 0.5") {
            var request = try makeRequest()
            return [0, -1, .infinity, 0.5].map { (seconds: Double) in
                request.timeoutInterval = seconds
                return "\(request.timeoutInterval)"
            }.joined(separator: " ")
        },
        Behaviour("URLRequest: cache policies", "0 1 4 1 2 3 5") {
            let all: [URLRequest.CachePolicy] = [
                .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
                .reloadIgnoringCacheData, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
                .reloadRevalidatingCacheData,
            ]
            return all.map { "\($0.rawValue)" }.joined(separator: " ")
        },
        Behaviour("URLRequest: service types", "0 1 2 3 4") {
            let all: [URLRequest.NetworkServiceType] = [.default, .voip, .video, .background, .voice]
            return all.map { "\($0.rawValue)" }.joined(separator: " ")
        },
        Behaviour("URLRequest: each setting is kept", "3 4 false false true") {
            var request = try makeRequest()
            request.cachePolicy = .returnCacheDataDontLoad
            request.networkServiceType = .voice
            request.allowsCellularAccess = false
            request.httpShouldHandleCookies = false
            request.httpShouldUsePipelining = true
            return "\(request.cachePolicy.rawValue) \(request.networkServiceType.rawValue) "
                + "\(request.allowsCellularAccess) \(request.httpShouldHandleCookies) \(request.httpShouldUsePipelining)"
        },
        Behaviour("URLRequest: the names' case makes no difference", "true") {
            var (one, other) = (try makeRequest(), try makeRequest())
            one.setValue("1", forHTTPHeaderField: "X-A")
            other.setValue("1", forHTTPHeaderField: "x-a")
            return "\(one == other)"
        },
        Behaviour("URLRequest: the method makes a difference in the hash", "false") {
            var other = try makeRequest()
            other.httpMethod = "PUT"
            return "\(try makeRequest().hashValue == other.hashValue)"
        },
        Behaviour("URLRequest: the main document and the stream make one, too", "false false") {
            var (page, stream) = (try makeRequest(), try makeRequest())
            page.mainDocumentURL = try url("http://main/")
            stream.httpBodyStream = InputStream(data: Data())
            let hash = try makeRequest().hashValue
            return "\(hash == page.hashValue) \(hash == stream.hashValue)"
        },
        Behaviour("URLRequest: the service type makes a difference", "false") {
            try compare { $0.networkServiceType = .video }
        },
        Behaviour("URLRequest: the main document makes a difference", "false") {
            try compare { $0.mainDocumentURL = try url("http://main/") }
        },
        Behaviour("URLRequest: cellular access makes a difference", "false") {
            try compare { $0.allowsCellularAccess = false }
        },
        Behaviour("URLRequest: pipelining makes a difference", "false") {
            let isOn = try makeRequest().httpShouldUsePipelining
            return try compare { $0.httpShouldUsePipelining = !isOn }
        },
        Behaviour("URLRequest: streams are equal that are the same", "true false") {
            let stream = InputStream(data: Data([1]))
            var (one, other, third) = (try makeRequest(), try makeRequest(), try makeRequest())
            one.httpBodyStream = stream
            other.httpBodyStream = stream
            third.httpBodyStream = InputStream(data: Data([1]))
            return "\(one == other) \(one == third)"
        },
        Behaviour("URLRequest: its mirror names what it has", "GET https://example.com/a?b=c") {
            let children = Mirror(reflecting: try makeRequest()).children
            func value(_ name: String) -> String {
                guard let value = children.first(where: { $0.label == name })?.value else { return "-" }
                return shown((value as? String) ?? (value as? URL)?.absoluteString)
            }
            return "\(value("httpMethod")) \(value("url"))"
        },
        Behaviour("NSURLRequest: the policy and the timeout of its initializer", "1 7.5 GET") {
            let request = NSURLRequest(
                url: try url("http://h/"), cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 7.5)
            return "\(request.cachePolicy.rawValue) \(request.timeoutInterval) \(shown(request.httpMethod))"
        },
        Behaviour("NSURLRequest: a copy of an immutable one is itself", "true") {
            let request = NSURLRequest(url: try url("http://h/"))
            return "\((request.copy() as? NSURLRequest) === request)"
        },
        Behaviour("NSURLRequest: its description names the URL", "true true") {
            let request = NSMutableURLRequest(url: try url("http://h/x"))
            let isNamed = request.description.contains("http://h/x")
            request.url = nil
            return "\(isNamed) \(request.description.contains("(null)"))"
        },
        Behaviour("NSMutableURLRequest: is equal to an immutable one", "true true") {
            let (one, other) = (NSURLRequest(url: try url("http://h/")), NSMutableURLRequest(url: try url("http://h/")))
            return "\(one.isEqual(other)) \(one.hash == other.hash)"
        },
        Behaviour("NSMutableURLRequest: each setting is kept", "PUT 3 4 false false true 9.0 http://main/ body a,b") {
            let request = NSMutableURLRequest(url: try url("http://h/"))
            request.httpMethod = "put"
            request.cachePolicy = .returnCacheDataDontLoad
            request.networkServiceType = .voice
            request.allowsCellularAccess = false
            request.httpShouldHandleCookies = false
            request.httpShouldUsePipelining = true
            request.timeoutInterval = 9
            request.mainDocumentURL = try url("http://main/")
            request.httpBody = Data("body".utf8)
            request.setValue("a", forHTTPHeaderField: "X")
            request.addValue("b", forHTTPHeaderField: "x")
            return
                "\(shown(request.httpMethod)) \(request.cachePolicy.rawValue) \(request.networkServiceType.rawValue) "
                + "\(request.allowsCellularAccess) \(request.httpShouldHandleCookies) "
                + "\(request.httpShouldUsePipelining) \(request.timeoutInterval) \(shown(request.mainDocumentURL)) "
                + "\(shown(request.httpBody)) \(shown(request.value(forHTTPHeaderField: "X")))"
        },
        Behaviour("NSMutableURLRequest: a body and a stream exclude each other", "nil true, body nil") {
            let request = NSMutableURLRequest(url: try url("http://h/"))
            request.httpBody = Data("body".utf8)
            request.httpBodyStream = InputStream(data: Data())
            let first = "\(shown(request.httpBody)) \(request.httpBodyStream != nil)"
            request.httpBody = Data("body".utf8)
            return "\(first), \(shown(request.httpBody)) \(shown(request.httpBodyStream))"
        },
        Behaviour("NSMutableURLRequest: all fields", "X-B: 2") {
            let request = NSMutableURLRequest(url: try url("http://h/"))
            request.setValue("1", forHTTPHeaderField: "X-A")
            request.allHTTPHeaderFields = ["X-B": "2"]
            return shown(request.allHTTPHeaderFields)
        },
    ]
}
