#if CommandLineTool
    import Foundation
    import LoadingKit

    /// A file of cookies in Netscape's form, which curl and others use: a line for each, with seven columns.
    enum CookieFile {
        private static let httpOnlyPrefix = "#HttpOnly_"

        static func cookies(in text: String, withoutSession: Bool = false) -> [HTTPCookie] {
            text.lines.compactMap { line in
                let cookie = cookie(String(line))
                return withoutSession && cookie?.isSessionOnly == true ? nil : cookie
            }
        }

        private static func cookie(_ line: String) -> HTTPCookie? {
            let isHTTPOnly = line.hasPrefix(httpOnlyPrefix)
            guard isHTTPOnly || !line.hasPrefix("#") else { return nil }
            let columns = (isHTTPOnly ? line.dropFirst(httpOnlyPrefix.count) : line[...])
                .split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard columns.count >= 6 else { return nil }
            let domain = String(columns[0].drop { $0 == "." })
            var properties: [HTTPCookiePropertyKey: Any] = [
                .domain: columns[1] == "TRUE" ? ".\(domain)" : domain, .path: columns[2], .name: columns[5],
                .value: columns.count > 6 ? columns[6] : "",
            ]
            if columns[3] == "TRUE" { properties[.secure] = "TRUE" }
            if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
            if let end = Double(columns[4]), end > 0 { properties[.expires] = Date(timeIntervalSince1970: end) }
            return HTTPCookie(properties: properties)
        }

        static func text(_ cookies: [HTTPCookie]) -> String {
            "# Netscape HTTP Cookie File\n" + cookies.map(line).sorted().map { "\($0)\n" }.joined()
        }

        private static func line(_ cookie: HTTPCookie) -> String {
            let hasSubdomains = cookie.domain.hasPrefix(".")
            let end = cookie.expiresDate.map { String(Int64(min(max($0.timeIntervalSince1970, 0), 1e15))) } ?? "0"
            return (cookie.isHTTPOnly ? httpOnlyPrefix : "")
                + [
                    cookie.domain, hasSubdomains ? "TRUE" : "FALSE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                    end,
                    cookie.name, cookie.value,
                ].joined(separator: "\t")
        }
    }

    /// The cookies of `-b`, and the file of `-c`.
    struct CookiePlan: Sendable {
        private var stored: [HTTPCookie] = []
        /// Names and values, for the servers of the URLs.
        private var given: [(name: String, value: String)] = []
        let jar: String?

        init(_ options: LoginOptions, readFile: (String) throws -> Data) throws {
            jar = options.cookieJar
            for argument in options.cookie {
                if argument.contains("=") {
                    given += argument.split(separator: ";").map { piece in
                        let parts = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                            .map { $0.trimmingCharacters(in: .whitespaces) }
                        return (parts[0], parts.count > 1 ? parts[1] : "")
                    }
                } else if let content = try? readFile(argument) {
                    // A file that lacks is one without cookies, as in curl.
                    stored += CookieFile.cookies(
                        in: String(decoding: content, as: UTF8.self), withoutSession: options.junkSessionCookies)
                }
            }
        }

        func fill(_ storage: HTTPCookieStorage?, for urls: [URL]) {
            for cookie in stored { storage?.setCookie(cookie) }
            for host in Set(urls.compactMap { $0.host(percentEncoded: false) }) {
                for (name, value) in given {
                    let properties: [HTTPCookiePropertyKey: Any] = [
                        .domain: host, .path: "/", .name: name, .value: value,
                    ]
                    if let cookie = HTTPCookie(properties: properties) { storage?.setCookie(cookie) }
                }
            }
        }
    }
#endif
