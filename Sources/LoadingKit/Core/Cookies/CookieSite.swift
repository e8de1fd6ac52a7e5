import Foundation

/// What is one site to `SameSite`: a scheme and a registrable domain (RFC 6265bis §5.2).
struct CookieSite: Hashable {
    private let scheme: String
    private let domain: String

    init(_ url: URL) {
        // A WebSocket is of the site whose page opened it.
        switch url.scheme?.asciiLowercased {
        case "ws": scheme = "http"
        case "wss": scheme = "https"
        case let other: scheme = other ?? ""
        }
        domain = CookieHost.host(of: url).map { PublicSuffixes.site(of: $0) } ?? ""
    }

    /// Whether both have the same domain, over TLS or not.
    func hasSameDomain(as other: CookieSite) -> Bool { domain == other.domain }
}

extension URL {
    /// Whether what is exchanged with the URL's server is kept from others on the way, so that `Secure` cookies may be.
    var isSecureForCookies: Bool {
        scheme?.equalsIgnoringASCIICase("https") == true || scheme?.equalsIgnoringASCIICase("wss") == true
    }
}
