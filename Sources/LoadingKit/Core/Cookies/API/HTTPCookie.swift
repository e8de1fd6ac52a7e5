import Foundation
import LoadingKitPrimitives

/// A cookie: a name and a value that the client sends back to a server, and the rules for which requests it goes with.
///
/// Follows Apple's `HTTPCookie`, with the rules of RFC 6265bis. Instances do not change after they are made.
open class HTTPCookie: NSObject, @unchecked Sendable {  // only `let`s
    package let record: CookieRecord

    package init(_ record: CookieRecord) { self.record = record }

    /// Makes a cookie from its properties.
    ///
    /// Nil when the name, the value, the path or the domain is missing; ``HTTPCookiePropertyKey/originURL`` can stand
    /// in for the domain. Nil also when one of them has a character that would end it in a field: a control character,
    /// a semicolon, or an equals sign in the name. ``HTTPCookiePropertyKey`` documents the values.
    public init?(properties: [HTTPCookiePropertyKey: Any]) {
        guard let record = CookieRecord(properties: CookieProperties(properties), now: Date()) else { return nil }
        self.record = record
    }

    /// The properties, from which ``init(properties:)`` makes the same cookie again.
    open var properties: [HTTPCookiePropertyKey: Any]? { record.properties }

    /// The version: 0, or 1 for a cookie of RFC 2965.
    open var version: Int { record.legacy?.version ?? 0 }

    /// The name.
    open var name: String { record.name }

    /// The value, as the server sent it. Quotes around it are part of it.
    open var value: String { record.value }

    /// When the cookie ends; nil when it ends with the session.
    open var expiresDate: Date? { record.expires }

    /// Whether the cookie ends with the session. Such cookies are not kept on disk.
    open var isSessionOnly: Bool { record.isSessionOnly }

    /// The host that the cookie is for; with a dot before it when it is for the host's subdomains too.
    open var domain: String { record.domainProperty }

    /// The path that the cookie is for, with all that is below it.
    open var path: String { record.identity.path }

    /// Whether the cookie is sent over TLS alone.
    open var isSecure: Bool { record.isSecure }

    /// Whether the cookie may not be shown to scripts.
    open var isHTTPOnly: Bool { record.isHTTPOnly }

    /// A text that says what the cookie is for, or nil. Only programs set it: RFC 6265 has no such attribute.
    open var comment: String? { record.legacy?.comment }

    /// A page that says what the cookie is for, or nil. Only programs set it.
    open var commentURL: URL? { record.legacy?.commentURL }

    /// The ports that the cookie is for; nil for all. Only programs set it.
    open var portList: [NSNumber]? { record.legacy?.ports.map { $0.map { NSNumber(value: $0) } } }

    /// Which requests of other sites the cookie goes with; nil when the server did not say, and for `SameSite=None`.
    open var sameSitePolicy: HTTPCookieStringPolicy? {
        switch record.sameSite {
        case .lax: .sameSiteLax
        case .strict: .sameSiteStrict
        case .unspecified, .none: nil
        }
    }

    // MARK: Fields

    /// The field that sends cookies: `Cookie` with its value (RFC 6265bis §5.8.3). Empty for no cookies.
    ///
    /// It has all the cookies, in the given order. ``HTTPCookieStorage/cookies(for:)`` gives those that go with a
    /// request, in the right order.
    open class func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
        cookies.isEmpty ? [:] : ["Cookie": cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")]
    }

    /// The cookies that a response sets, in order (RFC 6265bis §5.6).
    ///
    /// Fields that are no cookies are left out, and so are cookies that are not what a `__Secure-` or `__Host-` name
    /// requires. Whether the server may set a cookie is not checked here: ``HTTPCookieStorage`` does that.
    ///
    /// - Parameters:
    ///   - headerFields: Those of the response. Several `Set-Cookie` fields are one, joined by commas, in a dictionary.
    ///   - URL: The request's URL. It gives domain and path to cookies that have none of their own.
    open class func cookies(withResponseHeaderFields headerFields: [String: String], for URL: URL) -> [HTTPCookie] {
        let joined = headerFields.filter { $0.key.equalsIgnoringASCIICase("Set-Cookie") }.sorted { $0.key < $1.key }
        let lines = joined.flatMap { SetCookieList.lines($0.value) }.compactMap { SetCookieLine(utf8: $0) }
        let now = Date()
        return lines.compactMap { CookieRecord($0, from: URL, now: now) }.map { HTTPCookie($0) }
    }

    // MARK: Comparison

    /// Whether all properties of the cookies are the same. The times at which they were made do not count.
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
    /// Which cookies a storage accepts from servers.
    public enum AcceptPolicy: UInt, Sendable {
        /// All.
        case always
        /// None.
        case never
        /// Those of the site that the request's main document is from; all where a request has no main document.
        case onlyFromMainDocumentDomain
    }
}

extension HTTPCookie {
    /// The cookies that received fields set, in order. Each `Set-Cookie` field is read by itself.
    package static func cookies(in fields: HTTPFields, for url: URL, now: Date) -> [HTTPCookie] {
        var records: [CookieRecord] = []
        fields.forEachValue(of: .setCookie) { value in
            guard let line = SetCookieLine(FieldText.string(value)) else { return }
            if let record = CookieRecord(line, from: url, now: now) { records.append(record) }
        }
        return records.map { HTTPCookie($0) }
    }
}
