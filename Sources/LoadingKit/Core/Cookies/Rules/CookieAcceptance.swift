import Foundation

/// Whether a cookie may be stored (RFC 6265bis §5.7).
struct CookieAcceptance {
    /// The longest lifetime of a cookie (§5.5): 400 days.
    private static let longestLife: TimeInterval = 400 * 86_400

    let limits: CookieLimits

    /// The cookie as it is stored when a program sets it; nil when it must not be stored.
    func accepted(_ cookie: CookieRecord) -> CookieRecord? {
        guard hasValidSize(cookie), cookie.isValidForNamePrefix else { return nil }
        var cookie = cookie
        let domain = cookie.identity.domain
        if !cookie.identity.isHostOnly, PublicSuffixes.registrableDomain(of: domain) == nil {
            // Subdomains of a public suffix, such as `.co.uk`, belong to others. `.localhost` and addresses have no
            // subdomains.
            guard !PublicSuffixes.isListed(domain) else { return nil }
            cookie.identity.isHostOnly = true
        }
        return cookie
    }

    /// The cookie as it is stored when a server sets it.
    ///
    /// - Throws: the reason why that server must not set it.
    func accepted(
        _ cookie: CookieRecord, from context: CookieContext, at now: Date, in jar: CookieJar
    ) throws(CookieRefusal) -> CookieRecord {
        guard let host = CookieHost.host(of: context.url), hasValidSize(cookie) else { throw .invalid }
        var cookie = try cookie.shared(by: host)
        guard cookie.isValidForNamePrefix else { throw .prefix }
        if !context.url.isSecureForCookies {
            guard !cookie.isSecure, !jar.hasSecureCookie(hiddenBy: cookie, at: now) else { throw .insecure }
        }
        guard context.accepts(cookie.sameSite), cookie.sameSite != .none || cookie.isSecure else { throw .sameSite }
        cookie.expires = cookie.expires.map { min($0, now.addingTimeInterval(Self.longestLife)) }
        return cookie
    }

    private func hasValidSize(_ cookie: CookieRecord) -> Bool {
        cookie.size <= limits.cookieBytes && cookie.identity.path.utf8.count <= SetCookieLine.longestAttribute
    }
}

extension CookieRecord {
    /// The cookie with a domain for which a server at `host` may set cookies.
    fileprivate func shared(by host: String) throws(CookieRefusal) -> CookieRecord {
        let domain = identity.domain
        if identity.isHostOnly {
            guard domain == host else { throw .otherDomain }
            return self
        }
        guard CookieHost.matches(host, domain: domain) else { throw .otherDomain }
        if let registrable = PublicSuffixes.registrableDomain(of: host) {
            guard CookieHost.matches(domain, domain: registrable) else { throw .publicSuffix }
            return self
        }
        // A public suffix, a name of one label, or an address: its cookies are for this host only.
        guard domain == host else { throw .publicSuffix }
        var cookie = self
        cookie.identity.isHostOnly = true
        return cookie
    }
}

/// The limits of a storage. They are larger than servers need (RFC 6265bis §6.1), but a single site cannot fill the
/// storage.
package struct CookieLimits: Hashable, Sendable {
    package var cookieBytes = 4096
    /// Cookies of a site: a registrable domain with all its subdomains.
    package var siteCount = 180
    package var totalCount = 3000

    package init() {}
}
