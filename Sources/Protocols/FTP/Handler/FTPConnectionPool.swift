/// The control connections to one server, and the loads that wait for one: decides which load gets which connection,
/// when one is made, and when it is closed.
///
/// A value without sockets or timers. Each input is a method, which leaves the pool consistent and returns what is to be done;
/// ``FTPSession`` does it. Identifiers that the pool does not know are those of what has ended, and change nothing.
struct FTPConnectionPool: Sendable, CustomStringConvertible {
    /// The number of a load: the older, the smaller.
    typealias LoadID = UInt64
    /// The number of the load that the connection was made for, which has no other one made before this one is closed.
    typealias ConnectionID = UInt64

    /// What a load wants.
    struct Request: Sendable, Hashable {
        let load: LoadID
        let key: FTPConnectionKey
        /// Whether no connection that was used before will do.
        var needsFresh = false
    }

    /// What is to be done after an input, in this order.
    enum Action: Sendable, Equatable {
        /// Make a connection for the load.
        case open(Request)
        /// Give the load one that was idle. If it is of no use any more, it is closed, and the request submitted again.
        case reuse(ConnectionID, Request)
        case close(ConnectionID)
        /// The load waits, or does so no more.
        case reportQueued(LoadID, Bool)
    }

    /// How many connections there may be.
    let limit: Int
    /// Open ones, and those that are being made.
    private var connections: [ConnectionID: FTPConnectionKey] = [:]
    /// Those that nothing uses: the one that has been idle for longest comes first.
    private var idle: ArraySlice<ConnectionID> = []
    /// In the order in which they came.
    private var waiting: ArraySlice<Request> = []

    init(limit: Int) { self.limit = max(1, limit) }

    var isUnused: Bool { connections.isEmpty && waiting.isEmpty }

    /// Its state in one line, for logs and tests.
    var description: String { "connections \(connections.count), idle \(idle.count), waiting \(waiting.count)" }

    // MARK: Loads

    mutating func submit(_ request: Request) -> [Action] {
        if let actions = assign(request) { return actions }
        waiting.append(request)
        return [.reportQueued(request.load, true)]
    }

    /// Gives the load a connection, where one is idle, or can be made: for that an idle one of another user may go.
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

    /// The load is over.
    mutating func withdraw(_ load: LoadID) { waiting.removeAll { $0.load == load } }

    /// The loads that have waited for longest have their turn.
    mutating func serve() -> [Action] {
        var actions: [Action] = []
        while let request = waiting.first, let assignment = assign(request) {
            waiting.removeFirst()
            actions += [.reportQueued(request.load, false)] + assignment
        }
        return actions
    }

    // MARK: Connections

    /// The connection is ready for another transfer, and no load's any more.
    mutating func connectionDidBecomeIdle(_ id: ConnectionID) -> [Action] {
        guard connections[id] != nil, !idle.contains(id) else { return [] }
        idle.append(id)
        return serve()
    }

    /// ``serve()`` is to follow, after what the event loop does now.
    mutating func connectionDidClose(_ id: ConnectionID) {
        connections[id] = nil
        idle.removeAll { $0 == id }
    }

    /// Closes the connections that nothing uses. Where there are any, no load waits.
    mutating func closeIdle() -> [Action] {
        defer { idle = [] }
        for id in idle { connections[id] = nil }
        return idle.map { .close($0) }
    }
}
