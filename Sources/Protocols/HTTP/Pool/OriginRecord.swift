import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// A session's record of an origin: its routes, and the fields of its requests.
final class OriginRecord {
    let origin: Origin
    /// The last URL's target. The next target shares its parts if both URLs have the same beginning.
    @exclusivity(unchecked) fileprivate(set) var lastTarget: RequestTarget
    /// Whether transport security allows requests to the origin.
    let isAllowed: Bool
    /// The socket to which connections are made instead of the origin's addresses.
    let socket: UnixSocket?
    @exclusivity(unchecked) private var undecidedRoutes: [RouteRecord] = []
    /// The routes of tasks' own delegates that may decide about connections. There may be one for each task.
    private var decidedRoutes: [ObjectIdentifier: [RouteRecord]] = [:]
    /// With more delegates than this number, the routes of deallocated delegates are removed.
    private var delegateLimit = 64
    /// The records of the servers at the ends of the routes. They do not depend on the delegate that decides about
    /// connections.
    private var servers: [Route: ServerRecord] = [:]
    @exclusivity(unchecked) private var fields = FieldMemory()
    /// The result of the session's rules; nil before they were evaluated.
    @exclusivity(unchecked) private var ruledWay: ProxyRules.Answer?

    init(_ target: RequestTarget, _ settings: SessionSettings) {
        origin = target.origin
        lastTarget = target
        socket = settings.unixSocket?(origin.host)
        isAllowed = origin.isSecure || socket != nil || settings.allowsCleartext(to: origin.host)
        authority = socket?.serverName ?? origin.authority
        var fields = HTTPFields()
        fields.append(.host, authority)
        // Some servers answer it with a `Keep-Alive` field, which says how long they keep an idle connection.
        fields.append(.connection, "keep-alive")
        http1Fields = fields
    }

    /// The value of `Host` and of `:authority`.
    let authority: String
    /// The fields that requests have over HTTP/1.1 alone: `Host` and `Connection`.
    let http1Fields: HTTPFields

    /// Parses a URL, which most likely has the same beginning as the last one.
    func target(of url: URL) throws(LoadFailure) -> RequestTarget {
        let target = try RequestTarget(url, like: lastTarget)
        if !target.beginsLike(lastTarget), target.origin == origin { lastTarget = target }
        return target
    }

    // MARK: Routes

    /// The way according to rules that never change. A socket is reached without a proxy.
    func way(by proxies: ProxyFinder) throws(LoadFailure) -> ProxyRules.Answer {
        if let ruledWay { return ruledWay }
        let way = socket == nil ? try proxies.answer(for: origin.proxyTarget) : .proxy(nil)
        ruledWay = way
        return way
    }

    /// The route of requests over the given networks.
    ///
    /// - Parameter delegate: the task's own delegate, if it may decide in the TLS handshake.
    func route(
        over use: NetworkUse, switching: Route.Switching, decidedBy delegate: AnyObject?, through proxy: Proxy?
    ) -> RouteRecord {
        let known = self.routes(of: delegate.map { ObjectIdentifier($0) })
        if let known = known.first(where: { $0.route.isFor(use, switching, delegate, proxy) }) { return known }
        let route = Route(
            origin: origin, socket: socket, proxy: proxy, use: use, switching: switching,
            decider: delegate.map(Route.Decider.init))
        return add(route)
    }

    /// The same route for tasks whose own delegates do not decide about connections.
    func undecided(_ record: RouteRecord) -> RouteRecord {
        guard record.route.mayBeDecided else { return record }
        let undecided = record.route.undecided
        return undecidedRoutes.first { $0.route == undecided } ?? add(undecided)
    }

    /// The route for requests that do not switch to another protocol, if there is one.
    func shared(_ record: RouteRecord) -> RouteRecord? {
        let shared = record.route.shared
        return routes(of: shared.deciderIdentity).first { $0.route == shared }
    }

    var routes: [RouteRecord] { undecidedRoutes + decidedRoutes.values.joined() }

    private func routes(of delegate: ObjectIdentifier?) -> [RouteRecord] {
        delegate.map { decidedRoutes[$0] ?? [] } ?? undecidedRoutes
    }

    private func add(_ route: Route) -> RouteRecord {
        forgetFormerWays()
        let undecided = route.undecided
        let server = servers[undecided] ?? ServerRecord()
        servers[undecided] = server
        let record = RouteRecord(route, server)
        keep(record)
        return record
    }

