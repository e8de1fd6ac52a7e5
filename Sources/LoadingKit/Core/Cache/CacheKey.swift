import Foundation

/// What responses are found by: method and target URI (RFC 9111 §2), which has no fragment, and neither user nor password
/// (RFC 9110 §4.2.4).
package struct CacheKey: Hashable, Sendable, Codable {
    package let method: String
    package let url: String

    package init(method: String, url: URL) {
        self.method = method
        let text = url.absoluteString
        // One look at the bytes: most URLs have neither.
        let sign = text.utf8.firstIndex { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "@") }
        self.url = sign == nil ? text : Self.withoutCredentials(String(text.prefix { $0 != "#" }))
    }

    /// A URL's text without what stands before the host's name.
    package static func withoutCredentials(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<scheme.upperBound] + text[text.index(after: at)...])
    }

    /// - Parameter text: A URL as a key has it.
    package init(method: String, text: String) {
        self.method = method
        url = text
    }

    /// Nil for a request without a URL.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.init(method: request.httpMethod ?? "GET", url: url)
    }

    /// A request that has this key; nil when the URL is none.
    var request: URLRequest? {
        URL(string: url).map { url in
            var request = URLRequest(url: url)
            request.httpMethod = method
            return request
        }
    }
}
