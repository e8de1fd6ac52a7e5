import LoadingKitCore
import LoadingKitTransport

/// How an origin is reached: directly, or through a proxy.
final class Route: Sendable {
    let origin: Origin
    let proxy: Proxy?
    /// Over which networks.
    let use: NetworkUse
    let switching: Switching
    /// Nil where the session's delegate, or nobody, decides how connections are made.
    private let decider: Decider?

    init(
        origin: Origin, proxy: Proxy?, use: NetworkUse = NetworkUse(), switching: Switching = .never,
        decider: Decider? = nil
    ) {
        self.origin = origin
        self.proxy = proxy
        self.use = use
        self.switching = switching
        self.decider = decider
    }

    /// A task's own delegate that may decide how connections are made. Those are for tasks with the same delegate alone:
    /// another task's would perhaps not have trusted the server, or would have identified the client as somebody else.
    final class Decider: @unchecked Sendable {  // the reference is set once; weak references are read atomically
        fileprivate private(set) weak var delegate: AnyObject?

        init(_ delegate: AnyObject) { self.delegate = delegate }

        /// A delegate that is gone is no other's: another object may have its place in memory.
        fileprivate static func isSame(_ left: Decider?, _ right: Decider?) -> Bool {
            if left === right { return true }
            guard let one = left?.delegate, let other = right?.delegate else { return false }
            return one === other
        }
    }

    /// The same way for tasks whose own delegates do not decide how connections are made.
    var undecided: Route {
        decider == nil ? self : Route(origin: origin, proxy: proxy, use: use, switching: switching)
    }

    /// Whether a task's own delegate may decide.
    var mayBeDecided: Bool { decider != nil }

    /// Nil also when it is gone.
    var decidingDelegate: AnyObject? { decider?.delegate }

    func isDecided(by delegate: AnyObject?) -> Bool {
        guard let decider else { return delegate == nil }
        return delegate != nil && decider.delegate === delegate
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
    var shared: Route { Route(origin: origin, proxy: proxy, use: use, decider: decider) }

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
                && Decider.isSame(left.decider, right.decider)
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
