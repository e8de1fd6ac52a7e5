import Foundation
import LoadingKitPrimitives

/// The facts about a request for `SameSite` and the accept policies: the site of the page for which the request is
/// made, and whether it loads a page (RFC 6265bis §5.2).
///
/// The page is the request's `mainDocumentURL`, the "site for cookies", as on Apple's systems. Where it is nil, the
/// program makes the request for itself, which counts as a same-site request. With a URL of another site the request is
/// a cross-site request. `SameSite=Lax` cookies are sent with a cross-site request only if it loads a page for the user
/// by a safe method (RFC 9110 §9.2.1). A program that loads such a page sets `isTopLevelNavigation`.
package struct CookieContext: Sendable {
    package let url: URL
    package let mainDocumentURL: URL?
    package let isTopLevelNavigation: Bool
    let isSafeMethod: Bool
    let isSameSite: Bool

    package init(url: URL, mainDocumentURL: URL? = nil, method: String = "GET", isTopLevelNavigation: Bool = false) {
        self.url = url
        self.mainDocumentURL = mainDocumentURL
        self.isTopLevelNavigation = isTopLevelNavigation
        isSafeMethod = RequestMethod.isSafe(method)
        isSameSite = mainDocumentURL.map { CookieSite($0) == CookieSite(url) } ?? true
    }

    /// The context of a request for its current URL; after a redirect, for the new URL. Nil without a URL.
    package init?(_ request: URLRequest, isTopLevelNavigation: Bool = false) {
        guard let url = request.url else { return nil }
        self.init(
            url: url, mainDocumentURL: request.mainDocumentURL, method: request.httpMethod ?? "GET",
            isTopLevelNavigation: isTopLevelNavigation)
    }

    /// Whether a cookie with this policy is sent with the request (§5.8.3).
    func sends(_ policy: CookieRecord.SameSite) -> Bool {
        switch policy {
        case .none: true
        case .strict: isSameSite
        case .lax, .unspecified: isSameSite || isTopLevelNavigation && isSafeMethod
        }
    }

    /// Whether the response may set a cookie with this policy (§5.7, steps on the same-site-flag).
    func accepts(_ policy: CookieRecord.SameSite) -> Bool {
        policy == .none || isSameSite || isTopLevelNavigation
    }

    func isAccepted(by policy: HTTPCookie.AcceptPolicy) -> Bool {
        switch policy {
        case .always: true
        case .never: false
        case .onlyFromMainDocumentDomain:
            mainDocumentURL.map { CookieSite($0).hasSameDomain(as: CookieSite(url)) } ?? true
        }
    }
}

/// The properties of a request that its cookies must match (RFC 6265bis §5.8.3).
struct CookieQuery {
    /// The site under which a jar has the cookies that may match.
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
