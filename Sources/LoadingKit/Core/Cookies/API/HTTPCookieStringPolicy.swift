/// Which requests of other sites a cookie goes with (RFC 6265bis §5.6.7).
///
/// Follows Apple's `HTTPCookieStringPolicy`.
public struct HTTPCookieStringPolicy: RawRepresentable, Equatable, Hashable, Sendable {
    /// The policy's text.
    public private(set) var rawValue: String

    /// Makes a policy from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `SameSite=Lax`: of requests that other sites make, only those that load a page for the user.
    public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")

    /// `SameSite=Strict`: no request that another site makes.
    public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}
