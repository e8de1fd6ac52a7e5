import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// A session's record of an origin: its routes, and the fields of its requests.
final class OriginRecord {
    let origin: Origin
    /// The target of the last URL. The next one shares its parts if both URLs have the same beginning.
    @exclusivity(unchecked) fileprivate(set) var lastTarget: RequestTarget
    let isAllowed: Bool
    /// The socket to which connections are made instead of the origin's addresses.
    let socket: UnixSocket?
    @exclusivity(unchecked) private var undecidedRoutes: [RouteRecord] = []
    /// Routes of tasks' own delegates that may decide about connections. There may be one for each task.
    private var decidedRoutes: [ObjectIdentifier: [RouteRecord]] = [:]
    /// With more delegates than this number, the routes of deallocated delegates are removed.
    private var delegateLimit = 64
    /// Counts the connections of all pools together. Nil before there is a second route for requests: its only pool
    /// keeps the limit alone.
    @exclusivity(unchecked) private(set) var host: HostPools?
    private var hasRouteForRequests = false
    private let connectionLimit: Int
    /// The servers at the ends of the routes, whichever delegate decides about connections.
    private var servers: [(route: Route, record: ServerRecord)] = []
    /// The fields of requests without fields and body, which share their memory: of tasks that were made for the origin,
    /// and of tasks that were redirected to it.
    @exclusivity(unchecked) private var plainFields: HTTPFields?
    @exclusivity(unchecked) private var plainFieldsElsewhere: HTTPFields?
    /// Nil before the session's rules were evaluated.
    @exclusivity(unchecked) private var ruledRoute: ProxyRules.Answer?

    init(_ target: RequestTarget, _ settings: SessionSettings) {
        origin = target.origin
        lastTarget = target
        connectionLimit = max(1, settings.httpMaximumConnectionsPerHost)
        socket = settings.unixSocket?(origin.host)
        isAllowed = origin.isSecure || socket != nil || settings.allowsCleartext(to: origin.host)
        authority = socket?.serverName ?? origin.authority
        var fields = HTTPFields()
        fields.append(.host, authority)
        // Some servers answer it with a `Keep-Alive` field, which says how long they keep an idle connection.
        if !settings.sendsHTTP1_0 { fields.append(.connection, "keep-alive") }
        http1Fields = fields
    }

    /// The value of `Host` and of `:authority`.
    let authority: String
    /// The fields of requests over HTTP/1.1 alone.
    let http1Fields: HTTPFields

    /// The URL most likely has the same beginning as the last one.
    func target(of url: URL) throws(LoadFailure) -> RequestTarget {
        let target = try RequestTarget(url, like: lastTarget)
        if !target.beginsLike(lastTarget), target.origin == origin { lastTarget = target }
        return target
    }

    // MARK: Routes

    /// The route by rules that never change. A socket is reached without a proxy.
    func route(by proxies: ProxyFinder) throws(LoadFailure) -> ProxyRules.Answer {
        if let ruledRoute { return ruledRoute }
        let route = socket == nil ? try proxies.answer(for: origin.proxyTarget) : .proxy(nil)
        ruledRoute = route
        return route
    }

    /// - Parameter delegate: the task's own delegate, if it may decide in the TLS handshake.
    func route(
        over use: NetworkUse, switching: Route.Switching, decidedBy delegate: AnyObject?, through proxy: Proxy?
    ) -> RouteRecord {
        let known = self.routes(of: delegate.map { ObjectIdentifier($0) })
        if let known = known.first(where: { $0.route.isFor(use, switching, delegate, proxy) }) { return known }
        let route = Route(
            origin: origin, socket: socket, proxy: proxy, use: use, switching: switching,
            decider: delegate.map(ConnectionDecider.init))
        return add(route)
    }

    /// The same route for tasks whose own delegates do not decide about connections.
    func undecided(_ record: RouteRecord) -> RouteRecord {
        guard record.route.mayBeDecided else { return record }
        let undecided = record.route.undecided
        return undecidedRoutes.first { $0.route == undecided } ?? add(undecided)
    }

    /// The pools of tasks' own delegates that lead where the route leads.
    func decidedPools(like record: RouteRecord) -> [any RoutePool] {
        let undecided = record.route.undecided
        return decidedRoutes.values.joined().filter { $0.route.undecided == undecided }.compactMap(\.pool)
    }

