import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies

/// A server or a proxy that requires credentials, and the fields that it uses for them.
enum AuthenticationSite: Hashable {
    case server(Origin)
    case proxy(Proxy)

    var isProxy: Bool { if case .proxy = self { true } else { false } }

    var host: String {
        switch self {
        case .server(let origin): origin.host
        case .proxy(let proxy): proxy.host
        }
    }

    /// - Parameter proxyType: the type of an HTTP proxy, by the scheme of the requests through it.
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
    var informationField: KnownField { isProxy ? .proxyAuthenticationInfo : .authenticationInfo }
}

extension URLProtectionSpace {
    /// The caller compares spaces of the same site; a proxy's types may differ.
    func isSameRealm(as other: URLProtectionSpace) -> Bool {
        realm == other.realm && authenticationMethod == other.authenticationMethod
    }
}

/// A challenge, and the scheme that can answer it.
struct AuthenticationOffer {
    let challenge: HTTPAuthenticationChallenge
    let scheme: any HTTPAuthenticationScheme
    let space: URLProtectionSpace

    /// No user has entered it.
    func isDefault(_ credential: URLCredential) -> Bool {
        type(of: scheme).defaultCredential?.hasSameUserAndPassword(as: credential) == true
    }

    /// Whether the other offer is the same except for its nonce.
    func isLike(_ other: AuthenticationOffer) -> Bool {
        space.isSameRealm(as: other.space) && scheme.strength == other.scheme.strength
    }

    /// Whether this challenge refuses another offer's credential: one for the same realm, or one that was sent before a
    /// proxy named its realm.
    func refuses(_ other: AuthenticationOffer) -> Bool {
        space.isSameRealm(as: other.space)
            || other.space.realm == nil && space.authenticationMethod == other.space.authenticationMethod
    }
}
