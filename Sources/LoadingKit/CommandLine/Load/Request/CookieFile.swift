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
                .unicodeScalars.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
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
            "# Netscape HTTP Cookie File\n" + cookies.compactMap(line).sorted().map { "\($0)\n" }.joined()
        }

        /// Nil for a cookie that the form cannot express: a tab in a column would begin another.
        private static func line(_ cookie: HTTPCookie) -> String? {
            let hasSubdomains = cookie.domain.hasPrefix(".")
            let end = cookie.expiresDate.map { String(Int64(min(max($0.timeIntervalSince1970, 0), 1e15))) } ?? "0"
            let columns = [
                cookie.domain, hasSubdomains ? "TRUE" : "FALSE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE", end,
                cookie.name, cookie.value,
            ]
            guard columns.allSatisfy({ !$0.utf8.contains(UInt8(ascii: "\t")) }) else { return nil }
            return (cookie.isHTTPOnly ? httpOnlyPrefix : "") + columns.joined(separator: "\t")
        }
    }
#endif
