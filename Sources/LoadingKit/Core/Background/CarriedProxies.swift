import Foundation

/// What names the proxies of a background session's transfers, as it goes to what performs them. What cannot go there is an
/// error: a request is never sent directly because its proxies were left behind.
package struct CarriedProxies: Hashable, Sendable {
    /// The proxy dictionary as JSON; nil: there is none, and the environment names the proxies.
    package let dictionary: Data?
    /// The program's variables that name proxies.
    package let environment: [String: String]

    package init(dictionary: Data?, environment: [String: String]) {
        self.dictionary = dictionary
        self.environment = environment
    }

    /// No proxy.
    package static let none = CarriedProxies(dictionary: nil, environment: [:])

    /// - Throws: An error that names the setting, or the dictionary's key.
    package init(_ settings: SessionSettings) throws(LoadFailure) {
        environment = (settings.proxyEnvironment ?? .ofProgram()).variables
        guard let dictionary = settings.connectionProxyDictionary else {
            guard settings.proxyResolver == nil else {
                throw .uncarried(
                    "configuration.proxyResolver (or proxyConfigurations) cannot be asked then; give it a "
                        + "connectionProxyDictionary, an empty one where there is no proxy")
            }
            self.dictionary = nil
            return
        }
        var plain: [String: Any] = [:]
        for (key, value) in dictionary {
            guard let name = key.base as? String, let value = Self.plain(value) else {
                throw .uncarried(
                    "connectionProxyDictionary has a value for \(key.base) that cannot be kept: \(type(of: value))")
            }
            plain[name] = value
        }
        guard Int(proxySetting: plain[kCFNetworkProxiesProxyAutoConfigEnable] ?? 0) == 0 else {
            throw .uncarried(
                "connectionProxyDictionary says that a script finds the proxies (\(kCFNetworkProxiesProxyAutoConfigEnable)), "
                    + "which nothing could run then")
        }
        guard let data = try? JSONSerialization.data(withJSONObject: plain) else {
            throw .uncarried("connectionProxyDictionary cannot be kept")
        }
        self.dictionary = data
    }

    /// A value as JSON has it; nil where it has none for it.
    private static func plain(_ value: Any) -> Any? {
        if let url = value as? URL { return url.absoluteString }
        if let values = value as? [Any] {
            let plain = values.compactMap { Self.plain($0) }
            return plain.count == values.count ? plain : nil
        }
        return JSONSerialization.isValidJSONObject([value]) ? value : nil
    }

    /// Gives settings the proxies, whatever the environment of this process is.
    func configure(_ settings: inout SessionSettings) {
        settings.proxyEnvironment = ProxyEnvironment(environment)
        settings.connectionProxyDictionary = dictionary.map { data in
            (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? Self.unreadable
        }
    }

    /// Rules by which nothing can be loaded: it is not known whether there was a proxy.
    private static var unreadable: [String: Any] { [kCFNetworkProxiesProxyAutoConfigEnable: true] }
}

extension LoadFailure {
    fileprivate static func uncarried(_ reason: String) -> LoadFailure {
        LoadFailure(
            .cannotConnectToHost,
            "The transfers of a background session are made where the program may not be: \(reason)")
    }
}
