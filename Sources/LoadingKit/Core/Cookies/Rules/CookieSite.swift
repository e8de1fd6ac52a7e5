import Foundation

/// A site, as `SameSite` compares them: a scheme and a registrable domain (RFC 6265bis §5.2).
struct CookieSite: Hashable {
    private let scheme: String
    private let domain: String

    init(_ url: URL) {
        // `ws` and `http` are the same site, and so are `wss` and `https`: a page's WebSockets are of its site.
        switch url.scheme?.asciiLowercased {
        case "ws": scheme = "http"
        case "wss": scheme = "https"
        case let other: scheme = other ?? ""
        }
        domain = CookieHost.host(of: url).map { PublicSuffixes.site(of: $0) } ?? ""
    }

    /// Whether both have the same domain, whatever their schemes.
    func hasSameDomain(as other: CookieSite) -> Bool { domain == other.domain }
}

extension URL {
    /// Whether the connection to the URL's server is encrypted, so that `Secure` cookies may be sent and set.
    var isSecureForCookies: Bool {
        scheme?.equalsIgnoringASCIICase("https") == true || scheme?.equalsIgnoringASCIICase("wss") == true
    }
}
