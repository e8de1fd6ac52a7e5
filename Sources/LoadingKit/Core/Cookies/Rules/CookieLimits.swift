/// How much a storage holds. It is more than servers need (RFC 6265bis §6.1), but one site alone cannot fill the
/// storage.
package struct CookieLimits: Hashable, Sendable {
    /// Octets of a cookie's name and value together.
    package var cookieBytes = 4096
    /// Cookies of a site: a registrable domain with all its subdomains.
    package var siteCount = 180
    /// Cookies in all.
    package var totalCount = 3000

    package init() {}
}