    /// The route for requests that do not switch to another protocol, if there is one.
    func shared(_ record: RouteRecord) -> RouteRecord? {
        let shared = record.route.shared
        return routes(of: shared.deciderIdentity).first { $0.route == shared }
    }

    var routes: [RouteRecord] { undecidedRoutes + decidedRoutes.values.joined() }
    var pools: [any RoutePool] { routes.compactMap(\.pool) }

    private func routes(of delegate: ObjectIdentifier?) -> [RouteRecord] {
        delegate.map { decidedRoutes[$0] ?? [] } ?? undecidedRoutes
    }

    private func add(_ route: Route) -> RouteRecord {
        forgetFormerRoutes()
        let record = RouteRecord(route, server(of: route.undecided))
        keep(record)
        return record
    }

    private func server(of undecided: Route) -> ServerRecord {
        if let known = servers.first(where: { $0.route == undecided }) { return known.record }
        let new = ServerRecord()
        servers.append((undecided, new))
        return new
    }

    /// Removes unused routes and servers, because a resolver may return other proxies each time.
    private func forgetFormerRoutes() {
        if undecidedRoutes.count >= Self.mostUnusedRoutes { undecidedRoutes.removeAll { $0.pool == nil } }
        guard servers.count >= 2 * Self.mostUnusedRoutes else { return }
        let used = Set(routes.map(\.route.undecided))
        servers.removeAll { !used.contains($0.route) }
    }

    private static let mostUnusedRoutes = 16

    func keep(_ record: RouteRecord) {
        guard !routes(of: record.route.deciderIdentity).contains(where: { $0 === record }) else { return }
        if !record.route.isForUpgrade { willAddRouteForRequests() }
        guard let delegate = record.route.deciderIdentity else { return undecidedRoutes.append(record) }
        // Other routes with this identity belong to objects that were at the delegate's address in memory before.
        let others = decidedRoutes[delegate]?.filter(\.isOfUse) ?? []
        decidedRoutes[delegate] = others + [record]
        forgetGoneDelegates()
    }

    private func willAddRouteForRequests() {
        if hasRouteForRequests, host == nil {
            host = HostPools(limit: connectionLimit)
            for pool in pools { pool.reportUse() }
        }
        hasRouteForRequests = true
    }

    /// The end of a route is not reported if its request ends before it is submitted.
    private func forgetGoneDelegates() {
        guard decidedRoutes.count > delegateLimit else { return }
        decidedRoutes = decidedRoutes.filter { $1.contains(where: \.isOfUse) }
        delegateLimit = max(64, 2 * decidedRoutes.count)
    }

    func routeDidEnd(_ record: RouteRecord) {
        guard let delegate = record.route.deciderIdentity else { return }
        decidedRoutes[delegate]?.removeAll { $0 === record }
        if decidedRoutes[delegate]?.isEmpty == true { decidedRoutes[delegate] = nil }
    }

    func forgetServers() { for server in servers { server.record.forget() } }

    var isInUse: Bool { routes.contains { $0.pool != nil } }

    // MARK: Fields

    func fields(of request: URLRequest, for task: URLSessionTask, by maker: RequestFields) -> HTTPFields {
        let isElsewhere = maker.addsCredentials && request.url.map { task.isFirst($0) } != true
        guard request.isPlain else { return maker.make(request, isElsewhere: isElsewhere) }
        if let known = isElsewhere ? plainFieldsElsewhere : plainFields { return known }
        let made = maker.make(request, isElsewhere: isElsewhere)
        if isElsewhere { plainFieldsElsewhere = made } else { plainFields = made }
        return made
    }
}

