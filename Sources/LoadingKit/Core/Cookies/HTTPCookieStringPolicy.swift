/// Which requests of other sites a cookie goes with (RFC 6265bis §5.6.7).
///
/// Follows Apple's `HTTPCookieStringPolicy`.
public struct HTTPCookieStringPolicy: RawRepresentable, Equatable, Hashable, Sendable {
    /// The policy's text.
    public private(set) var rawValue: String

    /// Makes a policy from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `SameSite=Lax`: of other sites' requests, only those that lead the user to this one.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")

    /// `SameSite=Strict`: no request of another site.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}
