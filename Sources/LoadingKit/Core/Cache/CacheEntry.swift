import Foundation
import LoadingKitPrimitives

/// One stored response. A key has several entries where the server chooses between responses by the request's fields.
package struct CacheEntry: Sendable {
    package let response: CachedURLResponse
    /// When the response was stored.
    package let date: Date

    package init(response: CachedURLResponse, date: Date) {
        self.response = response.withoutTrailers
        self.date = date
    }

    /// Whether this entry replaces another one under the same key. A response that a program stored answers all
    /// requests: it replaces every entry, and every entry replaces it.
    package func replaces(_ other: CacheEntry) -> Bool {
        guard let mine = response.metadata, let others = other.response.metadata else { return true }
        return mine.variant == others.variant
    }

    /// The number of bytes that the entry occupies of a cache's capacity, without its key.
    package var cost: Int {
        var cost = response.parts.data.count
        if let fields = (response.parts.response as? HTTPURLResponse)?.fields {
            for index in fields.indices {
                fields.withBytes(at: index) { name, value, _ in cost += name.count + value.count }
            }
        }
        return cost
    }

    /// Whether the response may answer any request with its key, regardless of the request's credentials and fields.
    var isForEverybody: Bool { response.metadata.map { $0.owner.isNobody && $0.varyKey.isEmpty } ?? true }

    /// Whether a program may have the response. A response with incomplete content is for loaders only.
    var isComplete: Bool { response.metadata.map { $0.part == nil && !$0.lacksContent } ?? true }
}

/// The key of stored responses: method and target URI (RFC 9111 §2), without fragment, user and password
/// (RFC 9110 §4.2.4). Scheme and host are in lower case, and an empty path behind a host is the root (RFC 3986 §6.2.3).
package struct CacheKey: Hashable, Sendable, Codable {
    package let method: String
    package let url: String

    package init(method: String, url: URL) {
        self.method = method
        var text = url.absoluteString
        self.url = text.withUTF8(Self.isNormal) ? text : Self.normalized(text)
    }

    /// Whether a URL is already in its normal form, as most URLs are. It takes one pass over the bytes.
    private static func isNormal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        if !text[(colon + 1)...].starts(with: "//".utf8) {
            // In a URL without a host only the scheme must be in lower case.
            return !text[..<colon].contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
                && !text.contains(UInt8(ascii: "#"))
        }
        var slashes = 0
        for byte in text {
            switch byte {
            // Most bytes; the first comparison decides.
            case UInt8(ascii: "a")...: break
            case UInt8(ascii: "#"), UInt8(ascii: "@"): return false
            case UInt8(ascii: "/"): slashes += 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z") where slashes < 3: return false
            case UInt8(ascii: "?") where slashes < 3: return false
            case _: break
            }
        }
        return slashes >= 3
    }

    private static func normalized(_ text: String) -> String {
        let text = withoutCredentials(String(text.prefix { $0 != "#" }))
        guard let colon = text.firstIndex(of: ":") else { return text }
        let (scheme, rest) = (text[..<colon].lowercased(), text[colon...])
        guard rest.hasPrefix("://") else { return scheme + rest }
        let end = rest.dropFirst(3).firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        return scheme + rest[..<end].lowercased() + (rest[end...].hasPrefix("/") ? "" : "/") + rest[end...]
    }

    /// A URL's text without user and password.
    package static func withoutCredentials(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<scheme.upperBound] + text[text.index(after: at)...])
    }

    /// - Parameter text: A URL in the key's normal form.
    package init(method: String, text: String) {
        self.method = method
        url = text
    }

    /// Nil for a request without a URL.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        self.init(method: request.httpMethod ?? "GET", url: url)
    }

    /// A request that has this key; nil when the key's text is not a URL.
    var request: URLRequest? {
        URL(string: url).map { url in
            var request = URLRequest(url: url)
            request.httpMethod = method
            return request
        }
    }
}