/// The connections of one route, and the exchanges that wait for them.
protocol RoutePool: HostPool {
    typealias Submission = (exchange: HTTPExchange, needsFreshConnection: Bool)

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool)
    /// Submits an exchange that switches to another protocol, if there is an HTTP/2 connection that allows the switch.
    /// Returns false if there is none.
    func submitUpgrade(_ exchange: HTTPExchange) -> Bool
    /// The exchange is over, or takes another route.
    func withdraw(_ exchange: HTTPExchange)
    func priorityDidChange(_ exchange: HTTPExchange)
    /// Takes over a connection that was opened for one delegate's tasks, and the exchanges that wait for it. The
    /// connection is then shared by all of the session's tasks.
    func adopt(_ stream: ByteStream, _ handedOver: [Submission])
    /// Takes over exchanges that wait in another pool.
    func take(_ handedOver: [Submission])
    /// Hands over the exchanges that wait to the pool that is shared by all of the session's tasks, if the delegate for
    /// which this pool was made does not decide about connections.
    func handOverIfUndecided()
    /// Requests are sent over HTTP/1.1 from now on.
    func requireHTTP1()

    var hasIdleConnection: Bool { get }
    /// The requests that wait for a connection.
    var waitingCount: Int { get }
    /// From now on the pool's connections are counted together with those of the host's other pools.
    func reportUse()
    func addConnections(to snapshot: inout SessionSnapshot)
    func closeExpired()
    /// Later requests open new connections.
    func retireAll()
    /// The system's networks have changed, or may have, as the machine has slept.
    func networkDidChange(afterSleep: Bool)
    func sessionDidEnd()
}

/// A route to an origin, and its connections.
final class RouteRecord {
    let route: Route
    let server: ServerRecord
    @exclusivity(unchecked) var pool: (any RoutePool)?

    fileprivate init(_ route: Route, _ server: ServerRecord) {
        self.route = route
        self.server = server
    }

    /// After a delegate is deallocated, no requests of its tasks follow.
    fileprivate var isOfUse: Bool { pool != nil || route.decidingDelegate != nil }
}

/// The known behaviour of the server at the end of a route.
final class ServerRecord {
    /// Whether WebSockets cannot be opened over HTTP/1.1.
    var speaksHTTP2Alone = false
    /// Whether a connection ended without an announcement while requests were sent ahead. None are from then on.
    var breaksPipelines = false
    /// The time after which the server closes an idle connection, in seconds, as far as it is known.
    var idleTime: Double?

    func forget() {
        speaksHTTP2Alone = false
        breaksPipelines = false
        idleTime = nil
    }
}

/// The records of a session's origins. Most requests go to the last one used, which is found at once.
struct OriginRecords {
    /// Above this number, those without connections are removed: most origins are used once then.
    private var limit = 1000
    private var records: [Origin: OriginRecord] = [:]
    private var last: OriginRecord?
    /// Records in use whose origins have a newer record.
    private var former: [OriginRecord] = []

    var all: [OriginRecord] { records.values + former }
    var pools: [any RoutePool] { all.flatMap(\.pools) }

    mutating func find(
        _ url: URL, _ settings: SessionSettings
    ) throws(LoadFailure) -> (record: OriginRecord, target: RequestTarget) {
        let target: RequestTarget
        if let last {
            target = try last.target(of: url)
            if target.beginsLike(last.lastTarget) || target.origin == last.origin { return (last, target) }
        } else {
            target = try RequestTarget(url)
        }
        let record = records[target.origin] ?? OriginRecord(target, settings)
        record.lastTarget = target
        last = record
        if records.updateValue(record, forKey: target.origin) == nil { forgetSome() }
        return (record, target)
    }

    /// Whether App Transport Security permits a URL, whose origin most likely is that of the last one. False for
    /// cleartext from a URL that cannot be loaded. The origin is the last one then: hits of a cache alone ask often.
    mutating func permits(_ url: URL, _ settings: SessionSettings) -> Bool {
        if let last, last.lastTarget.beginsLike(url) { return last.isAllowed }
        return !url.hasScheme("http") || (try? find(url, settings).record.isAllowed) ?? false
    }

    /// A record is in use from now on. While its request was being made, it may have been removed and replaced.
    mutating func keep(_ record: OriginRecord) {
        let known = records[record.origin]
        if known === record { return }
        if known == nil {
            records[record.origin] = record
        } else if !former.contains(where: { $0 === record }) {
            former.append(record)
        }
    }

    private mutating func forgetSome() {
        guard records.count > limit else { return }
        records = records.filter { $0.value.isInUse || $0.value === last }
        former.removeAll { !$0.isInUse }
        limit = max(1000, 2 * records.count)
    }
}
