/// Edge values of `HTTPCookie` and `HTTPCookieStorage`.
extension Behaviour {
    private static let usual: [HTTPCookiePropertyKey: Any] = [
        .name: "name", .value: "value", .domain: "example.com", .path: "/",
    ]

    private static func made(_ further: [HTTPCookiePropertyKey: Any]) -> HTTPCookie? {
        HTTPCookie(properties: usual.merging(further) { $1 })
    }

    private static func makeCookie(_ further: [HTTPCookiePropertyKey: Any] = [:]) throws -> HTTPCookie {
        guard let cookie = made(further) else { throw URLError(.badURL) }
        return cookie
    }

    private static func seconds(_ date: Date?) -> String { shown(date.map { Int($0.timeIntervalSince1970) }) }

    /// Whether there is an end that is not in the past, and whether the cookie ends with the session.
    private static func end(_ further: [HTTPCookiePropertyKey: Any]) throws -> String {
        let cookie = try makeCookie(further)
        let end = cookie.expiresDate.map { $0.timeIntervalSinceNow > 0 ? "later" : "past" }
        return "\(shown(end)) \(cookie.isSessionOnly)"
    }

    private static func parsed(_ line: String, from text: String = "http://example.com/dir/page") throws -> [HTTPCookie]
    {
        HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": line], for: try url(text))
    }

    private static func names(_ line: String) throws -> String {
        try parsed(line).map { "\($0.name)=\($0.value)" }.joined(separator: " | ")
    }

    private static func domains(_ line: String, from text: String) throws -> String {
        try parsed(line, from: text).map(\.domain).joined(separator: " ")
    }

