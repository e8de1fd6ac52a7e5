import Foundation
import LoadingKitCore

/// Reads `connectionProxyDictionary`, by Apple's keys.
enum ProxyDictionary {
    private struct Keys {
        let enable, host, port, user, password: String

        init(_ enable: String, _ host: String, _ port: String, user: String, password: String) {
            (self.enable, self.host, self.port, self.user, self.password) = (enable, host, port, user, password)
        }

        static func of(_ scheme: ProxyTarget.Scheme) -> Keys {
            let (user, password) = (kCFProxyUsernameKey, kCFProxyPasswordKey)
            return switch scheme {
            case .http:
                Keys(
                    kCFNetworkProxiesHTTPEnable, kCFNetworkProxiesHTTPProxy, kCFNetworkProxiesHTTPPort, user: user,
                    password: password)
            case .https:
                Keys(
                    kCFNetworkProxiesHTTPSEnable, kCFNetworkProxiesHTTPSProxy, kCFNetworkProxiesHTTPSPort, user: user,
                    password: password)
            case .ftp:
                Keys(
                    kCFNetworkProxiesFTPEnable, kCFNetworkProxiesFTPProxy, kCFNetworkProxiesFTPPort, user: user,
                    password: password)
            }
        }

        static let socks = Keys(
            kCFNetworkProxiesSOCKSEnable, kCFNetworkProxiesSOCKSProxy, kCFNetworkProxiesSOCKSPort,
            user: kCFStreamPropertySOCKSUser, password: kCFStreamPropertySOCKSPassword)
    }

    /// A SOCKS proxy is for the schemes that have no other proxy.
    static func proxies(_ dictionary: [AnyHashable: Any]) -> [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] {
        let version = dictionary[kCFStreamPropertySOCKSVersion] as? String
        let socks = proxy(dictionary, .socks, version == kCFStreamSocketSOCKSVersion4 ? .socks4 : .socks5, 1080)
        var proxies: [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] = [:]
        for scheme in ProxyTarget.Scheme.allCases {
            proxies[scheme] = proxy(dictionary, Keys.of(scheme), .http, 80) ?? socks
        }
        return proxies
    }

    static func exceptions(_ dictionary: [AnyHashable: Any]) -> ProxyExceptions {
        var exceptions = ProxyExceptions(dictionary[kCFNetworkProxiesExceptionsList] as? [String] ?? [])
        exceptions.includesSimpleNames = isOn(dictionary[kCFNetworkProxiesExcludeSimpleHostnames])
        return exceptions
    }

    /// What finds the proxies of all hosts but the exceptions; why it cannot be used, where the dictionary names none that can.
    /// Nil where the dictionary wants none.
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

    /// Nil where there is to be none. What is enabled and not named as it should be is a failure, never no proxy.
    private static func proxy(
        _ dictionary: [AnyHashable: Any], _ keys: Keys, _ kind: Proxy.Kind, _ standard: Int
    ) -> Result<Proxy, LoadFailure>? {
        guard isOn(dictionary[keys.enable]) else { return nil }
        let host = (dictionary[keys.host] as? URL)?.absoluteString ?? dictionary[keys.host] as? String ?? ""
        let place = "connectionProxyDictionary's \(keys.host)"
        // Beyond Apple's: the form of the environment's variables, for example for a proxy over TLS.
        if host.contains("://") { return .proxy(ProxyChoice(host, usualPort: 1080), named: place) }
        let number = dictionary[keys.port].map { Int(proxySetting: $0) } ?? standard
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
