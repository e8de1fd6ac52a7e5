import Foundation
import LoadingKitCore

/// Which proxy a server is reached through, by a session's settings: those of a dictionary, of the environment, or what a
/// resolver is to be asked. A value, which asks nothing itself.
package struct ProxyRules: Sendable {
    package enum Answer: Hashable {
        /// Through this proxy; nil: directly.
        case proxy(Proxy?)
        /// As the session's resolver says.
        case ask
    }

    private enum Rules: Sendable {
        /// A scheme without a proxy is reached directly. One whose proxy is named wrong is not reached at all.
        case proxies([ProxyTarget.Scheme: Result<Proxy, LoadFailure>])
        /// A resolver finds the proxies, by the script where there is one.
        case ask(ProxyScript?)
        /// A script is to find the proxies, and cannot be run.
        case unusable(LoadFailure)
    }

    private let rules: Rules
    private let exceptions: ProxyExceptions

    /// The rules of a session's settings.
    package init(_ settings: SessionSettings) {
        self.init(
            dictionary: settings.connectionProxyDictionary, hasResolver: settings.proxyResolver != nil,
            environment: settings.proxyEnvironment ?? ProxyEnvironment([:]))
    }

    /// - Parameters:
    ///   - dictionary: nil: the resolver, or else the environment, names the proxies. Empty: there is none.
    ///   - hasResolver: whether there is something to ask.
    init(dictionary: [AnyHashable: Any]?, hasResolver: Bool = false, environment: ProxyEnvironment = .init([:])) {
        if let dictionary {
            exceptions = ProxyDictionary.exceptions(dictionary)
            switch ProxyDictionary.script(dictionary) {
            case nil: rules = .proxies(ProxyDictionary.proxies(dictionary))
            case .success(let script): rules = hasResolver ? .ask(script) : .unusable(.noScriptRunner)
            case .failure(let failure): rules = .unusable(failure)
            }
        } else if hasResolver {
            (rules, exceptions) = (.ask(nil), ProxyExceptions([]))
        } else {
            rules = .proxies(environment.proxies)
            exceptions = ProxyExceptions(list: environment.variables["no_proxy"] ?? "")
        }
    }

    /// Whether a server may be reached through a proxy.
    package var mayUseProxies: Bool {
        switch rules {
        case .proxies(let proxies): !proxies.isEmpty
        case .ask: true
        case .unusable: false
        }
    }

    /// Whether there is a resolver that is asked.
    var asksResolver: Bool { if case .ask = rules { true } else { false } }

    /// What that is to run; nil where it finds the proxies by itself.
    var script: ProxyScript? { if case .ask(let script) = rules { script } else { nil } }

    /// - Throws: Where it is not known how the server may be reached.
    package func answer(for target: ProxyTarget) throws(LoadFailure) -> Answer {
        switch rules {
        case .proxies(let proxies):
            guard let proxy = proxies[target.scheme], !exceptions.contains(target.host) else { return .proxy(nil) }
            return .proxy(try proxy.get())
        case .ask: return exceptions.contains(target.host) ? .proxy(nil) : .ask
        case .unusable(let failure):
            guard exceptions.contains(target.host) else { throw failure }
            return .proxy(nil)
        }
    }
}

extension ProxyEnvironment {
    /// The proxies by the variables that curl reads: a scheme's own before that of all.
    fileprivate var proxies: [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] {
        var proxies: [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] = [:]
        for scheme in ProxyTarget.Scheme.allCases {
            let names = ["\(scheme.rawValue)_proxy", "all_proxy"]
            guard let name = names.first(where: { variables[$0] != nil }), let value = variables[name] else { continue }
            // curl's port where none is named.
            proxies[scheme] = .proxy(ProxyChoice(value, usualPort: 1080), named: "the environment variable \(name)")
        }
        return proxies
    }
}

extension Result where Success == Proxy, Failure == LoadFailure {
    static func proxy(_ choice: ProxyChoice?, named place: String) -> Self {
        if let server = choice?.server { return .success(server) }
        // Not the value, which may have a password.
        return .failure(
            LoadFailure(
                .cannotConnectToHost,
                "\(place) names no proxy that is known: [http, https, socks4a or socks5h://][user:password@]host[:port]"
            ))
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