    static let cookieEdges = [
        Behaviour("HTTPCookie: a version", "0 1 0 0") {
            try ["0", "1", "2", "x"].map { "\(try makeCookie([.version: $0]).version)" }.joined(separator: " ")
        },
        Behaviour("HTTPCookie: properties given as parts of strings", "nam valu") {
            let cookie = try makeCookie([.name: "name".dropLast(), .value: "value".dropLast()])
            return "\(cookie.name) \(cookie.value)"
        },
        Behaviour("HTTPCookie: all properties given as parts of strings", "example.co / true later false") {
            let cookie = made([
                .domain: "example.com".dropLast(), .path: "/x".dropLast(), .secure: "TRUE "[...].dropLast(),
                .version: "1x".dropLast(), .maximumAge: "1000"[...],
            ])
            guard let cookie else { return "none" }
            let end = cookie.expiresDate.map { $0.timeIntervalSinceNow > 0 ? "later" : "past" }
            return "\(cookie.domain) \(cookie.path) \(cookie.isSecure) \(shown(end)) \(cookie.isSessionOnly)"
        },
        Behaviour("HTTPCookie: a domain that is a dot", "nil") { shown(made([.domain: "."])?.domain) },
        Behaviour("HTTPCookie: empty values of what is required", "nil  nil /") {
            let path = made([.path: ""])?.path
            return "\(shown(made([.name: ""])?.name)) \(shown(made([.value: ""])?.value)) "
                + "\(shown(made([.domain: ""])?.domain)) \(shown(path))"
        },
        Behaviour("HTTPCookie: characters that would end it", "nil nil nil") {
            [made([.value: "a;b"]), made([.name: "a=b"]), made([.value: "a\nb"])].map { shown($0?.value) }
                .joined(separator: " ")
        },
        Behaviour("HTTPCookie: values that are not ASCII", "é é漢") {
            let cookie = try makeCookie([.name: "é", .value: "é漢"])
            return "\(cookie.name) \(cookie.value)"
        },
        Behaviour("HTTPCookie: a domain in capitals", "example.com .example.com") {
            "\(shown(made([.domain: "EXAMPLE.com"])?.domain)) \(shown(made([.domain: ".Example.COM"])?.domain))"
        },
        Behaviour("HTTPCookie: an address with a dot before it", "1.2.3.4") {
            shown(made([.domain: ".1.2.3.4"])?.domain)
        },
        Behaviour("HTTPCookie: the domain wins over the origin", "example.com") {
            shown(made([.originURL: try url("http://other.com/")])?.domain)
        },
        Behaviour("HTTPCookie: the origin as a string", "other.com") {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "n", .value: "v", .path: "/", .originURL: "http://other.com/x",
            ]
            return shown(HTTPCookie(properties: properties)?.domain)
        },
        Behaviour("HTTPCookie: the greatest age is of version 1", "nil true, later false, nil true") {
            "\(try end([.maximumAge: "1000"])), \(try end([.maximumAge: "1000", .version: "1"])), "
                + (try end([.version: "1"]))
        },
        Behaviour("HTTPCookie: a greatest age that is none", "nil true") {
            try end([.maximumAge: "soon", .version: "1"])
        },
        Behaviour("HTTPCookie: a greatest age of nought", "past false") {
            try end([.maximumAge: "0", .version: "1"])
        },
        Behaviour("HTTPCookie: an expiry date as text", "784111777") {
            seconds(try makeCookie([.expires: "Sun, 06 Nov 1994 08:49:37 GMT"]).expiresDate)
        },
        Behaviour("HTTPCookie: discarded in spite of its expiry date", "nil true") {
            try end([.discard: "TRUE", .expires: Date(timeIntervalSinceNow: 1000)])
        },
        Behaviour("HTTPCookie: not discarded", "later false") {
            try end([.discard: "FALSE", .expires: Date(timeIntervalSinceNow: 1000)])
        },
        Behaviour("HTTPCookie: not discarded, without an expiry date", "nil true") { try end([.discard: "FALSE"]) },
        Behaviour("HTTPCookie: all of version 1 in one of version 0", "0 why https://apple.com true nil [443] true") {
            let cookie = try makeCookie([
                .comment: "why", .commentURL: "https://apple.com", .discard: "TRUE",
                .expires: Date(timeIntervalSince1970: 1000), .maximumAge: "2000", .port: "443,8443", .secure: "YES",
            ])
            return "\(cookie.version) \(shown(cookie.comment)) \(shown(cookie.commentURL)) \(cookie.isSessionOnly) "
                + "\(seconds(cookie.expiresDate)) \((cookie.portList ?? []).map(\.intValue)) \(cookie.isSecure)"
        },
        Behaviour("HTTPCookie: what counts as secure", "true true true false false") {
            let values: [Any] = ["TRUE", "YES", true, "FALSE", false]
            return try values.map { "\(try makeCookie([.secure: $0]).isSecure)" }.joined(separator: " ")
        },
        Behaviour("HTTPCookie: not to be seen by scripts", "true") {
            "\(try makeCookie([HTTPCookiePropertyKey("HttpOnly"): "TRUE"]).isHTTPOnly)"
        },
        Behaviour("HTTPCookie: no ports", "nil") { shown(try makeCookie().portList) },
        Behaviour("HTTPCookie: ports with spaces and without sense", "[80]") {
            "\((try makeCookie([.port: " 80 , x", .version: "1"]).portList ?? []).map(\.intValue))"
        },
        Behaviour("HTTPCookie: the properties that it gives", "Discard Domain Name Path Value Version") {
            let known = [
                "Comment", "CommentURL", "Discard", "Domain", "Expires", "Max-Age", "Name", "Path", "Port",
                "Secure", "Value", "Version",
            ]
            return (try makeCookie().properties ?? [:]).keys.map(\.rawValue).filter(known.contains).sorted()
                .joined(separator: " ")
        },
        Behaviour(
            "HTTPCookie: the names of properties",
            "Comment CommentURL Discard Domain Expires Max-Age Name OriginURL Path Port Secure Value Version"
        ) {
            let keys: [HTTPCookiePropertyKey] = [
                .comment, .commentURL, .discard, .domain, .expires, .maximumAge, .name, .originURL, .path, .port,
                .secure, .value, .version,
            ]
            return keys.map(\.rawValue).joined(separator: " ")
        },
        Behaviour("HTTPCookie: fields of no cookies", "0") { "\(HTTPCookie.requestHeaderFields(with: []).count)" },
        Behaviour("HTTPCookie: fields of an empty value", "Cookie: name=") {
            shown(HTTPCookie.requestHeaderFields(with: [try makeCookie([.value: ""])]))
        },
        Behaviour("HTTPCookie: joined by commas, over lines", "a=1 | b=2 | c=3") {
            try names("a=1; path=/,\n b=2; path=/,\r\n\tc=3")
        },
        Behaviour("HTTPCookie: joined by commas without a space", "a=1 | b=2") { try names("a=1; path=/,b=2") },
        Behaviour("HTTPCookie: joined behind dates", "a=1 | b=2 | c=3") {
            try names(
                "a=1; expires=Wed, 01 Jan 2020 12:30:00 GMT; path=/, b=2; expires=Wed Jan 1 12:30:00 2020, c=3; "
                    + "expires=Wed, 01-Jan-2020 12:30:00 GMT")
        },
        Behaviour("HTTPCookie: a comma in an attribute", "n=v") { try names("n=v; Comment=real value, tok@en=second") },
        Behaviour("HTTPCookie: a comma in a value", "a=1,2") { try names("a=1,2") },
        Behaviour("HTTPCookie: white space around a line", "a=1") { try names("\n \t a=1 \r\n") },
        Behaviour("HTTPCookie: a name with spaces before the equals sign", "AAA=1 | BBB=2") {
            try names("AAA =1; path=/, BBB=2; path=/")
        },
        Behaviour("HTTPCookie: lines that are no cookies", "0 0 0 0") {
            try [";attr=1", "   =1; attr=2", "name; attr=2", "name"].map { "\(try parsed($0).count)" }
                .joined(separator: " ")
        },
        Behaviour("HTTPCookie: attributes without values", "true true true nil") {
            let cookie = try parsed("n=v; Secure; Comment; Discard; HttpOnly").first
            return "\(shown(cookie?.isSecure)) \(shown(cookie?.isSessionOnly)) \(shown(cookie?.isHTTPOnly)) "
                + shown(cookie?.comment)
        },
        Behaviour("HTTPCookie: flags with values", "true true") {
            let cookie = try parsed("n=v; Secure=1; HttpOnly=Yes").first
            return "\(shown(cookie?.isSecure)) \(shown(cookie?.isHTTPOnly))"
        },
        Behaviour("HTTPCookie: comments of servers", "nil nil") {
            let cookie = try parsed("n=v; Comment=c; CommentURL=u").first
            return "\(shown(cookie?.comment)) \(shown(cookie?.commentURL))"
        },
        Behaviour("HTTPCookie: a path that is none", "/dir") { shown(try parsed("n=v; Path=not/valid").first?.path) },
        Behaviour("HTTPCookie: an empty path", "/dir") { shown(try parsed("n=v; Path=").first?.path) },
        Behaviour("HTTPCookie: a greatest age of a server", "later false, past false, nil true") {
            try ["n=v; Max-Age=1000", "n=v; Max-Age=0", "n=v; Max-Age=soon"].map { line in
                let cookie = try parsed(line).first
                let end = cookie?.expiresDate.map { $0.timeIntervalSinceNow > 0 ? "later" : "past" }
                return "\(shown(end)) \(shown(cookie?.isSessionOnly))"
            }.joined(separator: ", ")
        },
        Behaviour("HTTPCookie: the greatest age beats the expiry date", "later") {
            let cookie = try parsed("n=v; Max-Age=1000; Expires=Sun, 06 Nov 1994 08:49:37 GMT").first
            return shown(cookie?.expiresDate.map { $0.timeIntervalSinceNow > 0 ? "later" : "past" })
        },
        Behaviour("HTTPCookie: domains of servers", ".example.com .example.com .a.example.com a.example.com") {
            [
                try domains("n=v; Domain=eXample.com", from: "http://eXample.com"),
                try domains("n=v; Domain=.eXample.com", from: "http://example.com"),
                try domains("n=v; Domain=a.eXample.com", from: "http://a.example.com"),
                try domains("n=v", from: "http://A.example.com"),
            ].joined(separator: " ")
        },
        Behaviour("HTTPCookie: an address of a server", "1.2.3.4 1.2.3.4") {
            "\(try domains("n=v; Domain=1.2.3.4", from: "http://1.2.3.4/")) \(try domains("n=v", from: "http://1.2.3.4/"))"
        },
        Behaviour("HTTPCookie: of a URL without a host", "0") { "\(try parsed("n=v", from: "file:///x").count)" },
        Behaviour("HTTPCookie: a very long value", "5000") {
            shown(try parsed("n=" + String(repeating: "x", count: 5000)).first?.value.count)
        },
        Behaviour("HTTPCookie: equal ones hash alike", "true") { "\(try haveSameHash { try makeCookie() })" },
        Behaviour("HTTPCookie: its description names it", "true true") {
            let text = try makeCookie().description
            return "\(text.contains("name")) \(text.contains("example.com"))"
        },
    ]

