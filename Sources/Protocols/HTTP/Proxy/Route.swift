import LoadingKitTransport

/// How an origin is reached: directly, or through a proxy.
struct Route: Hashable {
    let origin: Origin
    let proxy: Proxy?
    /// Whether its connections are to switch to another protocol: they are not shared, and go through tunnels.
    var isForUpgrade = false

    /// The same way for requests that switch to nothing.
    var shared: Route { Route(origin: origin, proxy: proxy) }

    /// Whether requests are sent to an HTTP proxy as they are, in absolute form (RFC 9112 §3.2.2), without a tunnel.
    var isForwarded: Bool {
        guard let proxy, !origin.isSecure, !isForUpgrade else { return false }
        return proxy.speaksHTTP
    }

    /// What the proxy is asked for, where there is one and it must open a tunnel.
    var tunnel: (any TunnelHandshake)? {
        guard let proxy, !isForwarded else { return nil }
        let destination = TunnelDestination(host: origin.host, port: origin.port)
        switch proxy.kind {
        case .http, .https: return ConnectHandshake(destination, authorization: proxy.credential?.basic)
        case .socks4: return SOCKS4Handshake(destination, proxy.credential)
        case .socks5: return SOCKS5Handshake(destination, proxy.credential)
        }
    }

    /// What goes before the path in a request's target.
    var targetPrefix: String { isForwarded ? "http://\(origin.authority)" : "" }
}

extension Proxy {
    var speaksHTTP: Bool { kind == .http || kind == .https }
    var endpoint: Endpoint { .tcp(host: host, port: port) }
}

extension Proxy.Credential {
    /// As a value of `Proxy-Authorization` (RFC 7617).
    var basic: String { BasicScheme.value(user, password) }
}
