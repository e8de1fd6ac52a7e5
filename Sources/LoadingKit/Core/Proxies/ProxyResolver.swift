import Foundation

/// Determines the proxies through which servers are reached, for example by the desktop's settings or a script (proxy
/// auto-config).
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
/// See ``URLSessionConfiguration/proxyResolver`` for when it is called, and how long a result is valid.
public protocol ProxyResolver: Sendable {
    /// The routes to a server, the preferred one first. An empty array stands for ``ProxyChoice/direct``.
    ///
    /// It may block: it runs on a thread for the program's code, not on the session's event loop. The task is cancelled
    /// when no load waits for the result any longer.
    ///
    /// - Throws: Any error that prevents a result. The waiting loads fail: a request is never sent directly because its
    ///   proxies are unknown. A `URLError` reaches the program with its code, another error as the underlying error of
    ///   `URLError.cannotConnectToHost`.
    func proxies(for query: ProxyQuery) async throws -> [ProxyChoice]
}

/// The input of a ``ProxyResolver``.
public struct ProxyQuery: Hashable, Sendable {
    /// The server: an `http`, `https` or `ftp` URL with host and port, and nothing else. A resolver gets neither the
    /// path nor the user of a request, so that a result is valid for all requests to a server. A WebSocket has one of
    /// the first two schemes, too, and `ftps` becomes `ftp`.
    public let url: URL
    /// The script that the session's `connectionProxyDictionary` names; nil where the resolver determines the proxies
    /// by itself.
    public let script: ProxyScript?

    /// A query for a server, for a resolver that calls another.
    public init(url: URL, script: ProxyScript? = nil) {
        self.url = url
        self.script = script
    }
}

/// A script that determines proxies (proxy auto-config, PAC), from
/// ``URLSessionConfiguration/connectionProxyDictionary``.
public enum ProxyScript: Hashable, Sendable {
    /// The script's URL (``kCFNetworkProxiesProxyAutoConfigURLString``), which is loaded without a proxy.
    case url(URL)
    /// The script's text (``kCFNetworkProxiesProxyAutoConfigJavaScript``).
    case javaScript(String)
}
