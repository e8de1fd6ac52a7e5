import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Decides which proxy a connection to an origin goes through.
struct ProxyRules: Sendable {
    private var http: Proxy?
    private var https: Proxy?
    private var exceptions = ProxyExceptions([])
    /// What finds the proxies of all hosts but the exceptions; why it cannot be used, where the dictionary names none that
    /// can.
    private(set) var script: Result<ProxyScript, LoadFailure>?

    /// The rules of a configuration's dictionary; where that is nil, those of the environment. With an empty dictionary
    /// there is no proxy. The environment is read only when it is needed, as reading copies all of it.
    init(_ dictionary: [AnyHashable: Any]?, environment: @autoclosure () -> [String: String]) {
        if let dictionary { self.init(dictionary) } else { self.init(environment: environment()) }
    }

    /// Whether there is no proxy.
    var isEmpty: Bool { http == nil && https == nil && script == nil }

    /// Whether a host is reached without a proxy, whatever the proxies are.
    func isExcepted(_ origin: Origin) -> Bool { exceptions.contains(origin.host) }

    /// The proxy for an origin; nil where the origin is reached directly.
    func proxy(for origin: Origin) -> Proxy? {
        guard let proxy = origin.isSecure ? https : http, !exceptions.contains(origin.host) else { return nil }
        return proxy
    }

    // MARK: The environment

    /// The variables that curl reads: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, lowercase before uppercase.
    private init(environment: [String: String]) {
        func value(_ name: String) -> String? {
            let value = environment[name] ?? environment[name.uppercased()]
            return value.flatMap { $0.isEmpty ? nil : $0 }
        }
        // A web server passes a request's `Proxy` field to its programs as `HTTP_PROXY`: the request must not choose
        // the proxy.
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

    /// The rules by Apple's keys. A SOCKS proxy is for the schemes that have no other proxy.
    private init(_ dictionary: [AnyHashable: Any]) {
        let version = dictionary[kCFStreamPropertySOCKSVersion] as? String
        let socks = Self.proxy(dictionary, .socks, version == kCFStreamSocketSOCKSVersion4 ? .socks4 : .socks5, 1080)
        http = Self.proxy(dictionary, .http, .http, 80) ?? socks
        https = Self.proxy(dictionary, .https, .http, 80) ?? socks
        exceptions = ProxyExceptions(dictionary[kCFNetworkProxiesExceptionsList] as? [String] ?? [])
        exceptions.includesSimpleNames =
            Int(proxySetting: dictionary[kCFNetworkProxiesExcludeSimpleHostnames]) ?? 0 != 0
        if Int(proxySetting: dictionary[kCFNetworkProxiesProxyAutoConfigEnable]) ?? 0 != 0 {
            script = Self.script(dictionary)
        }
    }

    private static func script(_ dictionary: [AnyHashable: Any]) -> Result<ProxyScript, LoadFailure> {
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

    private static func proxy(
        _ dictionary: [AnyHashable: Any], _ keys: Keys, _ kind: Proxy.Kind, _ standard: Int
    ) -> Proxy? {
        guard Int(proxySetting: dictionary[keys.enable]) ?? 0 != 0, let host = dictionary[keys.host] as? String,
            !host.isEmpty
        else { return nil }
        // Beyond Apple's: the form of the environment's variables, for example for a proxy over TLS.
        if host.contains("://") { return Proxy(host) }
        guard let port = UInt16(exactly: Int(proxySetting: dictionary[keys.port]) ?? standard), port > 0
        else { return nil }
        let credential = (dictionary[keys.user] as? String).map { user in
            Proxy.Credential(user: user, password: dictionary[keys.password] as? String ?? "")
        }
        return Proxy(kind: kind, host: host.lowercased(), port: port, credential: credential)
    }
}

/// The hosts that are reached without a proxy.
struct ProxyExceptions: Sendable {
    private enum Pattern: Sendable {
        case everything
        /// A domain with all its subdomains.
        case domain(String)
        /// The addresses that begin with these bits.
        case network(bytes: [UInt8], bits: Int)
    }

    private var patterns: [Pattern] = []
    /// Whether names without a dot are reached without a proxy.
    var includesSimpleNames = false

    /// The exceptions of the environment variable `no_proxy`, as curl reads it. Entries are divided by commas or
    /// spaces. `*` is every host. A name stands for itself and its subdomains, with or without a dot before it. An
    /// address may have a prefix length.
    init(list: String) { self.init(list.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)) }

    /// The exceptions of Apple's `ExceptionsList`: the same entries, where names may begin with `*.`.
    init(_ entries: [String]) { patterns = entries.compactMap(Self.pattern) }

    private static func pattern(_ entry: String) -> Pattern? {
        if entry == "*" { return .everything }
        if let network = network(entry) { return network }
        var name = entry.lowercased()[...]
        if name.hasPrefix("*") { name.removeFirst() }
        if name.hasPrefix(".") { name.removeFirst() }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : .domain(String(name))
    }

    private static func network(_ entry: String) -> Pattern? {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard var address = parts.first.map(String.init) else { return nil }
        if address.hasPrefix("["), address.hasSuffix("]") { address = String(address.dropFirst().dropLast()) }
        // `169.254/16` is a way to write `169.254.0.0/16`.
        let missing = address.contains(":") ? 0 : 3 - address.count { $0 == "." }
        if parts.count > 1, (1...3).contains(missing) { address += String(repeating: ".0", count: missing) }
        guard let bytes = IPAddress(withoutZone: address)?.bytes else { return nil }
        guard parts.count > 1 else { return .network(bytes: bytes, bits: bytes.count * 8) }
        guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
        return .network(bytes: bytes, bits: bits)
    }

    /// - Parameter host: a name or an address, lowercase and without brackets.
    func contains(_ host: String) -> Bool {
        if patterns.isEmpty && !includesSimpleNames { return false }
        let address = IPAddress(withoutZone: host)
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if includesSimpleNames, address == nil, !IPAddress.endsInNumber(name), !name.utf8.contains(UInt8(ascii: ".")) {
            return true
        }
        return patterns.contains { pattern in
            switch pattern {
            case .everything: true
            case .domain(let domain): address == nil && (name == domain || name.hasSuffix("." + domain))
            case .network(let bytes, let bits):
                // An IPv4-mapped IPv6 address is in the networks of both.
                [address, address?.mappedV4].contains { $0.map { Self.agree($0.bytes, bytes, bits) } ?? false }
            }
        }
    }

    /// Whether two addresses of one family begin with the same bits.
    private static func agree(_ a: [UInt8], _ b: [UInt8], _ bits: Int) -> Bool {
        guard a.count == b.count else { return false }
        for index in a.indices {
            let left = max(0, min(8, bits - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> left)
            if (a[index] ^ b[index]) & mask != 0 { return false }
        }
        return true
    }
}
