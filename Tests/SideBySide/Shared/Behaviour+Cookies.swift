extension Behaviour {
    private static func makeCookie(_ further: [HTTPCookiePropertyKey: Any] = [:]) throws -> HTTPCookie {
        let usual: [HTTPCookiePropertyKey: Any] = [
            .name: "name", .value: "value", .domain: "example.com", .path: "/",
        ]
        guard let cookie = HTTPCookie(properties: usual.merging(further) { $1 }) else { throw URLError(.badURL) }
        return cookie
    }

    private static func parsed(_ line: String, from text: String = "http://example.com/dir/page") throws -> [HTTPCookie]
    {
        HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: try url(text))
    }

    private static func summary(_ line: String) throws -> String {
        try parsed(line).map { cookie in
            "\(cookie.name)=\(cookie.value) \(cookie.domain) \(cookie.path) \(cookie.isSecure) \(cookie.isHTTPOnly) "
                + "\(cookie.isSessionOnly)"
        }.sorted().joined(separator: "; ")
    }

    private static func expiry(_ line: String) throws -> String {
        shown(try parsed(line).first?.expiresDate.map { Int($0.timeIntervalSince1970) })
    }

    static let cookies = [
        Behaviour("HTTPCookie: of properties", "name value example.com / 0 false false true nil") {
            let cookie = try makeCookie()
            return "\(cookie.name) \(cookie.value) \(cookie.domain) \(cookie.path) \(cookie.version) "
                + "\(cookie.isSecure) \(cookie.isHTTPOnly) \(cookie.isSessionOnly) \(shown(cookie.expiresDate))"
        },
        Behaviour("HTTPCookie: what is required", "nil nil nil nil") {
            let all: [HTTPCookiePropertyKey: Any] = [.name: "n", .value: "v", .domain: "h", .path: "/"]
            return [.name, .value, .domain, .path].map { (key: HTTPCookiePropertyKey) in
                shown(HTTPCookie(properties: all.filter { $0.key != key })?.name)
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookie: the origin stands in for the domain", "example.com") {
            shown(
                HTTPCookie(properties: [
                    .name: "n", .value: "v", .path: "/", .originURL: try url("http://example.com/x"),
                ])?.domain)
        },
        Behaviour("HTTPCookie: an expiry date makes it outlive the session", "1000000000 false") {
            let cookie = try makeCookie([.expires: Date(timeIntervalSince1970: 1_000_000_000)])
            return "\(shown(cookie.expiresDate.map { Int($0.timeIntervalSince1970) })) \(cookie.isSessionOnly)"
        },
        Behaviour("HTTPCookie: secure", "true") { "\(try makeCookie([.secure: "TRUE"]).isSecure)" },
        Behaviour("HTTPCookie: ports", "[80, 8080]") {
            "\((try makeCookie([.port: "80,8080", .version: "1"]).portList ?? []).map(\.intValue))"
        },
        Behaviour("HTTPCookie: a comment", "why") { shown(try makeCookie([.comment: "why", .version: "1"]).comment) },
        Behaviour("HTTPCookie: request fields", "Cookie: a=1; b=2") {
            let cookies = [try makeCookie([.name: "a", .value: "1"]), try makeCookie([.name: "b", .value: "2"])]
            return shown(HTTPCookie.requestHeaderFields(with: cookies))
        },
        Behaviour("HTTPCookie: properties there and back", "true") {
            let cookie = try makeCookie()
            return "\(cookie.properties.flatMap { HTTPCookie(properties: $0) } == cookie)"
        },
        Behaviour("HTTPCookie: equality", "true false") {
            "\(try makeCookie() == makeCookie()) \(try makeCookie() == makeCookie([.value: "other"]))"
        },
        Behaviour("HTTPCookie: the least line", "a=b example.com /dir false false true") { try summary("a=b") },
        Behaviour("HTTPCookie: all attributes", "a=b .example.com /dir true true false") {
            try summary("a=b; Domain=example.com; Path=/dir; Secure; HttpOnly; Max-Age=60")
        },
        Behaviour("HTTPCookie: attributes whatever their case", "a=b example.com /x true true true") {
            try summary("a=b; path=/x; SECURE; httponly")
        },
        Behaviour("HTTPCookie: an equals sign in the value", "a=b=c example.com / false false true") {
            try summary("a=b=c; Path=/")
        },
        Behaviour("HTTPCookie: an empty value", "a= example.com / false false true") { try summary("a=; Path=/") },
        Behaviour("HTTPCookie: spaces around", "a=b example.com / false false true") {
            try summary("  a = b ; Path=/")
        },
        Behaviour("HTTPCookie: quotes are the value's", "a=\"b\" example.com / false false true") {
            try summary("a=\"b\"; Path=/")
        },
        Behaviour(
            "HTTPCookie: two in a field", "a=1 example.com / false false true; b=2 example.com / false false true"
        ) {
            try summary("a=1; Path=/, b=2; Path=/")
        },
        Behaviour("HTTPCookie: a date as RFC 1123 writes it", "784111777") {
            try expiry("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT")
        },
        Behaviour("HTTPCookie: a date with dashes", "1445412480") {
            try expiry("a=b; Expires=Wed, 21-Oct-2015 07:28:00 GMT")
        },
        Behaviour("HTTPCookie: a date of RFC 850", "784111777") {
            try expiry("a=b; Expires=Sunday, 06-Nov-94 08:49:37 GMT")
        },
        Behaviour("HTTPCookie: a date of asctime", "784111777") { try expiry("a=b; Expires=Sun Nov  6 08:49:37 1994") },
        Behaviour("HTTPCookie: a date that is none", "nil") { try expiry("a=b; Expires=tomorrow") },
        Behaviour("HTTPCookie: another site's domain", "a=b .other.org") {
            try parsed("a=b; Domain=other.org").map { "\($0.name)=\($0.value) \($0.domain)" }.joined()
        },
        Behaviour("HTTPCookie: no Set-Cookie", "0") {
            "\(HTTPCookie.cookies(withResponseHeaderFields: ["X": "y"], for: try url("http://h/")).count)"
        },
        Behaviour("HTTPCookie: an empty line", "0") { "\(try parsed("").count)" },
        Behaviour("HTTPCookie: a line without a name", "0") { "\(try parsed("=b").count)" },
        Behaviour("HTTPCookie: the field's name in lowercase", "1") {
            "\(HTTPCookie.cookies(withResponseHeaderFields: ["set-cookie": "a=b"], for: try url("http://h/")).count)"
        },
    ]

    static let cookieStorage = [
        Behaviour("HTTPCookieStorage: set, found and deleted", "1 0") {
            let storage = try makeStorage()
            let cookie = try makeCookie()
            storage.setCookie(cookie)
            let before = storage.cookies?.count ?? 0
            storage.deleteCookie(cookie)
            return "\(before) \(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: the same name, domain and path replace", "other") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.setCookie(try makeCookie([.value: "other"]))
            return (storage.cookies ?? []).map(\.value).joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: by domain", "1 0 0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            return try ["http://example.com/", "http://sub.example.com/", "http://other.com/"].map {
                "\(storage.cookies(for: try url($0))?.count ?? 0)"
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: a domain with a dot is of subdomains too", "1 1 0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie([.domain: ".example.com"]))
            return try ["http://example.com/", "http://sub.example.com/", "http://myexample.com/"].map {
                "\(storage.cookies(for: try url($0))?.count ?? 0)"
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: by path", "1 1 0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie([.path: "/dir"]))
            return try ["/dir", "/dir/page", "/directory"].map {
                "\(storage.cookies(for: try url("http://example.com\($0)"))?.count ?? 0)"
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: secure ones", "0 1") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie([.secure: "TRUE"]))
            return try ["http://example.com/", "https://example.com/"].map {
                "\(storage.cookies(for: try url($0))?.count ?? 0)"
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: what has expired is gone", "0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie([.expires: Date(timeIntervalSince1970: 1000)]))
            return "\(storage.cookies(for: try url("http://example.com/"))?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: none while the policy is never", "0") {
            let storage = try makeStorage()
            storage.cookieAcceptPolicy = .never
            storage.setCookie(try makeCookie())
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: the policy at first", "0") { "\(try makeStorage().cookieAcceptPolicy.rawValue)" },
        Behaviour("HTTPCookieStorage: removed since", "0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.removeCookies(since: .distantPast)
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: sorted by name", "a b") {
            let storage = try makeStorage()
            for name in ["b", "a"] { storage.setCookie(try makeCookie([.name: name])) }
            return storage.sortedCookies(using: [NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true)])
                .map(\.name).joined(separator: " ")
        },
    ]

    /// A store of its own.
    private static func makeStorage() throws -> HTTPCookieStorage {
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { throw URLError(.unknown) }
        return storage
    }
}
