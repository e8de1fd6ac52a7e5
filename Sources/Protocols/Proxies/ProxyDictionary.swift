import Foundation
import LoadingKitCore

/// Reads `connectionProxyDictionary` by Apple's keys.
enum ProxyDictionary {
    private struct Keys {
        let enable, host, port, user, password: String

        init(
            _ enable: String, _ host: String, _ port: String, user: String = kCFProxyUsernameKey,
            password: String = kCFProxyPasswordKey
        ) {
            (self.enable, self.host, self.port, self.user, self.password) = (enable, host, port, user, password)
        }

        static func of(_ scheme: ProxyTarget.Scheme) -> Keys {
            switch scheme {
            case .http: Keys(kCFNetworkProxiesHTTPEnable, kCFNetworkProxiesHTTPProxy, kCFNetworkProxiesHTTPPort)
            case .https: Keys(kCFNetworkProxiesHTTPSEnable, kCFNetworkProxiesHTTPSProxy, kCFNetworkProxiesHTTPSPort)
            case .ftp: Keys(kCFNetworkProxiesFTPEnable, kCFNetworkProxiesFTPProxy, kCFNetworkProxiesFTPPort)
            }
        }

        static let socks = Keys(
            kCFNetworkProxiesSOCKSEnable, kCFNetworkProxiesSOCKSProxy, kCFNetworkProxiesSOCKSPort,
            user: kCFStreamPropertySOCKSUser, password: kCFStreamPropertySOCKSPassword)
    }

    /// The proxies by scheme. A SOCKS proxy is used for the schemes without another proxy.
    static func proxies(_ dictionary: [AnyHashable: Any]) -> [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] {
        let version = dictionary[kCFStreamPropertySOCKSVersion] as? String
        let socks = proxy(dictionary, .socks, version == kCFStreamSocketSOCKSVersion4 ? .socks4 : .socks5)
        var proxies: [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] = [:]
        for scheme in ProxyTarget.Scheme.allCases {
            proxies[scheme] = proxy(dictionary, Keys.of(scheme), .http) ?? socks
        }
        return proxies
    }

    static func exceptions(_ dictionary: [AnyHashable: Any]) -> ProxyExceptions {
        var exceptions = ProxyExceptions(dictionary[kCFNetworkProxiesExceptionsList] as? [String] ?? [])
        exceptions.includesSimpleNames = isOn(dictionary[kCFNetworkProxiesExcludeSimpleHostnames])
        return exceptions
    }

    /// The script that finds the proxies of all hosts except the exceptions, or the reason why the dictionary's script
    /// cannot be used. Nil if the dictionary enables no script.
    static func script(_ dictionary: [AnyHashable: Any]) -> Result<ProxyScript, LoadFailure>? {
        guard isOn(dictionary[kCFNetworkProxiesProxyAutoConfigEnable]) else { return nil }
        if let text = dictionary[kCFNetworkProxiesProxyAutoConfigJavaScript] as? String {
            return .success(.javaScript(text))
        }
        let value = dictionary[kCFNetworkProxiesProxyAutoConfigURLString]
        if let url = value as? URL ?? (value as? String).flatMap({ URL(string: $0) }), url.scheme != nil {
            return .success(.url(url))
        }
        return .failure(
            LoadFailure(
                .cannotConnectToHost,
                "connectionProxyDictionary says that a script finds the proxies, and names none: give its URL "
                    + "(kCFNetworkProxiesProxyAutoConfigURLString) or its text "
                    + "(kCFNetworkProxiesProxyAutoConfigJavaScript) as a string"))
    }

    /// The proxy of the given keys; nil if it is not enabled. A proxy that is enabled but not validly named is a
    /// failure, and never means a direct connection.
    private static func proxy(
        _ dictionary: [AnyHashable: Any], _ keys: Keys, _ kind: Proxy.Kind
    ) -> Result<Proxy, LoadFailure>? {
        guard isOn(dictionary[keys.enable]) else { return nil }
        let host = (dictionary[keys.host] as? URL)?.absoluteString ?? dictionary[keys.host] as? String ?? ""
        let place = "connectionProxyDictionary's \(keys.host)"
        // An extension of Apple's keys: the form of the environment's variables, for example for a proxy over TLS.
        if host.contains("://") { return .proxy(ProxyChoice(host, usualPort: 1080), named: place) }
        let number = dictionary[keys.port].map { Int(proxySetting: $0) } ?? Int(kind.usualPort)
        guard let port = number.flatMap({ UInt16(exactly: $0) }), port > 0 else {
            return .proxy(nil, named: "connectionProxyDictionary's \(keys.port)")
        }
        guard !host.isEmpty else { return .proxy(nil, named: place) }
        let (user, password) = (dictionary[keys.user] as? String, dictionary[keys.password] as? String)
        return .proxy(
            ProxyChoice(kind, host: host, port: port, user: user, password: user.map { _ in password ?? "" }),
            named: place)
    }

    private static func isOn(_ value: Any?) -> Bool { Int(proxySetting: value) ?? 0 != 0 }
}
