import Foundation

/// A key of the dictionary from which a cookie is made, and of ``HTTPCookie/properties``.
///
/// Follows Apple's `HTTPCookiePropertyKey`.
public struct HTTPCookiePropertyKey: RawRepresentable, Equatable, Hashable, Sendable {
    /// The key's text.
    public private(set) var rawValue: String

    /// Makes a key from its text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Makes a key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension HTTPCookiePropertyKey {
    /// The name: a string. Required.
    public static let name = HTTPCookiePropertyKey(rawValue: "Name")

    /// The value: a string. Required.
    public static let value = HTTPCookiePropertyKey(rawValue: "Value")

    /// The URL that set the cookie, a `URL` or a string: its host is the domain where ``domain`` is missing.
    public static let originURL = HTTPCookiePropertyKey(rawValue: "OriginURL")

    /// The version, `"0"` or `"1"`. Default 0.
    public static let version = HTTPCookiePropertyKey(rawValue: "Version")

    /// The host of the cookie, a string; with a leading dot, its subdomains too. Required without ``originURL``.
    public static let domain = HTTPCookiePropertyKey(rawValue: "Domain")

    /// The path of the cookie, a string. Required.
    public static let path = HTTPCookiePropertyKey(rawValue: "Path")

    /// Whether the cookie is sent over TLS only: a string or a `Bool`. `"FALSE"`, `"NO"`, `"0"` and `""` are false,
    /// every other string is true. Default false.
    public static let secure = HTTPCookiePropertyKey(rawValue: "Secure")

    /// The time at which the cookie expires: a `Date`, or a string as in a `Set-Cookie` field (RFC 6265bis §5.1.1). A
    /// date that is infinitely late or not a number is ignored.
    public static let expires = HTTPCookiePropertyKey(rawValue: "Expires")

    /// A text that describes the cookie's purpose: a string.
    public static let comment = HTTPCookiePropertyKey(rawValue: "Comment")

    /// A page that describes the cookie's purpose: a `URL` or a string.
    public static let commentURL = HTTPCookiePropertyKey(rawValue: "CommentURL")

    /// Whether the cookie expires with the session: a string or a `Bool`. Default: true for a cookie without an expiry
    /// time.
    public static let discard = HTTPCookiePropertyKey(rawValue: "Discard")

    /// Seconds from now after which a cookie of ``version`` 1 expires: a string of digits, or a number. It takes
    /// precedence over ``expires``. As Apple documents it, it is ignored in a cookie of version 0.
    public static let maximumAge = HTTPCookiePropertyKey(rawValue: "Max-Age")

    /// The ports of the cookie: a string of numbers with commas between them.
    public static let port = HTTPCookiePropertyKey(rawValue: "Port")

    /// The cross-site requests with which the cookie is sent: an ``HTTPCookieStringPolicy`` or its text.
    public static let sameSitePolicy = HTTPCookiePropertyKey(rawValue: "SameSite")

    /// Whether a script has set the cookie, which then cannot be `HttpOnly`. It has no effect: LoadingKit runs no
    /// scripts.
    public static let setByJavaScript = HTTPCookiePropertyKey(rawValue: "SetInJavaScript")

    /// Whether scripts may not read the cookie. Apple's systems have this key too, without a public name.
    static let httpOnly = HTTPCookiePropertyKey(rawValue: "HttpOnly")

    /// The time of the cookie's creation, in seconds since 2001. Apple's systems have this key too, without a public
    /// name.
    static let created = HTTPCookiePropertyKey(rawValue: "Created")
}

/// The cross-site requests with which a cookie is sent (RFC 6265bis §5.6.7).
///
/// Follows Apple's `HTTPCookieStringPolicy`.
public struct HTTPCookieStringPolicy: RawRepresentable, Equatable, Hashable, Sendable {
    /// The policy's text.
    public private(set) var rawValue: String

    /// Makes a policy from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `SameSite=Lax`: of cross-site requests, only those that load a page for the user.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")

    /// `SameSite=Strict`: no cross-site requests.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}

/// The dictionary from which a program makes a cookie. A value may have one of several types.
struct CookieProperties {
    private let values: [HTTPCookiePropertyKey: Any]

    init(_ values: [HTTPCookiePropertyKey: Any]) { self.values = values }

    func string(_ key: HTTPCookiePropertyKey) -> String? {
        switch values[key] {
        case let text as String: text
        case let text as Substring: String(text)
        case let number as NSNumber: number.stringValue
        case let policy as HTTPCookieStringPolicy: policy.rawValue
        default: nil
        }
    }

    /// Whether the cookie is an RFC 2965 cookie.
    var isVersion1: Bool { string(.version) == "1" }

    func flag(_ key: HTTPCookiePropertyKey) -> Bool? {
        if let flag = values[key] as? Bool { return flag }
        return string(key).map { !["", "0", "false", "no"].contains($0.asciiLowercased) }
    }

    func url(_ key: HTTPCookiePropertyKey) -> URL? {
        values[key] as? URL ?? string(key).flatMap { URL(string: $0) }
    }

    /// A date; nil where it is infinitely late or not a number.
    func date(_ key: HTTPCookiePropertyKey) -> Date? {
        let date = values[key] as? Date ?? string(key).flatMap { CookieDate.date($0) }
        return date.flatMap { $0.timeIntervalSinceReferenceDate < .infinity ? $0 : nil }
    }

    /// A time, given in seconds since 2001.
    func moment(_ key: HTTPCookiePropertyKey) -> Date? {
        guard let seconds = string(key).flatMap({ Double($0) }), seconds.isFinite else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    func ports(_ key: HTTPCookiePropertyKey) -> [Int]? {
        if let numbers = values[key] as? [NSNumber] { return numbers.map(\.intValue) }
        return string(key).map { text in text.split(separator: ",").compactMap { Int($0.trimmingHTTPWhitespace) } }
    }
}
