import Foundation
import LoadingKitCore

/// Which proxy a connection to an origin goes through.
struct ProxyRules: Sendable {
    private var http: Proxy?
    private var https: Proxy?
    private var exceptions = ProxyExceptions([])

    /// What a configuration says; where it says nothing, the environment. An empty dictionary says: none.
    /// The environment is asked only then, as that copies all of it.
    init(_ dictionary: [AnyHashable: Any]?, environment: @autoclosure () -> [String: String]) {
        if let dictionary { self.init(dictionary) } else { self.init(environment: environment()) }
    }

    /// Whether there is none.
    var isEmpty: Bool { http == nil && https == nil }

    /// Nil: the origin is reached directly.
    func proxy(for origin: Origin) -> Proxy? {
        guard let proxy = origin.isSecure ? https : http, !exceptions.contains(origin.host) else { return nil }
        return proxy
    }

    // MARK: The environment

    /// The variables that curl reads: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, in small letters before capitals.
    private init(environment: [String: String]) {
        func value(_ name: String) -> String? {
            let value = environment[name] ?? environment[name.uppercased()]
            return value.flatMap { $0.isEmpty ? nil : $0 }
        }
        // A web server hands a request's `Proxy` field to its programs as `HTTP_PROXY`: whoever sends it must not choose.
        let isServed = environment["REQUEST_METHOD"] != nil
        let http = isServed ? environment["http_proxy"] : value("http_proxy")
        let all = value("all_proxy")
        self.http = (http ?? all).flatMap(Proxy.init)
        https = (value("https_proxy") ?? all).flatMap(Proxy.init)
        exceptions = ProxyExceptions(list: value("no_proxy") ?? "")
    }

    // MARK: The dictionary

    private struct Keys {
        let enable, host, port, user, password: String

        static let http = Keys(
            enable: kCFNetworkProxiesHTTPEnable, host: kCFNetworkProxiesHTTPProxy, port: kCFNetworkProxiesHTTPPort,
            user: kCFProxyUsernameKey, password: kCFProxyPasswordKey)
        static let https = Keys(
            enable: kCFNetworkProxiesHTTPSEnable, host: kCFNetworkProxiesHTTPSProxy,
            port: kCFNetworkProxiesHTTPSPort, user: kCFProxyUsernameKey, password: kCFProxyPasswordKey)
        static let socks = Keys(
            enable: kCFNetworkProxiesSOCKSEnable, host: kCFNetworkProxiesSOCKSProxy,
            port: kCFNetworkProxiesSOCKSPort, user: kCFStreamPropertySOCKSUser,
            password: kCFStreamPropertySOCKSPassword)
    }

    /// Apple's keys. A SOCKS proxy is for what has no proxy of its own.
    private init(_ dictionary: [AnyHashable: Any]) {
        let version = dictionary[kCFStreamPropertySOCKSVersion] as? String
        let socks = Self.proxy(dictionary, .socks, version == kCFStreamSocketSOCKSVersion4 ? .socks4 : .socks5, 1080)
        http = Self.proxy(dictionary, .http, .http, 80) ?? socks
        https = Self.proxy(dictionary, .https, .http, 80) ?? socks
        exceptions = ProxyExceptions(dictionary[kCFNetworkProxiesExceptionsList] as? [String] ?? [])
        exceptions.includesSimpleNames = Self.number(dictionary[kCFNetworkProxiesExcludeSimpleHostnames]) ?? 0 != 0
    }

    private static func proxy(
        _ dictionary: [AnyHashable: Any], _ keys: Keys, _ kind: Proxy.Kind, _ standard: Int
    ) -> Proxy? {
        guard number(dictionary[keys.enable]) ?? 0 != 0, let host = dictionary[keys.host] as? String, !host.isEmpty
        else { return nil }
        // Beyond Apple's: what the environment's variables may say, such as a proxy that is spoken to over TLS.
        if host.contains("://") { return Proxy(host) }
        guard let port = UInt16(exactly: number(dictionary[keys.port]) ?? standard), port > 0
        else { return nil }
        let credential = (dictionary[keys.user] as? String).map { user in
            Proxy.Credential(user: user, password: dictionary[keys.password] as? String ?? "")
        }
        return Proxy(kind: kind, host: host.lowercased(), port: port, credential: credential)
    }

    /// Numbers and truth values come as Swift's or as Foundation's.
    private static func number(_ value: Any?) -> Int? {
        switch value {
        case let value as Bool: value ? 1 : 0
        case let value as Int: value
        case let value as NSNumber: value.intValue
        case let value as String: Int(value)
        case _: nil
        }
    }
}
