import Foundation
import LoadingKit
import LoadingKitTransport

@testable import LoadingKitFTPHandler

/// A pool, with the loads and connections that exist as a consequence of its actions. Each action is checked: it must
/// be possible in the present state. After each input the invariants are checked.
struct FTPPoolModel {
    typealias Pool = FTPConnectionPool

    struct Flaw: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ of: Any) { description = "\(of): \(what)" }
    }

    struct Connection {
        let key: FTPConnectionKey
        /// Nil while it is idle.
        var load: Pool.LoadID?
    }

    private(set) var pool: Pool
    private(set) var connections: [Pool.ConnectionID: Connection] = [:]
    /// In the order in which they were submitted.
    private(set) var waiting: [Pool.Request] = []
    /// Whether ``FTPConnectionPool/serve()`` is to be called.
    private(set) var willServe = false
    /// The actions that were returned last.
    private(set) var log: [String] = []
    /// The request that was given a connection that was idle, by the last input: the connection may be found to be of
    /// no use.
    private(set) var reused: (connection: Pool.ConnectionID, request: Pool.Request)?
    private var loadCount: Pool.LoadID = 0

    init(limit: Int) { pool = Pool(limit: limit) }

    static func key(_ user: String) throws -> FTPConnectionKey {
        guard let url = URL(string: "ftp://a.test/file") else { throw Flaw("is no URL", user) }
        return FTPConnectionKey(
            server: try FTPRequest(URLRequest(url: url)).server, user: user, password: nil, proxy: nil,
            use: NetworkUse(), decider: nil)
    }

    var actives: [Pool.ConnectionID] { connections.filter { $0.value.load != nil }.map(\.key).sorted() }
    var idles: [Pool.ConnectionID] { connections.filter { $0.value.load == nil }.map(\.key).sorted() }

    mutating func forgetLog() { log = [] }

    // MARK: Inputs

    mutating func submit(_ key: FTPConnectionKey, needsFresh: Bool = false, priority: Float = 0.5) throws {
        loadCount += 1
        try submit(
            Pool.Request(
                load: loadCount, key: key, needsFresh: needsFresh, goesFirst: needsFresh, priority: priority))
    }

    private mutating func submit(_ request: Pool.Request) throws {
        waiting.append(request)
        try run { $0.submit(request) }
        guard waiting.contains(request) == log.contains("\(request.load) waits") else {
            throw Flaw("was not reported", request.load)
        }
    }

    mutating func withdraw(_ request: Pool.Request) throws {
        waiting.removeAll { $0 == request }
        try run {
            $0.withdraw(request.load)
            return []
        }
    }

    mutating func changePriority(of request: Pool.Request, to priority: Float) throws {
        for index in waiting.indices where waiting[index] == request { waiting[index].priority = priority }
        try run {
            $0.changePriority(of: request.load, to: priority)
            return []
        }
    }

    mutating func serve() throws {
        willServe = false
        try run { $0.serve() }
    }

    mutating func becomeIdle(_ id: Pool.ConnectionID) throws {
        connections[id]?.load = nil
        try run { $0.connectionDidBecomeIdle(id) }
    }

    mutating func close(_ id: Pool.ConnectionID) throws {
        connections[id] = nil
        willServe = true
        try run {
            $0.connectionDidClose(id)
            return []
        }
    }

    /// The connection that the last input gave a load was of no use any more.
    mutating func findReusedUnusable() throws {
        guard let (id, request) = reused else { return }
        try close(id)
        var again = request
        again.goesFirst = true
        try submit(again)
    }

    mutating func closeIdle() throws { for id in idles { try close(id) } }

    // MARK: Actions

    private mutating func run(_ input: (inout Pool) -> [Pool.Action]) throws {
        (log, reused) = ([], nil)
        for action in input(&pool) { try perform(action) }
        try check()
    }

    private mutating func perform(_ action: Pool.Action) throws {
        switch action {
        case .open(let request):
            try take(request)
            let connection = Connection(key: request.key, load: request.load)
            guard connections.updateValue(connection, forKey: request.load) == nil else {
                throw Flaw("opened twice", request.load)
            }
            log.append("open \(request.load)")
        case .reuse(let id, let request):
            try take(request)
            guard let connection = connections[id], connection.load == nil else { throw Flaw("is not idle", id) }
            guard connection.key == request.key else { throw Flaw("is for others", id) }
            if request.needsFresh { throw Flaw("was used before", id) }
            connections[id]?.load = request.load
            reused = (id, request)
            log.append("reuse \(id) for \(request.load)")
        case .close(let id):
            guard let connection = connections.removeValue(forKey: id) else { throw Flaw("closed twice", id) }
            if connection.load != nil { throw Flaw("closed in use", id) }
            log.append("close \(id)")
        case .reportQueued(let load, let isQueued):
            guard waiting.contains(where: { $0.load == load }) else { throw Flaw("is not waiting", load) }
            log.append("\(load) \(isQueued ? "waits" : "waits no more")")
        }
    }

    /// From the last to the first: whether the load had a connection before, its priority, and its age.
    private static func rank(_ request: Pool.Request) -> (Int, Float, Pool.LoadID) {
        (request.goesFirst ? 1 : 0, request.goesFirst ? 0 : request.priority, .max - request.load)
    }

    /// The first one goes first, but for one that came just now and had a connection before.
    private mutating func take(_ request: Pool.Request) throws {
        guard let index = waiting.firstIndex(of: request) else { throw Flaw("waits not", request.load) }
        let isNew = index == waiting.count - 1 && !log.contains("\(request.load) waits no more")
        let first = waiting.max { Self.rank($0) < Self.rank($1) }
        guard request == first || isNew && request.goesFirst else { throw Flaw("is before its turn", request.load) }
        waiting.remove(at: index)
    }

    // MARK: Invariants

    private func check() throws {
        guard connections.count <= pool.limit else { throw Flaw("beyond the limit", pool) }
        guard pool.description.contains("idle \(idles.count),") else { throw Flaw("counts other idle ones", pool) }
        guard pool.isUnused == (connections.isEmpty && waiting.isEmpty) else { throw Flaw("holds what is over", pool) }
        guard waiting.isEmpty || willServe || actives.count == pool.limit else {
            throw Flaw("waits for nothing", pool)
        }
    }
}
