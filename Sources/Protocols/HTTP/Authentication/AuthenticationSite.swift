import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies

/// A server or a proxy that requires credentials, and the fields that it uses for them.
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

    /// - Parameter proxyType: the type of an HTTP proxy in protection spaces, by the scheme of the requests through it.
    func space(realm: String?, method: String, proxyType: String) -> URLProtectionSpace {
        switch self {
        case .server(let origin):
            return URLProtectionSpace(
                host: origin.host, port: Int(origin.port),
                protocol: origin.isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP, realm: realm,
                authenticationMethod: method)
        case .proxy(let proxy):
            let type =
                switch proxy.kind {
                case .http, .https: proxyType
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
    /// Whether both spaces are the same realm. The caller compares spaces of the same site; a proxy's types may differ.
    func isSameRealm(as other: URLProtectionSpace) -> Bool {
        realm == other.realm && authenticationMethod == other.authenticationMethod
    }
}
