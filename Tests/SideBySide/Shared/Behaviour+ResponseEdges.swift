/// Edge values of `URLResponse` and `HTTPURLResponse`.
extension Behaviour {
    private static func makeResponse(
        _ fields: [String: String]?, _ status: Int = 200, _ text: String = "http://example.com/path/file.txt",
        version: String? = "HTTP/1.1"
    ) throws -> HTTPURLResponse {
        guard
            let response = HTTPURLResponse(
                url: try url(text), statusCode: status, httpVersion: version, headerFields: fields)
        else { throw URLError(.badServerResponse) }
        return response
    }

    private static func name(of text: String, _ type: String? = nil) throws -> String {
        shown(
            URLResponse(url: try url(text), mimeType: type, expectedContentLength: 0, textEncodingName: nil)
                .suggestedFilename)
    }

    private static func name(_ disposition: String, _ text: String = "http://example.com/path/file.txt") throws
        -> String
    {
        shown(try makeResponse(["Content-Disposition": disposition], 200, text).suggestedFilename)
    }

    private static func types(_ value: String) throws -> String {
        let response = try makeResponse(["Content-Type": value])
        return "\(shown(response.mimeType)) \(shown(response.textEncodingName))"
    }

    private static func length(_ fields: [String: String]) throws -> String {
        "\(try makeResponse(fields).expectedContentLength)"
    }

