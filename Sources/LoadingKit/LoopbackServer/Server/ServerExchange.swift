/// What a route or a body's closure can wait for, on its connection's thread. Each wait ends early, by an error that
/// ends the connection, when the server stops.
package struct ServerExchange: Sendable {
    /// The server was stopped while a route waited.
    package struct Interrupted: Error, Sendable {}

    private let socket: StreamSocket
    private let stopping: Signal

    init(socket: StreamSocket, stopping: Signal) {
        self.socket = socket
        self.stopping = stopping
    }

    /// Blocks until the test fires the signal.
    package func wait(for signal: Signal) throws {
        guard signal.waitBlocking(interruptedBy: stopping) else { throw Interrupted() }
    }

    /// Blocks until the client has ended the connection.
    package func waitUntilClientCloses() throws {
        try socket.waitUntilPeerCloses()
        if stopping.hasFired { throw Interrupted() }
    }

    /// Ends the connection with a reset, and the route with it.
    package func reset() throws -> Never {
        socket.reset()
        throw Interrupted()
    }

    /// Ends the connection, in TLS without close_notify, and the route with it.
    package func closeAbruptly() throws -> Never {
        socket.closeWithoutNotify()
        throw Interrupted()
    }
}
