import LoadingKitTransport

/// The stream tasks of a session that have a connection, or are making one. Confined to the session's loop.
final class OpenStreams: SessionResource {
    private var engines: [Int: StreamEngine] = [:]

    static func of(_ core: SessionCore) -> OpenStreams { core.resource { _ in OpenStreams() } }

    func add(_ engine: StreamEngine) { engines[engine.task.identifier] = engine }
    func remove(_ engine: StreamEngine) { engines[engine.task.identifier] = nil }

    func addState(to snapshot: inout SessionSnapshot) {
        snapshot.connections += engines.values.compactMap(\.connectionState)
    }

    func reset() {}
    func close() { engines = [:] }
}

extension StreamEngine {
    /// Nil without a connection of the task's own, as for the body of a response.
    fileprivate var connectionState: ConnectionState? {
        switch state {
        case .connecting(let attempt), .securing(let attempt):
            return ConnectionState(opening: attempt.number)
        case .open(let channel):
            guard let info = channel.info else { return nil }
            var connection = ConnectionState(info, .stream, .active)
            connection.requestCount = 1
            return connection
        case .new, .over: return nil
        }
    }
}
