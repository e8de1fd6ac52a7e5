import LoadingKitCore
import LoadingKitTransport

/// How an origin is reached: directly, or through a proxy.
final class Route: Sendable {
    let origin: Origin
    let proxy: Proxy?
    /// Over which networks.
    let use: NetworkUse
    let switching: Switching

    init(origin: Origin, proxy: Proxy?, use: NetworkUse = NetworkUse(), switching: Switching = .never) {
        self.origin = origin
        self.proxy = proxy
        self.use = use
        self.switching = switching
    }

    /// Whether its connections are to switch to another protocol.
    enum Switching {
        case never
        /// A connection, or a stream of one (RFC 8441).
        case inAnyVersion
        /// A connection, whose bytes are the program's then.
        case inHTTP1
    }

    /// Its connections are not shared, and go through tunnels.
    var isForUpgrade: Bool { switching != .never }

    /// The same way for requests that switch to nothing.
    var shared: Route { Route(origin: origin, proxy: proxy, use: use) }

    /// Whether requests are sent to an HTTP proxy as they are, in absolute form (RFC 9112 §3.2.2), without a tunnel.
    var isForwarded: Bool {
        guard let proxy, !origin.isSecure, !isForUpgrade else { return false }
        return proxy.speaksHTTP
    }

    /// Whether a proxy must open a tunnel first.
    var needsTunnel: Bool { proxy != nil && !isForwarded }

    var destination: TunnelDestination { TunnelDestination(host: origin.host, port: origin.port) }

    /// What goes before the path in a request's target.
    var targetPrefix: String { isForwarded ? "http://\(origin.authority)" : "" }
}

extension Route: Hashable {
    static func == (left: Route, right: Route) -> Bool {
        left === right
            || left.origin == right.origin && left.proxy == right.proxy && left.use == right.use
                && left.switching == right.switching
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(proxy)
        hasher.combine(use)
        hasher.combine(switching)
    }
}

extension Proxy {
    var speaksHTTP: Bool { kind == .http || kind == .https }
    var endpoint: Endpoint { .tcp(host: host, port: port) }
}

extension Proxy.Credential {
    init?(_ credential: URLCredential?) {
        guard let user = credential?.user else { return nil }
        self.init(user: user, password: credential?.password ?? "")
    }

    var urlCredential: URLCredential { URLCredential(user: user, password: password, persistence: .forSession) }
}
