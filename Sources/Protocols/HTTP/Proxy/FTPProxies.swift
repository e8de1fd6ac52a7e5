import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Decides which proxy a connection for `ftp` URLs goes through: by the settings' dictionary its proxy for FTP, else the one
/// for SOCKS; where there is no dictionary, by the environment `ftp_proxy`, else `all_proxy`.
struct FTPProxyRules: Sendable {
    let rules: ProxyRules

    init(_ settings: SessionSettings, environment: @autoclosure () -> [String: String]) {
        let dictionary = settings.connectionProxyDictionary
        rules = ProxyRules(dictionary.map(Self.renamed), environment: Self.renamed(environment()))
    }

    /// The proxy for a server; nil where it is reached directly.
    func proxy(for server: Origin) -> Proxy? { rules.proxy(for: server) }

    // The rules for https are those of tunnels: their names stand for those of FTP.

    private static func renamed(_ dictionary: [AnyHashable: Any]) -> [AnyHashable: Any] {
        var renamed = dictionary
        renamed[kCFNetworkProxiesHTTPSEnable] = dictionary[kCFNetworkProxiesFTPEnable]
        renamed[kCFNetworkProxiesHTTPSProxy] = dictionary[kCFNetworkProxiesFTPProxy]
        renamed[kCFNetworkProxiesHTTPSPort] = dictionary[kCFNetworkProxiesFTPPort]
        return renamed
    }

    private static func renamed(_ environment: [String: String]) -> [String: String] {
        var renamed = environment
        renamed["https_proxy"] = environment["ftp_proxy"]
        renamed["HTTPS_PROXY"] = environment["FTP_PROXY"]
        return renamed
    }
}

/// Finds the ways to FTP servers: by the rules, or by what HTTP's proxies are found by, the session's resolver and script.
/// Confined to the session's loop.
package final class FTPProxies {
    private let rules: FTPProxyRules
    private let source: ProxySource

    package init(_ core: SessionCore) {
        rules = FTPProxyRules(core.settings, environment: core.settings.proxyEnvironment?.variables ?? [:])
        source = ProxySource(core, rules.rules, scheme: "ftp")
    }

    /// The ways to a server: at once where they are known, else by the callback, which is not called after ``withdraw(_:)``.
    ///
    /// - Parameter waiter: a number that no other load of the session has.
    package func findWays(
        to host: String, port: UInt16, for waiter: UInt64, _ told: @escaping (Result<TunnelWays, any Error>) -> Void
    ) throws(LoadFailure) -> TunnelWays? {
        // The rules for https are those of tunnels.
        let server = Origin(isSecure: true, host: host, port: port)
        if case .rules = source { return TunnelWays([rules.proxy(for: server)]) }
        guard !rules.rules.isExcepted(server), let lookup = try source.lookup else { return TunnelWays([nil]) }
        let known = lookup.ask(server, for: waiter) { ways in
            told(ways.map { TunnelWays($0) }.mapError(LoadFailure.ofProxyLookup))
        }
        return known.map { TunnelWays($0) }
    }

    package func withdraw(_ waiter: UInt64) { source.usable?.withdraw(waiter) }

    package func wayDidOpen(_ proxy: TunnelProxy) { source.usable?.proxyDidConnect(proxy.proxy) }

    /// No connection came about by a way: it is tried after the others for a while, where the proxy is at fault.
    package func wayDidFail(_ proxy: TunnelProxy, _ error: any Error) {
        guard LoadFailure.isOfWay(error), let error = error as? ProxyError, error.cause != .silent else { return }
        source.usable?.proxyDidFail(proxy.proxy)
    }

    package func forget() { source.usable?.forget() }

    package func end() { source.usable?.end() }
}

/// The ways to a server that are tried in turn, and those that led nowhere.
package struct TunnelWays {
    /// Nil: no proxy.
    package private(set) var proxy: TunnelProxy?
    private var others: ProxyWays

    init(_ ways: [Proxy?]) {
        proxy = ways.first.flatMap { $0 }.map(TunnelProxy.init)
        others = ProxyWays(ways)
    }

    /// The part of the time to connect for a way that has another one behind it, in nanoseconds; nil where there is none.
    package func limit(of time: UInt64?) -> UInt64? { others.hasNext ? others.share(of: time) : nil }

    /// Goes on with the next way, where the failure is one of the way and there is another; else false.
    package mutating func takeNext(after error: any Error) -> Bool {
        guard others.hasNext, LoadFailure.isOfWay(error), let next = others.takeNext(after: error) else { return false }
        proxy = next.map(TunnelProxy.init)
        return true
    }

    /// What the load fails with where no way has led on.
    package func failure(_ last: any Error) -> any Error { others.failure(last) }
}
