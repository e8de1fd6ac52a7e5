import Foundation
import LoadingKitPrimitives

/// One response in a cache. A key has several where the server chooses between them by the request's fields.
package struct CacheEntry: Sendable {
    package let response: CachedURLResponse
    /// When the response was stored.
    package let date: Date

    package init(response: CachedURLResponse, date: Date) {
        self.response = response.withoutTrailers
        self.date = date
    }

    /// Whether this entry replaces another one under the same key. An entry that a program stored is for all requests,
    /// and replaces each, and each replaces it.
    package func replaces(_ other: CacheEntry) -> Bool {
        guard let mine = response.metadata, let others = other.response.metadata else { return true }
        return mine.variant == others.variant
    }

    /// How many bytes of a cache's capacity the entry takes, without its key.
    package var cost: Int {
        var cost = response.data.count
        if let fields = (response.response as? HTTPURLResponse)?.fields {
            for index in fields.indices {
                fields.withBytes(at: index) { name, value, _ in cost += name.count + value.count }
            }
        }
        return cost
    }

    /// Whether the response may be given to any request under its key, whatever the request's credentials and fields
    /// are.
    var isForEverybody: Bool { response.metadata.map { $0.owner.isNobody && $0.varyKey.isEmpty } ?? true }

    /// Whether a program may have the response. One whose content is not whole is for loaders alone.
    var isComplete: Bool { response.metadata.map { $0.part == nil && !$0.lacksContent } ?? true }
}

/// What responses are found by: method and target URI (RFC 9111 §2), which has no fragment, and neither user nor password
/// (RFC 9110 §4.2.4). Scheme and host are in lower case, and an empty path is the root (RFC 9110 §4.2.3).
package struct CacheKey: Hashable, Sendable, Codable {
    package let method: String
    package let url: String

    package init(method: String, url: URL) {
        self.method = method
        var text = url.absoluteString
        self.url = text.withUTF8(Self.isNormal) ? text : Self.normalized(text)
    }

    /// Whether a URL is in its normal form already, as most are. It takes one pass over the bytes.
    private static func isNormal(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        if !text[(colon + 1)...].starts(with: "//".utf8) {
            // A URL without a host: only the scheme has to be in lower case.
            return !text[..<colon].contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
                && !text.contains(UInt8(ascii: "#"))
        }
        var slashes = 0
        for byte in text {
            switch byte {
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
        let isRoot = !rest[end...].hasPrefix("/") && (scheme == "http" || scheme == "https")
        return scheme + rest[..<end].lowercased() + (isRoot ? "/" : "") + rest[end...]
    }

    /// A URL's text without user and password.
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

    /// A request that has this key; nil when the key's text is no URL.
    var request: URLRequest? {
        URL(string: url).map { url in
            var request = URLRequest(url: url)
            request.httpMethod = method
            return request
        }
    }
}
