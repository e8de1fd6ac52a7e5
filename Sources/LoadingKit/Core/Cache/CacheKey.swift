import Foundation

/// What responses are found by: method and target URI (RFC 9111 §2), which has no fragment.
package struct CacheKey: Hashable, Sendable, Codable {
    package let method: String
    package let url: String

    package init(method: String, url: URL) {
        self.method = method
        let text = url.absoluteString
        self.url = text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
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
