import LoadingKitCore
import LoadingKitPrimitives

/// Who asks for credentials, and in which fields.
enum AuthenticationSite: Hashable {
    case server(Origin)
    case proxy(Proxy)

    var isProxy: Bool {
        if case .proxy = self { true } else { false }
    }

    var host: String {
        switch self {
        case .server(let origin): origin.host
        case .proxy(let proxy): proxy.host
        }
    }

    /// - Parameter isSecure: whether what goes through a proxy is TLS: a proxy for `https` URLs is another type of proxy.
    func space(realm: String?, method: String, isSecure: Bool) -> URLProtectionSpace {
        switch self {
        case .server(let origin):
            return URLProtectionSpace(
                host: origin.host, port: Int(origin.port),
                protocol: origin.isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP, realm: realm,
                authenticationMethod: method)
        case .proxy(let proxy):
            let type =
                switch proxy.kind {
                case .http, .https: isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy
                case .socks4, .socks5: NSURLProtectionSpaceSOCKSProxy
                }
            return URLProtectionSpace(
                proxyHost: proxy.host, port: Int(proxy.port), type: type, realm: realm, authenticationMethod: method)
        }
    }

    // MARK: Fields (RFC 9110 §11.6, §11.7)

    var challengeField: KnownField { isProxy ? .proxyAuthenticate : .wwwAuthenticate }
    var credentialField: KnownField { isProxy ? .proxyAuthorization : .authorization }
    var informationField: KnownField { isProxy ? .proxyAuthenticationInfo : .authenticationInfo }
}

extension URLProtectionSpace {
    /// Whether this is the same realm at the same site as another space: proxies may differ in their type.
    func isRealm(of other: URLProtectionSpace) -> Bool {
        realm == other.realm && authenticationMethod == other.authenticationMethod
    }
}