    /// Removes unused routes and servers, because a resolver may return other proxies each time.
    private func forgetFormerWays() {
        if undecidedRoutes.count >= Self.mostUnusedWays { undecidedRoutes.removeAll { $0.driver == nil } }
        guard servers.count >= 2 * Self.mostUnusedWays else { return }
        let used = Set(routes.map(\.route.undecided))
        servers = servers.filter { used.contains($0.key) }
    }

    private static let mostUnusedWays = 16

    /// A route is in use from now on.
    func keep(_ record: RouteRecord) {
        guard !routes(of: record.route.deciderIdentity).contains(where: { $0 === record }) else { return }
        guard let delegate = record.route.deciderIdentity else { return undecidedRoutes.append(record) }
        // Other routes with this identity belong to objects that were at the delegate's address in memory before.
        let others = decidedRoutes[delegate]?.filter(\.isOfUse) ?? []
        decidedRoutes[delegate] = others + [record]
        forgetGoneDelegates()
    }

    /// Removes the routes of deallocated delegates. If a request ends before it is submitted, the end of its route is
    /// not reported.
    private func forgetGoneDelegates() {
        guard decidedRoutes.count > delegateLimit else { return }
        decidedRoutes = decidedRoutes.filter { $1.contains(where: \.isOfUse) }
        delegateLimit = max(64, 2 * decidedRoutes.count)
    }

    /// A route has no connections any more. The route of a delegate may never be used again.
    func routeDidEnd(_ record: RouteRecord) {
        guard let delegate = record.route.deciderIdentity else { return }
        decidedRoutes[delegate]?.removeAll { $0 === record }
        if decidedRoutes[delegate]?.isEmpty == true { decidedRoutes[delegate] = nil }
    }

    func forgetServers() { for server in servers.values { server.forget() } }

    var isInUse: Bool {
        undecidedRoutes.contains { $0.driver != nil } || decidedRoutes.values.joined().contains { $0.driver != nil }
    }

    // MARK: Fields

    func fields(of request: URLRequest, for task: URLSessionTask, by maker: RequestFields) -> HTTPFields {
        fields.fields(of: request, for: task, by: maker)
    }
}

/// Keeps the fields of the last request. Most requests to an origin have the same fields, and share their memory.
private struct FieldMemory {
    /// The fields of a request without fields and body of its own: if the task was made for the origin, and if it was
    /// redirected to the origin.
    private var plain: HTTPFields?
    private var plainElsewhere: HTTPFields?

    mutating func fields(
        of request: URLRequest, for task: URLSessionTask, by maker: RequestFields
    ) -> HTTPFields {
        let isElsewhere = maker.addsCredentials && request.url.map { task.isFirst($0) } != true
        guard request.isPlain else { return maker.make(request, isElsewhere: isElsewhere) }
        if let known = isElsewhere ? plainElsewhere : plain { return known }
        let made = maker.make(request, isElsewhere: isElsewhere)
        if isElsewhere { plainElsewhere = made } else { plain = made }
        return made
    }
}

/// A route to an origin, and its connections.
final class RouteRecord {
    let route: Route
    let server: ServerRecord
    /// Nil while there is no work for the route and no connection is kept.
    @exclusivity(unchecked) var driver: ConnectionPoolDriver?

    fileprivate init(_ route: Route, _ server: ServerRecord) {
        self.route = route
        self.server = server
    }

    /// Whether the route has connections or may get some. After a delegate is deallocated, none of its requests follow.
    fileprivate var isOfUse: Bool { driver != nil || route.decidingDelegate != nil }
}

/// The known behaviour of the server at the end of a route.
final class ServerRecord {
    /// Whether WebSockets cannot be opened over HTTP/1.1.
    var speaksHTTP2Alone = false
    /// Whether a connection ended without an announcement while requests were sent ahead of their responses. No
    /// requests are pipelined from then on.
    var breaksPipelines = false
    /// The time after which the server last closed an idle connection, in seconds.
    var idleTime: Double?

    func forget() {
        speaksHTTP2Alone = false
        breaksPipelines = false
        idleTime = nil
    }
}

/// The records of a session's origins. The last one used is found at once: most requests of a session go to the same
/// origin.
struct OriginRecords {
    /// The number of records above which those without connections are removed. With this many origins, most are used
    /// once.
    private var limit = 1000
    private var records: [Origin: OriginRecord] = [:]
    private var last: OriginRecord?
    /// Records in use whose origins have a newer record.
    private var former: [OriginRecord] = []

    var all: [OriginRecord] { records.values + former }
    var drivers: [ConnectionPoolDriver] { all.flatMap { $0.routes.compactMap(\.driver) } }

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

    /// A record is in use from now on. It may have been removed while its request was being made, and replaced by
    /// another one for the same origin.
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