    static let cookieStorageEdges = [
        Behaviour("HTTPCookieStorage: no cookies at first", "0") { "\(try makeStorage().cookies?.count ?? -1)" },
        Behaviour("HTTPCookieStorage: policies", "0 1 2") {
            let all: [HTTPCookie.AcceptPolicy] = [.always, .never, .onlyFromMainDocumentDomain]
            return all.map { "\($0.rawValue)" }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: a cookie that has ended replaces", "0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.setCookie(try makeCookie([.expires: Date(timeIntervalSince1970: 1000)]))
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: deleting what is not there", "1") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.deleteCookie(try makeCookie([.name: "other"]))
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: deleting one with another value", "0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.deleteCookie(try makeCookie([.value: "other"]))
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: the name's case makes another cookie", "2") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.setCookie(try makeCookie([.name: "NAME"]))
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: hosts whatever their case", "1 1") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            return try ["http://EXAMPLE.com/", "HTTP://example.com"].map {
                "\(storage.cookies(for: try url($0))?.count ?? 0)"
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: cookies of a URL without a host", "0") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            return "\(storage.cookies(for: try url("file:///x"))?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: cookies set for a URL are its own", "1") {
            let storage = try makeStorage()
            let cookies = [try makeCookie(), try makeCookie([.domain: "other.com"])]
            storage.setCookies(cookies, for: try url("https://example.com/"), mainDocumentURL: nil)
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: only of the main document's domain", "1 0") {
            let storage = try makeStorage()
            storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
            let page = try url("https://www.example.com/")
            storage.setCookies([try makeCookie()], for: try url("https://example.com/"), mainDocumentURL: page)
            storage.setCookies(
                [try makeCookie([.domain: "other.com"])], for: try url("https://other.com/"), mainDocumentURL: page)
            return try ["https://example.com/", "https://other.com/"].map {
                "\(storage.cookies(for: try url($0))?.count ?? 0)"
            }.joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: of a main document of another scheme", "0") {
            let storage = try makeStorage()
            storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
            storage.setCookies(
                [try makeCookie()], for: try url("https://example.com/"),
                mainDocumentURL: try url("http://www.example.com/"))
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: removed since a date to come", "1") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            storage.removeCookies(since: Date(timeIntervalSinceNow: 1000))
            return "\(storage.cookies?.count ?? 0)"
        },
        Behaviour("HTTPCookieStorage: sorted by two keys", "A C B") {
            let storage = try makeStorage()
            for (name, path) in [("A", "/1"), ("B", "/2"), ("C", "/2")] {
                storage.setCookie(try makeCookie([.name: name, .path: path]))
            }
            return storage.sortedCookies(using: [
                NSSortDescriptor(keyPath: \HTTPCookie.path, ascending: true),
                NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: false),
            ]).map(\.name).joined(separator: " ")
        },
        Behaviour("HTTPCookieStorage: its description counts", "<NSHTTPCookieStorage cookies count:1>") {
            let storage = try makeStorage()
            storage.setCookie(try makeCookie())
            return storage.description
        },
        Behaviour("HTTPCookieStorage: one for a group is the same each time", "true false") {
            let one = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "side-by-side")
            let other = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "side-by-side")
            return "\(one === other) \(one === HTTPCookieStorage.shared)"
        },
        Behaviour("HTTPCookieStorage: the shared one is one", "true") {
            "\(HTTPCookieStorage.shared === HTTPCookieStorage.shared)"
        },
    ]

    private static func makeStorage() throws -> HTTPCookieStorage {
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { throw URLError(.unknown) }
        return storage
    }
}
