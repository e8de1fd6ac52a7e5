extension Behaviour {
    private static func makeResponse(
        _ fields: [String: String]?, _ status: Int = 200, _ text: String = "http://example.com/path/file.txt"
    ) throws -> HTTPURLResponse {
        guard
            let response = HTTPURLResponse(
                url: try url(text), statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        else { throw URLError(.badServerResponse) }
        return response
    }

    private static func types(_ value: String) throws -> String {
        let response = try makeResponse(["Content-Type": value])
        return "\(shown(response.mimeType)) \(shown(response.textEncodingName))"
    }

    private static func name(_ disposition: String) throws -> String {
        shown(try makeResponse(["Content-Disposition": disposition]).suggestedFilename)
    }

    static let responses = [
        Behaviour("URLResponse: what it is made with", "http://h/ text/plain 5 utf-8") {
            let response = URLResponse(
                url: try url("http://h/"), mimeType: "text/plain", expectedContentLength: 5, textEncodingName: "utf-8")
            return "\(shown(response.url)) \(shown(response.mimeType)) \(response.expectedContentLength) "
                + shown(response.textEncodingName)
        },
        Behaviour("URLResponse: nothing known", "nil -1 nil") {
            let response = URLResponse(
                url: try url("http://h/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            return "\(shown(response.mimeType)) \(response.expectedContentLength) \(shown(response.textEncodingName))"
        },
        Behaviour("URLResponse: the name is the last part of the path", "file.txt") {
            shown(
                URLResponse(
                    url: try url("http://h/dir/file.txt?q=1"), mimeType: nil, expectedContentLength: 0,
                    textEncodingName: nil
                ).suggestedFilename)
        },
        Behaviour("URLResponse: without a path the name is the host", "h") {
            shown(
                URLResponse(
                    url: try url("http://h"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil
                ).suggestedFilename)
        },
        Behaviour("URLResponse: equality", "true false") {
            func make(_ type: String) throws -> URLResponse {
                URLResponse(
                    url: try url("http://h/"), mimeType: type, expectedContentLength: 1, textEncodingName: nil)
            }
            return "\(try make("a/b") == make("a/b")) \(try make("a/b") == make("a/c"))"
        },
        Behaviour("URLResponse: a copy is equal", "true") {
            let response = URLResponse(
                url: try url("http://h/"), mimeType: "a/b", expectedContentLength: 1, textEncodingName: nil)
            return "\((response.copy() as? URLResponse) == response)"
        },
        Behaviour("URLResponse: survives coding", "true") {
            try survivesCoding(
                URLResponse(
                    url: try url("http://h/"), mimeType: "text/html", expectedContentLength: 3,
                    textEncodingName: "utf-8"))
        },
        Behaviour("HTTPURLResponse: the type and the encoding", "text/html iso-8859-4") {
            try types("text/html; charset=iso-8859-4")
        },
        Behaviour("HTTPURLResponse: a quoted charset", "text/html utf-8") { try types("text/html; charset=\"utf-8\"") },
        Behaviour("HTTPURLResponse: the type in lowercase", "text/html nil") { try types("Text/HTML") },
        Behaviour("HTTPURLResponse: another parameter first", "text/html utf-8") {
            try types("text/html; level=1; charset=utf-8")
        },
        Behaviour("HTTPURLResponse: no type", "nil nil") {
            let response = try makeResponse(nil)
            return "\(shown(response.mimeType)) \(shown(response.textEncodingName))"
        },
        Behaviour("HTTPURLResponse: the length", "42") {
            "\(try makeResponse(["Content-Length": "42"]).expectedContentLength)"
        },
        Behaviour("HTTPURLResponse: the length's field in another case", "42") {
            "\(try makeResponse(["content-length": "42"]).expectedContentLength)"
        },
        Behaviour("HTTPURLResponse: no length", "-1") { "\(try makeResponse([:]).expectedContentLength)" },
        Behaviour("HTTPURLResponse: a length that is none", "-1") {
            "\(try makeResponse(["Content-Length": "many"]).expectedContentLength)"
        },
        Behaviour("HTTPURLResponse: a negative length", "-1") {
            "\(try makeResponse(["Content-Length": "-5"]).expectedContentLength)"
        },
        Behaviour("HTTPURLResponse: a length beyond Int64", "-1") {
            "\(try makeResponse(["Content-Length": "99999999999999999999"]).expectedContentLength)"
        },
        Behaviour("HTTPURLResponse: the name in the disposition", "report.txt") {
            try name("attachment; filename=\"report.txt\"")
        },
        Behaviour("HTTPURLResponse: a name that is a token", "report.txt") {
            try name("attachment; filename=report.txt")
        },
        Behaviour("HTTPURLResponse: a name that is a path", "passwd") {
            try name("attachment; filename=\"/etc/passwd\"")
        },
        Behaviour("HTTPURLResponse: a disposition without a name", "file.txt") { try name("inline") },
        Behaviour("HTTPURLResponse: looks fields up whatever their case", "1 1 nil") {
            let response = try makeResponse(["X-Field": "1"])
            return ["x-field", "X-FIELD", "Y"].map { shown(response.value(forHTTPHeaderField: $0)) }
                .joined(separator: " ")
        },
        Behaviour("HTTPURLResponse: the names' case is kept", "[\"x-FIELD\"]") {
            "\(try makeResponse(["x-FIELD": "1"]).allHeaderFields.keys.compactMap { $0 as? String })"
        },
        Behaviour("HTTPURLResponse: no fields", "0") { "\(try makeResponse(nil).allHeaderFields.count)" },
        Behaviour("HTTPURLResponse: status texts", "OK, Not Found, Method Not Allowed, Internal Server Error") {
            [200, 404, 405, 500].map { HTTPURLResponse.localizedString(forStatusCode: $0) }.joined(separator: ", ")
        },
        Behaviour(
            "HTTPURLResponse: texts of unknown statuses",
            "Informational, Success, Redirection, Client Error, Server Error"
        ) {
            [199, 299, 399, 499, 599].map { HTTPURLResponse.localizedString(forStatusCode: $0) }
                .joined(separator: ", ")
        },
        Behaviour("HTTPURLResponse: the status", "418") { "\(try makeResponse(nil, 418).statusCode)" },
        Behaviour("HTTPURLResponse: survives coding", "true") {
            try survivesCoding(try makeResponse(["Content-Type": "text/html", "X-A": "1"], 404))
        },
        Behaviour("HTTPURLResponse: without a version", "true") {
            "\(HTTPURLResponse(url: try url("http://h/"), statusCode: 200, httpVersion: nil, headerFields: nil) != nil)"
        },
    ]
}
