import LoadingKitCore

/// What knows the ways to servers.
enum ProxySource {
    case rules
    case resolver(ProxyLookup)
    /// A script is to find the proxies, and nothing runs it.
    case unusable(LoadFailure)

    /// - Parameter scheme: of the servers' URLs; nil for `http` and `https`.
    init(_ core: SessionCore, _ rules: ProxyRules, scheme: String? = nil) {
        let resolver = core.settings.proxyResolver
        switch (rules.script, resolver) {
        case (.failure(let failure), _): self = .unusable(failure)
        case (.success(let script), let resolver?):
            self = .resolver(ProxyLookup(core, resolver, script, scheme: scheme))
        case (.success, nil): self = .unusable(.noScriptRunner)
        case (nil, let resolver?) where core.settings.connectionProxyDictionary == nil:
            self = .resolver(ProxyLookup(core, resolver, nil, scheme: scheme))
        case (nil, _): self = .rules
        }
    }

    var usable: ProxyLookup? { if case .resolver(let lookup) = self { lookup } else { nil } }

    var lookup: ProxyLookup? {
        get throws(LoadFailure) {
            switch self {
            case .rules: return nil
            case .resolver(let lookup): return lookup
            case .unusable(let failure): throw failure
            }
        }
    }
}

extension LoadFailure {
    fileprivate static var noScriptRunner: LoadFailure {
        LoadFailure(
            .cannotConnectToHost,
            "connectionProxyDictionary names a script that finds the proxies (kCFNetworkProxiesProxyAutoConfigEnable), and "
                + "configuration.proxyResolver, which runs it, is nil: set it, for example to SystemProxies() of the plugin "
                + "LoadingKitSystemProxies")
    }
}
