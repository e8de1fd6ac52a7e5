import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// The route to an origin: direct, or through a proxy.
final class Route: Sendable {
    let origin: Origin
    /// The Unix-domain socket that leads to the origin. It depends on the origin alone.
    private let socket: UnixSocket?
    let proxy: Proxy?
    let use: NetworkUse
    let switching: Switching
    /// Nil if no task's own delegate decides about connections.
    private let decider: ConnectionDecider?

    init(
        origin: Origin, socket: UnixSocket? = nil, proxy: Proxy?, use: NetworkUse = NetworkUse(),
        switching: Switching = .never, decider: ConnectionDecider? = nil
    ) {
        self.origin = origin
        self.socket = socket
        self.proxy = proxy
        self.use = use
        self.switching = switching
        self.decider = decider
    }

    /// The same route for tasks whose own delegates do not decide about connections.
    var undecided: Route {
        decider == nil ? self : Route(origin: origin, socket: socket, proxy: proxy, use: use, switching: switching)
    }

    var mayBeDecided: Bool { decider != nil }
    var deciderIdentity: ObjectIdentifier? { decider?.identity }

    /// Nil also after the delegate is deallocated.
    var decidingDelegate: AnyObject? { decider?.delegate }

    func isFor(_ use: NetworkUse, _ switching: Switching, _ delegate: AnyObject?, _ proxy: Proxy?) -> Bool {
        self.switching == switching && isDecided(by: delegate) && self.use == use && self.proxy == proxy
    }

    private func isDecided(by delegate: AnyObject?) -> Bool {
        guard let decider else { return delegate == nil }
        return delegate != nil && decider.delegate === delegate
    }

    enum Switching {
        case never
        /// A connection switches, or an HTTP/2 stream (RFC 8441).
        case inAnyVersion
        /// An HTTP/1.1 connection switches. The program then owns its bytes.
        case inHTTP1
    }

    /// Connections that switch are not shared, and use tunnels.
    var isForUpgrade: Bool { switching != .never }

    /// The same route for requests that do not switch protocols.
    var shared: Route { Route(origin: origin, socket: socket, proxy: proxy, use: use, decider: decider) }

    /// The endpoint of connections without a proxy.
    var endpoint: Endpoint { socket.map { .unix(path: $0.path) } ?? origin.endpoint }

    var serverName: String { socket?.serverName ?? origin.host }

    /// Whether requests are sent to an HTTP proxy in absolute form, without a tunnel (RFC 9112 §3.2.2).
    var isForwarded: Bool {
        guard let proxy, !origin.isSecure, !isForUpgrade else { return false }
        return proxy.kind.speaksHTTP
    }

    var needsTunnel: Bool { proxy != nil && !isForwarded }
    var hasTLS: Bool { origin.isSecure || proxy?.kind.isSecure == true }
    var destination: TunnelDestination { TunnelDestination(host: origin.host, port: origin.port) }

    /// The text before the path in a request's target.
    var targetPrefix: String { isForwarded ? "http://\(origin.authority)" : "" }
}

extension Route: Hashable {
    static func == (left: Route, right: Route) -> Bool {
        left === right
            || left.origin == right.origin && left.proxy == right.proxy && left.use == right.use
                && left.switching == right.switching
                && ConnectionDecider.isSame(left.decider, right.decider)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(origin)
        hasher.combine(proxy)
        hasher.combine(use)
        hasher.combine(switching)
    }
}

extension Proxy.Credential {
    init?(_ credential: URLCredential?) {
        guard let user = credential?.user else { return nil }
        self.init(user: user, password: credential?.password ?? "")
    }

    var urlCredential: URLCredential { URLCredential(user: user, password: password, persistence: .forSession) }
}
