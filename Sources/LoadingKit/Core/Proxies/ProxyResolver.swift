import Foundation

/// A source of proxies: finds through which servers others are reached, as the desktop's settings or a script
/// (proxy auto-config) say it.
///
/// ```swift
/// struct OfficeProxies: ProxyResolver {
///     func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
///         query.url.host()?.hasSuffix(".office.example") == true
///             ? [.direct] : [ProxyChoice(.http, host: "proxy.office.example", port: 3128), .direct]
///     }
/// }
/// configuration.proxyResolver = OfficeProxies()
/// ```
///
/// See ``URLSessionConfiguration/proxyResolver`` for when it is asked, and how long an answer holds.
public protocol ProxyResolver: Sendable {
    /// The ways to a server, the preferred one first. An empty array stands for ``ProxyChoice/direct``.
    ///
    /// It may block: it runs on a thread for the program's code, not on the session's event loop. The task is cancelled
    /// when no load waits for the answer any more.
    ///
    /// - Throws: Whatever keeps it from an answer. The loads that wait fail: a request is never sent directly because
    ///   its proxies are not known. A `URLError` reaches the program with its code, another error as the underlying
    ///   error of `URLError.cannotConnectToHost`.
    func proxies(for query: ProxyQuery) async throws -> [ProxyChoice]
}

/// What a ``ProxyResolver`` is asked.
public struct ProxyQuery: Hashable, Sendable {
    /// The server: an `http`, `https` or `ftp` URL with host and port, and nothing else. Neither the path nor the user of a
    /// request is shown to a resolver, so that an answer holds for all requests to a server. WebSockets are asked for
    /// with the first two schemes, too, and `ftps` is asked for as `ftp`.
    public let url: URL
    /// The script that the session's `connectionProxyDictionary` names; nil where the resolver is to find the proxies
    /// by itself.
    public let script: ProxyScript?

    /// A query for a server, for a resolver that asks another.
    public init(url: URL, script: ProxyScript? = nil) {
        self.url = url
        self.script = script
    }
}

/// A script that finds proxies (proxy auto-config, PAC), as ``URLSessionConfiguration/connectionProxyDictionary`` names it.
public enum ProxyScript: Hashable, Sendable {
    /// It is to be loaded (``kCFNetworkProxiesProxyAutoConfigURLString``), without a proxy.
    case url(URL)
    /// Its text (``kCFNetworkProxiesProxyAutoConfigJavaScript``).
    case javaScript(String)
}
