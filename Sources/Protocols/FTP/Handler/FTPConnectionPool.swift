/// The control connections to one server, and the loads that wait for a connection. The pool decides which load gets
/// which connection, when a connection is made, and when it is closed.
///
/// The pool is a value without sockets or timers. Each input is a method that leaves the pool consistent and returns
/// the actions to perform; ``FTPSession`` performs them. Unknown identifiers belong to loads or connections that have
/// ended, and change nothing.
struct FTPConnectionPool: Sendable, CustomStringConvertible {
    /// The number of a load. Older loads have smaller numbers.
    typealias LoadID = UInt64
    /// The number of the load for which the connection was made. A load has at most one connection made at a time.
    typealias ConnectionID = UInt64

    /// A load's request for a connection.
    struct Request: Sendable, Hashable {
        let load: LoadID
        let key: FTPConnectionKey
        /// Whether a new connection is required, rather than one that was used before.
        var needsFresh = false
        /// Whether the load was on a connection before, and gets a place before the loads that wait.
        var goesFirst = false
        /// The priority of the load's task.
        var priority: Float = 0.5

        /// Whether the request gets a connection before another one, as requests do that wait for HTTP connections: those
        /// that were on a connection before come first, then those with a higher priority, and then the older ones.
        fileprivate func precedes(_ other: Request) -> Bool {
            if goesFirst != other.goesFirst { return goesFirst }
            if !goesFirst, priority != other.priority { return priority > other.priority }
            return load < other.load
        }
    }

    /// An action to perform after an input, in the returned order.
    enum Action: Sendable, Equatable {
        /// Make a connection for the load.
        case open(Request)
        /// Assign an idle connection to the load. If it can no longer be used, close it and submit the request again.
        case reuse(ConnectionID, Request)
        case close(ConnectionID)
        /// Report to the load whether it waits.
        case reportQueued(LoadID, Bool)
    }

    /// The maximum number of connections.
    let limit: Int
    /// The connections that are open or being made.
    private var connections: [ConnectionID: FTPConnectionKey] = [:]
    /// The idle connections: the connection that has been idle for longest comes first.
    private var idle: ArraySlice<ConnectionID> = []
    /// The waiting requests, in the order in which they get connections.
    private var waiting: ArraySlice<Request> = []

    init(limit: Int) { self.limit = max(1, limit) }

    var waitingCount: Int { waiting.count }
    var isUnused: Bool { connections.isEmpty && waiting.isEmpty }

    /// The pool's state in one line, for logs and tests.
    var description: String { "connections \(connections.count), idle \(idle.count), waiting \(waiting.count)" }

    // MARK: Loads

    mutating func submit(_ request: Request) -> [Action] {
        if waiting.isEmpty || request.goesFirst, let actions = assign(request) { return actions }
        insert(request)
        return [.reportQueued(request.load, true)]
    }

    private mutating func insert(_ request: Request) {
        let previous = waiting.lastIndex { !request.precedes($0) }
        waiting.insert(request, at: previous.map { $0 + 1 } ?? waiting.startIndex)
    }

    mutating func changePriority(of load: LoadID, to priority: Float) {
        guard let index = waiting.firstIndex(where: { $0.load == load }) else { return }
        var request = waiting.remove(at: index)
        request.priority = priority
        insert(request)
    }

    /// Assigns a connection to the load, if one is idle or can be made. At the limit, the connection that has been idle
    /// for longest is closed to make room for the new connection.
    private mutating func assign(_ request: Request) -> [Action]? {
        if !request.needsFresh, let index = idle.lastIndex(where: { connections[$0] == request.key }) {
            return [.reuse(idle.remove(at: index), request)]
        }
        var actions: [Action] = []
        if connections.count >= limit {
            guard let unused = idle.popFirst() else { return nil }
            connections[unused] = nil
            actions = [.close(unused)]
        }
        connections[request.load] = request.key
        return actions + [.open(request)]
    }

    /// Removes a load that has ended.
    mutating func withdraw(_ load: LoadID) { waiting.removeAll { $0.load == load } }

    /// Serves the waiting loads, in their order.
    mutating func serve() -> [Action] {
        var actions: [Action] = []
        while let request = waiting.first, let assignment = assign(request) {
            waiting.removeFirst()
            actions += [.reportQueued(request.load, false)] + assignment
        }
        return actions
    }

    // MARK: Connections

    /// Records that a connection has no load, and is ready for another transfer.
    mutating func connectionDidBecomeIdle(_ id: ConnectionID) -> [Action] {
        guard connections[id] != nil, !idle.contains(id) else { return [] }
        idle.append(id)
        return serve()
    }

    /// Records that a connection is closed. The caller must call ``serve()`` after the event loop's current work.
    mutating func connectionDidClose(_ id: ConnectionID) {
        connections[id] = nil
        idle.removeAll { $0 == id }
    }
}
