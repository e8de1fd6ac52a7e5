import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport

/// What a session knows of an origin: how it is reached, and with which fields requests go there.
final class OriginRecord {
    let origin: Origin
    /// The last URL's, whose parts the next one shares where it begins alike.
    fileprivate(set) var lastTarget: RequestTarget
    /// Whether transport security lets requests go there.
    let isAllowed: Bool
    /// Where its connections are made to in place of its addresses.
    let socket: UnixSocket?
    private var undecidedRoutes: [RouteRecord] = []
    /// The routes of tasks' own delegates that may decide how connections are made. There may be one for each task.
    private var decidedRoutes: [ObjectIdentifier: [RouteRecord]] = [:]
    /// With more delegates than this the routes of those that are gone are forgotten.
    private var delegateLimit = 64
    /// What the servers at the ends of the routes have shown, whatever delegate decides about the connections.
    private var servers: [Route: ServerRecord] = [:]
    private var fields = FieldMemory()
    /// What the session's rules say; nil before they were asked.
    private var ruledWay: ProxyRules.Answer?

    init(_ target: RequestTarget, _ settings: SessionSettings) {
        origin = target.origin
        lastTarget = target
        socket = settings.unixSocket?(origin.host)
        isAllowed = origin.isSecure || socket != nil || settings.allowsCleartext(to: origin.host)
        var fields = HTTPFields()
        fields.append(.host, socket?.serverName ?? origin.authority)
        // Some servers answer it with a `Keep-Alive` field, which says how long they keep an idle connection.
        fields.append(.connection, "keep-alive")
        http1Fields = fields
    }

    /// The `Host` field's value.
    var authority: String { socket?.serverName ?? origin.authority }
    /// What requests have in HTTP/1.1 besides: their host, and what they want of the connection.
    let http1Fields: HTTPFields

    /// Takes apart a URL, which most likely begins as the last one did.
    func target(of url: URL) throws(LoadFailure) -> RequestTarget {
        let target = try RequestTarget(url, like: lastTarget)
        if !target.beginsLike(lastTarget), target.origin == origin { lastTarget = target }
        return target
    }

    // MARK: Routes

    /// The way by rules that never change. A socket is reached without a proxy.
    func way(by proxies: ProxyFinder) throws(LoadFailure) -> ProxyRules.Answer {
        if let ruledWay { return ruledWay }
        let way = socket == nil ? try proxies.answer(for: origin.proxyTarget) : .proxy(nil)
        ruledWay = way
        return way
    }

    /// The route of requests over some networks.
    ///
    /// - Parameter delegate: the task's own, where it may decide in the TLS handshake.
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

    /// The same route for tasks whose own delegates do not decide how connections are made.
    func undecided(_ record: RouteRecord) -> RouteRecord {
        guard record.route.mayBeDecided else { return record }
        let undecided = record.route.undecided
        return undecidedRoutes.first { $0.route == undecided } ?? add(undecided)
    }

    /// The route for requests that switch to nothing, if there is one.
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

    /// A resolver may name other proxies each time.
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
        // Others with this identity are of objects that had the delegate's place in memory before.
        let others = decidedRoutes[delegate]?.filter(\.isOfUse) ?? []
        decidedRoutes[delegate] = others + [record]
        forgetGoneDelegates()
    }

    /// A request may end before it is submitted, and then its route has no end.
    private func forgetGoneDelegates() {
        guard decidedRoutes.count > delegateLimit else { return }
        decidedRoutes = decidedRoutes.filter { $1.contains(where: \.isOfUse) }
        delegateLimit = max(64, 2 * decidedRoutes.count)
    }

    /// A route has no connections any more. That of a delegate may never be taken again.
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

/// Most requests to an origin have the same fields as the one before, and then the same memory.
private struct FieldMemory {
    /// What a request that brings neither fields nor a body is sent with: where the task was made for the origin, and where
    /// it was led to it.
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
    /// Nil while there is nothing to do for the route, and no connection is kept.
    var driver: ConnectionPoolDriver?

    fileprivate init(_ route: Route, _ server: ServerRecord) {
        self.route = route
        self.server = server
    }

    /// Whether it has connections, or may get some: no request of a delegate follows when the delegate is gone.
    fileprivate var isOfUse: Bool { driver != nil || route.decidingDelegate != nil }
}

/// What the server at the end of a route has shown of itself.
final class ServerRecord {
    /// Whether WebSockets cannot be opened over HTTP/1.1.
    var speaksHTTP2Alone = false
    /// A connection ended unannounced with requests ahead of their answers: nothing is pipelined any more.
    var breaksPipelines = false
    /// After how many seconds the server has last closed an idle connection.
    var idleTime: Double?

    func forget() {
        speaksHTTP2Alone = false
        breaksPipelines = false
        idleTime = nil
    }
}

/// The records of a session's origins. The last used is found at once: most requests of a session go to the same.
struct OriginRecords {
    /// Beyond so many, those without connections are forgotten: of more origins than that most are met once.
    private var limit = 1000
    private var records: [Origin: OriginRecord] = [:]
    private var last: OriginRecord?
    /// Records in use, of origins that have a newer one.
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

    /// A record that is in use from now on. It may have been forgotten while its request was made, and another one found for
    /// the same origin since.
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
