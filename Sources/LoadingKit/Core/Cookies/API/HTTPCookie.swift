import Foundation
import LoadingKitPrimitives

/// A cookie: a name and a value that the client sends back to a server, and the rules that select its requests.
///
/// Follows Apple's `HTTPCookie`, with the rules of RFC 6265bis. Instances are immutable.
open class HTTPCookie: NSObject, @unchecked Sendable {  // only `let`s
    package let record: CookieRecord

    package init(_ record: CookieRecord) { self.record = record }

    /// Makes a cookie from its properties.
    ///
    /// Nil when the name, the value, the path or the domain is missing; ``HTTPCookiePropertyKey/originURL`` can replace
    /// the domain. Nil also when one of them has a character that would end it in a field: a control character, a
    /// semicolon, or an equals sign in the name. ``HTTPCookiePropertyKey`` documents the values.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let record = CookieRecord(properties: CookieProperties(properties), now: Date()) else { return nil }
        self.record = record
    }

    /// The properties. ``init(properties:)`` makes the same cookie from them.
    open var properties: [HTTPCookiePropertyKey: Any]? { record.properties }

    /// The version: 0, or 1 for a cookie of RFC 2965.
    open var version: Int { record.legacy?.version ?? 0 }

    /// The name.
    open var name: String { record.name }

    /// The value, as the server sent it, including quotes around it.
    open var value: String { record.value }

    /// The time at which the cookie expires; nil when it expires with the session.
    open var expiresDate: Date? { record.expires }

    /// Whether the cookie expires with the session. Such cookies are not stored on disk.
    open var isSessionOnly: Bool { record.isSessionOnly }

    /// The host of the cookie; with a leading dot when the cookie is also for the host's subdomains.
    open var domain: String { record.domainProperty }

    /// The path of the cookie, which includes all paths below it.
    open var path: String { record.identity.path }

    /// Whether the cookie is sent over TLS only.
    open var isSecure: Bool { record.isSecure }

    /// Whether the cookie may not be shown to scripts.
    open var isHTTPOnly: Bool { record.isHTTPOnly }

    /// A text that describes the cookie's purpose, or nil. Only programs set it: RFC 6265 has no such attribute.
    open var comment: String? { record.legacy?.comment }

    /// A page that describes the cookie's purpose, or nil. Only programs set it.
    open var commentURL: URL? { record.legacy?.commentURL }

    /// The ports of the cookie; nil for all ports. Only programs set it.
    open var portList: [NSNumber]? { record.legacy?.ports.map { $0.map { NSNumber(value: $0) } } }

    /// The cross-site requests with which the cookie is sent; nil when the server sent no `SameSite`, and for
    /// `SameSite=None`.
    open var sameSitePolicy: HTTPCookieStringPolicy? {
        switch record.sameSite {
        case .lax: .sameSiteLax
        case .strict: .sameSiteStrict
        case .unspecified, .none: nil
        }
    }

    // MARK: Fields

    /// The request's cookie field: `Cookie` with its value (RFC 6265bis §5.8.3). Empty for no cookies.
    ///
    /// It has all the cookies, in the given order. `HTTPCookieStorage.cookies(for:)` returns the cookies of a request
    /// in the correct order.
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        cookies.isEmpty ? [:] : ["Cookie": cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")]
    }

    /// The cookies that a response sets, in order (RFC 6265bis §5.6).
    ///
    /// Fields that are not cookies are ignored, and so are cookies that do not meet the requirements of a `__Secure-`
    /// or `__Host-` name, and cookies without a path where the URL's has more than 1,024 bytes. This method does not
    /// check whether the server may set a cookie: ``HTTPCookieStorage`` does.
    ///
    /// - Parameters:
    ///   - headerFields: The response's fields. In a dictionary, several `Set-Cookie` fields are one, joined by commas.
    ///   - URL: The request's URL. Cookies without a domain or a path get their defaults from it.
    open class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        let joined = headerFields.filter { $0.key.equalsIgnoringASCIICase("Set-Cookie") }.sorted { $0.key < $1.key }
        let lines = joined.flatMap { SetCookieList.lines($0.value) }.compactMap { SetCookieLine(utf8: $0) }
        let (path, now) = (CookiePath.defaultPath(for: URL), Date())
        return lines.compactMap { CookieRecord($0, from: URL, defaultPath: path, now: now) }.map { HTTPCookie($0) }
    }

    // MARK: Comparison

    /// Whether all properties of the cookies are the same. The times of creation do not count.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? HTTPCookie else { return false }
        return self === other || record.hasSameContent(as: other.record)
    }

    /// Agrees with ``isEqual(_:)``.
    open override var hash: Int { record.identity.hashValue }

    /// Name, value, dates, domain, path and whether the cookie is secure.
    open override var description: String {
        "<\(type(of: self)) version:\(version) name:\"\(name)\" value:\"\(value)\" "
            + "expiresDate:\(expiresDate.map { $0.description } ?? "(null)") created:\(record.creation) "
            + "sessionOnly:\(isSessionOnly ? "TRUE" : "FALSE") domain:\"\(domain)\" "
            + "sameSite:\"\(record.sameSite)\" path:\"\(path)\" isSecure:\(isSecure ? "TRUE" : "FALSE")>"
    }
}

extension HTTPCookie {
    /// The policy by which a storage accepts cookies from servers.
    public enum AcceptPolicy: UInt, Sendable {
        /// All cookies.
        case always
        /// No cookies.
        case never
        /// Cookies of the site of the request's main document; all cookies where a request has no main document.
        case onlyFromMainDocumentDomain
    }
}

extension HTTPCookie {
    /// The cookies that received fields set, in order. Each `Set-Cookie` field is parsed separately.
    ///
    /// - Parameter refuse: called for a field that sets no cookie.
    package static func cookies(
        in fields: HTTPFields, for url: URL, now: Date, refuse: (CookieRefusal) -> Void = { _ in }
    ) -> [HTTPCookie] {
        let path = CookiePath.defaultPath(for: url)
        var records: [CookieRecord] = []
        fields.forEachValue(of: .setCookie) { value in
            guard let line = SetCookieLine(FieldText.string(value)), line.path != nil || path != nil else {
                return refuse(.invalid)
            }
            guard let record = CookieRecord(line, from: url, defaultPath: path, now: now) else {
                return refuse(.prefix)
            }
            records.append(record)
        }
        return records.map { HTTPCookie($0) }
    }
}