    /// What comes out of an archive.
    private static func archived<Response: URLResponse>(_ response: Response) throws -> Response? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Response.self, from: data)
    }

    static let responseEdges = [
        Behaviour("URLResponse: types and encodings as they are given", "APPlication/X UTF8 ") {
            let response = URLResponse(
                url: try url("http://h/"), mimeType: "APPlication/X", expectedContentLength: 0, textEncodingName: "UTF8"
            )
            let empty = URLResponse(
                url: try url("http://h/"), mimeType: "", expectedContentLength: 0, textEncodingName: "")
            return "\(shown(response.mimeType)) \(shown(response.textEncodingName)) \(shown(empty.mimeType))"
                + shown(empty.textEncodingName)
        },
        Behaviour("URLResponse: lengths of any number", "0 -1 -5 9223372036854775807") {
            try [0, -1, -5, Int.max].map { length in
                let response = URLResponse(
                    url: try url("http://h/"), mimeType: nil, expectedContentLength: length, textEncodingName: nil)
                return "\(response.expectedContentLength)"
            }.joined(separator: " ")
        },
        Behaviour("URLResponse: a name of a URL without a scheme", "name.extension") {
            try name(of: "a/test/name.extension?foo=bar")
        },
        Behaviour("URLResponse: a name with escapes", "a b.txt") { try name(of: "http://h/a%20b.txt") },
        Behaviour("URLResponse: a name that is not ASCII", "é.txt") { try name(of: "http://h/%C3%A9.txt") },
        Behaviour("URLResponse: a folder's name", "folder") { try name(of: "http://h/folder/") },
        Behaviour("URLResponse: the name of a root is the host", "example.com") { try name(of: "http://example.com/") },
        Behaviour("URLResponse: an extension for the type", "page.html") { try name(of: "http://h/page", "text/html") },
        Behaviour("URLResponse: a name with an extension keeps it", "page.txt") {
            try name(of: "http://h/page.txt", "text/html")
        },
        Behaviour("URLResponse: the name of a data URL", "Unknown.txt") { try name(of: "data:,x", "text/plain") },
        Behaviour("URLResponse: the name of a file URL", "x.txt") { try name(of: "file:///tmp/x.txt") },
        Behaviour("URLResponse: another class is not equal", "false false") {
            let response = URLResponse(
                url: try url("http://h/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            return "\(response.isEqual(NSObject())) \(response.isEqual(nil))"
        },
        Behaviour("URLResponse: each part makes a difference", "false false false false") {
            func make(
                _ text: String = "http://h/", _ type: String = "a/b", _ length: Int = 1, _ encoding: String = "x"
            ) throws -> URLResponse {
                URLResponse(
                    url: try url(text), mimeType: type, expectedContentLength: length, textEncodingName: encoding)
            }
            let others = [
                try make("http://i/"), try make("http://h/", "a/c"), try make("http://h/", "a/b", 2),
                try make("http://h/", "a/b", 1, "y"),
            ]
            return try others.map { "\(try make() == $0)" }.joined(separator: " ")
        },
        Behaviour("URLResponse: equal ones hash alike", "true") {
            func make() throws -> URLResponse {
                URLResponse(
                    url: try url("http://h/"), mimeType: "a/b", expectedContentLength: 1, textEncodingName: "x")
            }
            return "\(try haveSameHash(make))"
        },
        Behaviour("URLResponse: archived without anything", "http://h/ nil -1 nil") {
            let response = try archived(
                URLResponse(
                    url: try url("http://h/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            return "\(shown(response?.url)) \(shown(response?.mimeType)) \(shown(response?.expectedContentLength)) "
                + shown(response?.textEncodingName)
        },
        Behaviour("URLResponse: the name of an archived one", "page.html") {
            let response = try archived(
                URLResponse(
                    url: try url("http://h/page"), mimeType: "text/html", expectedContentLength: 0,
                    textEncodingName: nil))
            return shown(response?.suggestedFilename)
        },
        Behaviour("URLResponse: supports secure coding", "true true") {
            "\(URLResponse.supportsSecureCoding) \(HTTPURLResponse.supportsSecureCoding)"
        },
        Behaviour("HTTPURLResponse: the name of an archived one", "fname.ext 200") {
            let response = try archived(makeResponse(["Content-Disposition": "attachment; filename=fname.ext"]))
            return "\(shown(response?.suggestedFilename)) \(shown(response?.statusCode))"
        },
        Behaviour("HTTPURLResponse: the type of an archived one", "text/html iso-8859-4 -1") {
            let response = try archived(makeResponse(["Content-Type": "text/HTML; charset=ISO-8859-4"]))
            return "\(shown(response?.mimeType)) \(shown(response?.textEncodingName)) "
                + shown(response?.expectedContentLength)
        },
        Behaviour("HTTPURLResponse: the charset in lowercase", "text/html iso-8859-4") {
            try types("text/HTML; charset=ISO-8859-4")
        },
        Behaviour("HTTPURLResponse: an empty type", "nil nil") { try types("") },
        Behaviour("HTTPURLResponse: a type without a slash", "nil nil") { try types("text") },
        Behaviour("HTTPURLResponse: a charset without quotes at its end", "text/html utf-8") {
            try types("text/html;charset=utf-8;")
        },
        Behaviour("HTTPURLResponse: spaces around the type", "text/html utf-8") {
            try types("  text/html ; charset=utf-8 ")
        },
        Behaviour("HTTPURLResponse: an empty charset", "text/html nil") { try types("text/html; charset=") },
        Behaviour("HTTPURLResponse: a quoted type", "text/html utf-8") { try types("text/html; CHARSET=\"utf-8\"") },
        Behaviour("HTTPURLResponse: a length with a sign", "-1") { try length(["Content-Length": "+5"]) },
        Behaviour("HTTPURLResponse: a length with spaces", "-1") { try length(["Content-Length": " 5 "]) },
        Behaviour("HTTPURLResponse: an empty length", "-1") { try length(["Content-Length": ""]) },
        Behaviour("HTTPURLResponse: a length of nought", "0") { try length(["Content-Length": "0"]) },
        Behaviour("HTTPURLResponse: a length with a coding", "997") {
            try length(["Content-Length": "997", "Content-Encoding": "gzip", "Transfer-Encoding": "chunked"])
        },
        Behaviour("HTTPURLResponse: a name with a semicolon", ";.ext") { try name("attachment; filename=\";.ext\"") },
        Behaviour("HTTPURLResponse: a name with an escaped quote", "a\"b.txt") {
            try name("attachment; filename=\"a\\\"b.txt\"")
        },
        Behaviour("HTTPURLResponse: of two names", "wrong.ext") {
            try name("attachment; aa=bb; filename=\"wrong.ext\"; filename=\"fname.ext\"")
        },
        Behaviour("HTTPURLResponse: an empty name", "file.txt") { try name("attachment; filename=\"\"") },
        Behaviour("HTTPURLResponse: an extended name", "é.txt") {
            try name("attachment; filename=\"e.txt\"; filename*=UTF-8''%C3%A9.txt")
        },
        Behaviour("HTTPURLResponse: a name with dots alone", "file.txt") { try name("attachment; filename=\"..\"") },
        Behaviour("HTTPURLResponse: the parameter's case", "x.txt") { try name("ATTACHMENT; FILENAME=x.txt") },
        Behaviour("HTTPURLResponse: no name anywhere", "example.com") { try name("inline", "http://example.com") },
        Behaviour(
            "HTTPURLResponse: how the fields' names are spelled",
            "Content-Length: 1, Etag: 2, Location: 3, WWW-Authenticate: 4, X-UPPER: 5, x-lower: 6"
        ) {
            let fields = try makeResponse([
                "content-LENGTH": "1", "ETag": "2", "location": "3", "www-authenticate": "4", "X-UPPER": "5",
                "x-lower": "6",
            ]).allHeaderFields
            return shown(fields as? [String: String])
        },
        Behaviour("HTTPURLResponse: an empty name of a field", "0") {
            "\(try makeResponse(["": "x"]).allHeaderFields.count)"
        },
        Behaviour("HTTPURLResponse: an empty value", " 1") {
            let response = try makeResponse(["X-A": ""])
            return "\(shown(response.value(forHTTPHeaderField: "x-a"))) \(response.allHeaderFields.count)"
        },
        Behaviour("HTTPURLResponse: a value that is not ASCII", "é漢") {
            shown(try makeResponse(["X-A": "é漢"]).value(forHTTPHeaderField: "X-A"))
        },
        Behaviour("HTTPURLResponse: the whole value of a field with spaces around", " a ") {
            shown(try makeResponse(["X-A": " a "]).value(forHTTPHeaderField: "X-A"))
        },
        Behaviour("HTTPURLResponse: statuses of any number", "0 -1 99 1000") {
            try [0, -1, 99, 1000].map { "\(try makeResponse(nil, $0).statusCode)" }.joined(separator: " ")
        },
        Behaviour("HTTPURLResponse: versions of any kind", "true true true") {
            try [nil, "", "HTTP/9"].map { "\(try makeResponse(nil, 200, "http://h/", version: $0).statusCode == 200)" }
                .joined(separator: " ")
        },
        Behaviour("HTTPURLResponse: equality", "true false false") {
            let one = try makeResponse(["X-A": "1"])
            return "\(try one == makeResponse(["X-A": "1"])) \(try one == makeResponse(["X-A": "1"], 404)) "
                + "\(try one == makeResponse(["X-A": "2"]))"
        },
        Behaviour("HTTPURLResponse: equal ones hash alike", "true") {
            "\(try haveSameHash { try makeResponse(["X-A": "1"]) })"
        },
        Behaviour("HTTPURLResponse: a copy is equal", "true") {
            let response = try makeResponse(["X-A": "1"])
            return "\((response.copy() as? HTTPURLResponse) == response)"
        },
        Behaviour("HTTPURLResponse: texts of statuses beyond all classes", "Server Error, Server Error, Server Error") {
            [600, 1000, -1].map { HTTPURLResponse.localizedString(forStatusCode: $0) }.joined(separator: ", ")
        },
        Behaviour(
            "HTTPURLResponse: more texts",
            "Continue, No Content, Moved Permanently, Not Modified, Unauthorized, Client Error, Too Many Requests, "
                + "Bad Gateway"
        ) {
            [100, 204, 301, 304, 401, 418, 429, 502].map { HTTPURLResponse.localizedString(forStatusCode: $0) }
                .joined(separator: ", ")
        },
        Behaviour("HTTPURLResponse: its description names URL and status", "true true") {
            let text = try makeResponse(["X-A": "1"], 404).description
            return "\(text.contains("http://example.com/path/file.txt")) \(text.contains("404"))"
        },
    ]
}
