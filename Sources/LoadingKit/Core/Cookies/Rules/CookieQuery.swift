import Foundation

/// What a request's cookies must match (RFC 6265bis §5.8.3).
struct CookieQuery {
    /// The site under which a jar keeps the cookies that may match.
    let site: String
    private let host: String
    private let path: String
    private let port: Int
    private let context: CookieContext

    /// Nil for a URL without a host, which no cookie matches.
    init?(_ context: CookieContext) {
        guard let host = CookieHost.host(of: context.url) else { return nil }
        self.host = host
        self.context = context
        site = PublicSuffixes.site(of: host)
        path = CookiePath.path(of: context.url)
        port = context.url.port ?? (context.url.isSecureForCookies ? 443 : 80)
    }

    func matches(_ cookie: CookieRecord, at now: Date) -> Bool {
        let identity = cookie.identity
        let isForHost =
            identity.isHostOnly ? identity.domain == host : CookieHost.matches(host, domain: identity.domain)
        return isForHost && CookiePath.matches(path, cookie: identity.path)
            && (!cookie.isSecure || context.url.isSecureForCookies) && !cookie.isExpired(at: now)
            && cookie.legacy?.ports?.contains(port) != false && context.sends(cookie.sameSite)
    }
}
