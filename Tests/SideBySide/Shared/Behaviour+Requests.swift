extension Behaviour {
    private static func makeRequest(_ text: String = "https://example.com/a?b=c") throws -> URLRequest {
        URLRequest(url: try url(text))
    }

    static let requests = [
        Behaviour("URLRequest: the method is GET", "GET") { shown(try makeRequest().httpMethod) },
        Behaviour("URLRequest: defaults", "0 60.0 true nil false nil nil") {
            let request = try makeRequest()
            let fields = [
                "\(request.cachePolicy.rawValue)", "\(request.timeoutInterval)", "\(request.httpShouldHandleCookies)",
                shown(request.httpBody), "\(request.httpShouldUsePipelining)", shown(request.mainDocumentURL),
                shown(request.allHTTPHeaderFields),
            ]
            return fields.joined(separator: " ")
        },
        Behaviour("URLRequest: init with policy and timeout", "1 7.5") {
            let request = URLRequest(
                url: try url("http://h/"), cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 7.5)
            return "\(request.cachePolicy.rawValue) \(request.timeoutInterval)"
        },
        Behaviour("URLRequest: a method is set", "DELETE") {
            var request = try makeRequest()
            request.httpMethod = "DELETE"
            return shown(request.httpMethod)
        },
        Behaviour("URLRequest: a method set to nil is GET", "GET") {
            var request = try makeRequest()
            request.httpMethod = "POST"
            request.httpMethod = nil
            return shown(request.httpMethod)
        },
        Behaviour("URLRequest: a lowercase standard method", "GET POST PUT") {
            var request = try makeRequest()
            return ["get", "post", "put"].map { method in
                request.httpMethod = method
                return shown(request.httpMethod)
            }.joined(separator: " ")
        },
        Behaviour("URLRequest: an unknown method keeps its case", "Purge") {
            var request = try makeRequest()
            request.httpMethod = "Purge"
            return shown(request.httpMethod)
        },
        Behaviour("URLRequest: fields are looked up whatever their case", "text/plain text/plain nil") {
            var request = try makeRequest()
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            return ["content-type", "CONTENT-TYPE", "Accept"]
                .map { shown(request.value(forHTTPHeaderField: $0)) }.joined(separator: " ")
        },
        Behaviour("URLRequest: setting replaces whatever the case", "X-A: two") {
            var request = try makeRequest()
            request.setValue("one", forHTTPHeaderField: "X-A")
            request.setValue("two", forHTTPHeaderField: "x-a")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: adding joins with a comma", "one,two") {
            var request = try makeRequest()
            request.addValue("one", forHTTPHeaderField: "X-A")
            request.addValue("two", forHTTPHeaderField: "x-a")
            return shown(request.value(forHTTPHeaderField: "X-A"))
        },
        Behaviour("URLRequest: setting nil removes", "X-B: 2") {
            var request = try makeRequest()
            request.allHTTPHeaderFields = ["X-A": "1", "X-B": "2"]
            request.setValue(nil, forHTTPHeaderField: "x-a")
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: all fields set replace those there were", "X-C: 3") {
            var request = try makeRequest()
            request.setValue("1", forHTTPHeaderField: "X-A")
            request.allHTTPHeaderFields = ["X-C": "3"]
            return shown(request.allHTTPHeaderFields)
        },
        Behaviour("URLRequest: a body set removes the stream", "body nil") {
            var request = try makeRequest()
            request.httpBodyStream = InputStream(data: Data("stream".utf8))
            request.httpBody = Data("body".utf8)
            return "\(shown(request.httpBody)) \(shown(request.httpBodyStream))"
        },
        Behaviour("URLRequest: a stream set removes the body", "nil true") {
            var request = try makeRequest()
            request.httpBody = Data("body".utf8)
            request.httpBodyStream = InputStream(data: Data("stream".utf8))
            return "\(shown(request.httpBody)) \(request.httpBodyStream != nil)"
        },
        Behaviour("URLRequest: equal values are equal and hash alike", "true true") {
            let (one, other) = (try makeRequest(), try makeRequest())
            return "\(one == other) \(one.hashValue == other.hashValue)"
        },
        Behaviour("URLRequest: what makes them unequal", "url method field body policy timeout cookies") {
            let one = try makeRequest()
            let changes: [(String, (inout URLRequest) throws -> Void)] = [
                ("url", { $0.url = try url("http://other/") }), ("method", { $0.httpMethod = "PUT" }),
                ("field", { $0.setValue("1", forHTTPHeaderField: "X") }), ("body", { $0.httpBody = Data([1]) }),
                ("policy", { $0.cachePolicy = .returnCacheDataDontLoad }), ("timeout", { $0.timeoutInterval = 1 }),
                ("cookies", { $0.httpShouldHandleCookies = false }),
            ]
            return try changes.filter { _, change in
                var other = one
                try change(&other)
                return one != other
            }.map(\.0).joined(separator: " ")
        },
        Behaviour("URLRequest: a copy is a value", "GET PUT") {
            let one = try makeRequest()
            var other = one
            other.httpMethod = "PUT"
            return "\(shown(one.httpMethod)) \(shown(other.httpMethod))"
        },
        Behaviour("URLRequest: description is the URL", "https://example.com/a?b=c") { try makeRequest().description },
        Behaviour("URLRequest: no URL is nil", "nil") {
            var request = try makeRequest()
            request.url = nil
            return shown(request.url)
        },
        Behaviour("NSURLRequest: mutable copies are apart", "GET PUT") {
            let one = NSURLRequest(url: try url("http://h/"))
            let other = one.mutableCopy() as? NSMutableURLRequest
            other?.httpMethod = "PUT"
            return "\(shown(one.httpMethod)) \(shown(other?.httpMethod))"
        },
        Behaviour("NSURLRequest: a mutable one's copy stays", "POST false") {
            let one = NSMutableURLRequest(url: try url("http://h/"))
            one.httpMethod = "POST"
            let copy = one.copy() as? NSURLRequest
            one.httpMethod = "PUT"
            return "\(shown(copy?.httpMethod)) \(copy is NSMutableURLRequest)"
        },
        Behaviour("NSURLRequest: survives coding", "true") {
            let request = NSMutableURLRequest(url: try url("https://example.com/a"))
            request.httpMethod = "POST"
            request.setValue("1", forHTTPHeaderField: "X-A")
            request.timeoutInterval = 5
            let copy = request.copy() as? NSURLRequest
            return try copy.map { try survivesCoding($0) } ?? "no copy"
        },
        Behaviour("NSURLRequest: supports secure coding", "true") { "\(NSURLRequest.supportsSecureCoding)" },
        Behaviour("NSURLRequest: equality", "true false") {
            let (one, other) = (NSURLRequest(url: try url("http://h/")), NSURLRequest(url: try url("http://h/")))
            return "\(one == other) \(one.isEqual("http://h/"))"
        },
        Behaviour("URLRequest: bridges there and back", "true") {
            let request = try makeRequest()
            return "\(URLRequest._unconditionallyBridgeFromObjectiveC(request._bridgeToObjectiveC()) == request)"
        },
        Behaviour("URLRequest: as an object and back", "true POST true") {
            var request = try makeRequest()
            request.httpMethod = "POST"
            let object = request as NSURLRequest
            return "\(object.url == request.url) \(shown(object.httpMethod)) \(object as URLRequest == request)"
        },
        Behaviour("URLRequest: casts of Any", "true true true true") {
            let request = try makeRequest()
            let (value, object): (Any, Any) = (request, request as NSURLRequest)
            return "\(value is NSURLRequest) \((value as? NSURLRequest) as URLRequest? == request) "
                + "\(object is URLRequest) \(object as? URLRequest == request)"
        },
        Behaviour("URLRequest: of a mutable object, that changes afterwards", "GET POST PUT") {
            let request = try makeRequest()
            guard let object = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return "none" }
            object.httpMethod = "POST"
            let posted = object as URLRequest
            object.httpMethod = "PUT"
            return "\(shown(request.httpMethod)) \(shown(posted.httpMethod)) \(shown(object.httpMethod))"
        },
        Behaviour("URLRequest: the main document's URL", "http://main/") {
            var request = try makeRequest()
            request.mainDocumentURL = try url("http://main/")
            return shown(request.mainDocumentURL)
        },
    ]
}
