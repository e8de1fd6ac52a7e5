import Foundation

/// Paths as cookies compare them (RFC 6265bis §5.1.4), without decoding what is percent-encoded.
enum CookiePath {
    /// A URL's path; `/` where it has none.
    static func path(of url: URL) -> String {
        let path = url.absoluteURL.path(percentEncoded: true)
        return path.utf8.first == UInt8(ascii: "/") ? path : "/"
    }

    /// The path of a cookie whose server gave none: the URL's path up to its last slash.
    static func defaultPath(for url: URL) -> String {
        let path = path(of: url).utf8
        guard let last = path.lastIndex(of: UInt8(ascii: "/")), last > path.startIndex else { return "/" }
        return String(Substring(path[..<last]))
    }

    /// Whether a cookie with the path `cookie` goes with a request for `path`.
    static func matches(_ path: String, cookie: String) -> Bool {
        let (path, cookie) = (path.utf8, cookie.utf8)
        guard path.starts(with: cookie) else { return false }
        return path.count == cookie.count || cookie.last == UInt8(ascii: "/")
            || path.dropFirst(cookie.count).first == UInt8(ascii: "/")
    }
}
