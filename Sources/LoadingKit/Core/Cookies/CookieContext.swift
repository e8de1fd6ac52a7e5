import Foundation

/// A request as `SameSite` and the accept policies see it: whose page asked for it, and what for (RFC 6265bis §5.2).
///
/// A `URLRequest` tells by its `mainDocumentURL`, the "site for cookies", as on Apple's systems: nil means that the
/// program itself asks, for itself: the request is of the same site as its URL, wherever that is. A URL of another site
/// makes it a cross-site request. `SameSite=Lax` cookies go along with a cross-site request only when it leads the user
/// to a page, by a safe method (RFC 9110 §9.2.1); who loads such a page says so with `isTopLevelNavigation`.
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
        isSafeMethod = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method)
        isSameSite = mainDocumentURL.map { CookieSite($0) == CookieSite(url) } ?? true
    }

    /// The context of a request for its current URL: after a redirect, the new one. Nil without a URL.
    package init?(_ request: URLRequest, isTopLevelNavigation: Bool = false) {
        guard let url = request.url else { return nil }
        self.init(
            url: url, mainDocumentURL: request.mainDocumentURL, method: request.httpMethod ?? "GET",
            isTopLevelNavigation: isTopLevelNavigation)
    }

    /// Whether a cookie goes with the request (§5.8.3).
    func sends(_ policy: CookieRecord.SameSite) -> Bool {
        switch policy {
        case .none: true
        case .strict: isSameSite
        case .lax, .unspecified: isSameSite || isTopLevelNavigation && isSafeMethod
        }
    }

    /// Whether the response may set a cookie (§5.7, steps on the same-site-flag).
    func accepts(_ policy: CookieRecord.SameSite) -> Bool {
        policy == .none || isSameSite || isTopLevelNavigation
    }

    /// Whether an accept policy allows the response to set cookies.
    func isAccepted(by policy: HTTPCookie.AcceptPolicy) -> Bool {
        switch policy {
        case .always: true
        case .never: false
        case .onlyFromMainDocumentDomain:
            mainDocumentURL.map { CookieSite($0).hasSameDomain(as: CookieSite(url)) } ?? true
        }
    }
}
