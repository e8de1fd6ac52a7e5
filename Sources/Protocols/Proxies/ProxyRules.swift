import Foundation
import LoadingKitCore

/// The rules that determine the proxy for a server: from a session's dictionary, from the environment, or with the
/// session's resolver. It is a value, and does not call the resolver itself.
package struct ProxyRules: Sendable {
    package enum Answer: Hashable {
        /// The server is reached through this proxy; nil for a direct connection.
        case proxy(Proxy?)
        /// The session's resolver must be called.
        case ask
    }

    private enum Rules: Sendable {
        /// A scheme without a proxy is reached directly. A scheme with an invalid proxy cannot be reached.
        case proxies([ProxyTarget.Scheme: Result<Proxy, LoadFailure>])
        /// A resolver finds the proxies, with the script if there is one.
        case ask(ProxyScript?)
        /// A script is required to find the proxies, but cannot be run.
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
    ///   - dictionary: nil if the resolver, or else the environment, names the proxies; empty for no proxies.
    ///   - hasResolver: whether the session has a resolver.
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

    /// Whether the session's resolver is called.
    var asksResolver: Bool { if case .ask = rules { true } else { false } }

    /// The script for the resolver; nil if it needs none.
    var script: ProxyScript? { if case .ask(let script) = rules { script } else { nil } }

    /// - Throws: if the rules for reaching the server are invalid.
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
    /// The proxies from the variables that curl reads. A scheme's own variable has precedence over `all_proxy`.
    fileprivate var proxies: [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] {
        var proxies: [ProxyTarget.Scheme: Result<Proxy, LoadFailure>] = [:]
        for scheme in ProxyTarget.Scheme.allCases {
            let names = ["\(scheme.rawValue)_proxy", "all_proxy"]
            guard let name = names.first(where: { variables[$0] != nil }), let value = variables[name] else { continue }
            // The default port is curl's.
            proxies[scheme] = .proxy(ProxyChoice(value, usualPort: 1080), named: "the environment variable \(name)")
        }
        return proxies
    }
}

extension Result where Success == Proxy, Failure == LoadFailure {
    static func proxy(_ choice: ProxyChoice?, named place: String) -> Self {
        if let server = choice?.server { return .success(server) }
        // The message omits the value, which may contain a password.
        let schemes = Proxy.Kind.allCases.map(\.scheme).joined(separator: ", ")
        return .failure(
            LoadFailure(
                .cannotConnectToHost,
                "\(place) names no proxy that is known: [scheme://][user:password@]host[:port]. The schemes are \(schemes)"
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
